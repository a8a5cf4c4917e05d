"""The sandbox from outside: what works, what is refused, and what ends in time."""

import pytest

from tools.measure.toolcalls.sandbox import LONGEST, Ran, run_python

IDS = {"ids": [3, 1, 2]}


def test_code_sees_the_ids_and_what_it_prints_comes_back() -> None:
    assert run_python("print(len([i for i in ids if i >= 2]))\nprint('done')", IDS) == Ran("2\ndone\n")


def test_the_library_of_the_language_is_there() -> None:
    code = "import statistics, collections, math, re, json, itertools\nprint(statistics.mean(ids))"
    assert run_python(code, IDS).printed == "2\n"


def test_code_may_end_itself_as_in_a_script() -> None:
    assert run_python("print(2)\nexit()", IDS) == run_python("print(2)\nquit(0)", IDS) == Ran("2\n")


def test_nothing_printed_is_nothing() -> None:
    assert run_python("len(ids)", IDS) == Ran("")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("def f(:", "SyntaxError"),
        ("def f(): f()\nf()", "RecursionError"),
        ("x = 'a' * 10**10", "MemoryError"),
        ("import json\njson.loads('{')", "json.decoder.JSONDecodeError: Expecting"),
        ("class Odd(Exception):\n    def __str__(self): return 1\nraise Odd", "Odd: <str() of it failed>"),
    ],
)
def test_an_error_is_a_line_of_text(code: str, error: str) -> None:
    assert run_python(code, IDS).error.startswith(error)


REACHING = (
    "import socket",
    "import urllib.request",
    "import ctypes",
    "import subprocess",
    "import signal",
    "import _signal",
    "import os; os.system('id')",
    "import os; os.fork()",
    "import os; os.listdir('/')",
    "open('/etc/passwd')",
    "open('here', 'w')",
    "import os; os.open('/etc/passwd', os.O_RDONLY)",
    "import _socket",
    "import os; os.remove('x')",
)
EACH = """
for code in {codes!r}:
    try:
        exec(code)
        print("through:", code)
    except PermissionError:
        print("refused:", code)
"""


def test_what_reaches_out_of_the_process_is_refused() -> None:
    found = run_python(EACH.format(codes=(*REACHING, "import math")), IDS)
    assert found.printed.splitlines() == [*(f"refused: {code}" for code in REACHING), "through: import math"]


def test_what_is_refused_ends_the_code_and_says_what_it_was() -> None:
    found = run_python("import socket\nprint('through')", IDS)
    assert found == Ran("", "PermissionError: import socket is not available here")


def test_nothing_of_this_process_is_in_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "s3cret")
    found = run_python("import os\nprint(dict(os.environ))", IDS)
    assert found.error == ""
    assert "s3cret" not in found.printed


def test_endless_code_is_ended() -> None:
    found = run_python("while True: pass", IDS, seconds=0.05)
    assert (found.printed, "0.05 s" in found.error) == ("", True)


def test_endless_output_is_cut_and_says_so() -> None:
    found = run_python("print('x' * 10**6)", IDS)
    assert len(found.printed) <= 20_000
    assert found.error == ""


def test_code_that_ends_the_process_itself_has_no_answer() -> None:
    assert run_python("import os\nos._exit(3)", IDS).error == "it ended without an answer"
    assert run_python("raise SystemExit(3)", IDS) == Ran("")


def test_an_answer_written_past_the_sandbox_is_not_taken_for_one() -> None:
    for text in ("2 0\\n99", "99", "", "2 1\\n99", "-1 3\\n99"):
        code = f"import os\nos.write(1, b'{text}')\nprint(1)"
        assert run_python(code, IDS) == (Ran("1\n") if not text else Ran("", "it ended without an answer")), text


def test_code_of_any_length_is_not_run() -> None:
    assert "characters" in run_python("#" * (LONGEST + 1), IDS).error
