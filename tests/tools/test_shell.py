"""The command line as a person types it: read whole, or refused with the word that is wrong."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

import clouds
import server
from tools import NAMES, TOOLS, binding, operations, shell, tool
from tools.home import home
from tools.ledger import Book
from tools.reference import reference

ROOT = Path(__file__).parents[2]
GATES = "--fail-on-usd and --fail-on-incomplete are gates of `call scan_waste`"


def test_a_command_line_is_read_whole() -> None:
    assert shell.arguments(["--clouds", "local,aws", "--read-only", "call", "scan_waste", "limit=3", "--json"]) == (
        shell.Options("call", ("scan_waste", "limit=3"), clouds=("local", "aws"), read_only=True, as_json=True)
    )
    assert shell.arguments(["call", "check_setup", "--deep"]).rest == ("check_setup", "deep=true")
    assert shell.arguments([]) == shell.Options()
    assert shell.arguments(["call", "scan_waste", "--fail-on-usd=0"]).fail_on_usd == 0.0


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--clouds"], "--clouds needs a value: Words separated by commas."),
        (["--replay", "/no/such"], "--replay does not take '/no/such': A folder of recorded answers."),
        (["--replay"], "--replay needs a value: A folder of recorded answers."),
        (["call", "x", "--fail-on-usd=lots"], "--fail-on-usd does not take 'lots': An amount in US dollars a month."),
        (["frob"], "'frob' is not known. Usage:"),
        (["call", "check_setup", "--jsn"], "'--jsn' is not known. Usage:"),
        (["call", "list_runs", "--deep"], "'--deep' is not known. Usage:"),
        (["call", "list_runs", "--limit"], "'--limit' is not known. Usage:"),
        (["call", "--deep", "check_setup"], "'--deep' is not known. Usage:"),
        (["--fail-on-usd", "100", "call", "list_runs"], f"{GATES}, not of `call list_runs`"),
        (["call", "get_operation", "--fail-on-incomplete"], f"{GATES}, not of `call get_operation`"),
        (["tools", "--fail-on-usd", "0"], f"{GATES}, not of `tools`"),
        (["--fail-on-incomplete"], f"{GATES}, not of `serve`"),
    ],
)
def test_a_wrong_word_is_named(words: list[str], error: str) -> None:
    assert shell.arguments(words).error.startswith(error)


def run(*words: str) -> int:
    """The command line within this process, after the start that looks for an environment; its exit status."""
    options = shell.arguments(list(words))
    assert not options.error
    try:
        session = shell.session_of(options, clouds.names(), clouds.connect)
    except SystemExit as ended:
        return int(str(ended.code))
    return shell.run(session, options)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["tools", "extra"], 2, "tools takes no 'extra'"),
        (["--clouds", "mars", "tools"], 2, "'mars' is not a cloud"),
        (["call"], 2, "call needs a tool: server.py tools lists them"),
        (["call", "check_setup", "sign_in"], 2, "'sign_in' is not key=value"),
        (["call", "deploy_endpoint", "cloud=local", "name=../../etc"], 1, "`name`: takes at most 50 of a-z, 0-9 and -"),
    ],
)
def test_what_a_person_mistypes_is_answered_with_the_status_that_says_so(
    words: list[str], status: int, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) == status
    assert said in "".join(capfd.readouterr())


def test_the_tools_are_listed_with_what_they_may_change(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("tools") == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [[tool.name, tool.effect.value] for tool in TOOLS]
    assert run("--read-only", "tools") == 0
    assert {line.split()[1] for line in capfd.readouterr().out.splitlines()} == {"read"}


@pytest.mark.more
def test_a_command_is_a_process_that_ends_with_its_status_and_no_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "server.py"), "tools", "extra"],
        capture_output=True, text=True, timeout=30, check=False, cwd=tmp_path,
        env={"MODELRIG_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "tools takes no 'extra'\n")


def test_with_replay_the_recorded_answers_are_what_a_command_finds(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MODELRIG_REPLAY", "")  # a command sets it for its workers
    monkeypatch.chdir(ROOT)
    assert run("--clouds", "gcp", "--replay", "fixtures", "call", "list_endpoints") == 0
    assert os.environ["MODELRIG_REPLAY"] == str(ROOT / "fixtures")
    assert capfd.readouterr().out.startswith("**1 endpoint, 1 billing by the hour at $1.35 an hour.**")


def shown(*words: str) -> shell.Options:
    options = shell.arguments(list(words))
    assert not options.error
    return options


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"], ["tools", "--help"], ["call", "-h"]])
def test_help_is_the_usage_with_gates_and_exit_status(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(*words) == shell.Options("help")
    monkeypatch.setattr("__main__.__doc__", server.__doc__)
    for word in ("--fail-on-usd", "--fail-on-incomplete", "--version", "3 a long operation still runs", "6 not every"):
        assert word in shell.usage()


def test_a_tool_that_is_named_before_help_is_explained(capfd: pytest.CaptureFixture[str]) -> None:
    assert shell.helped(shown("call", "list_runs", "limit=3", "--help"), "1.2.3") == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "server.py call list_runs"
    assert lines[-1] == "  limit                integer from 1 to 100, default 10"
    assert shell.helped(shown("call", "frob", "--help"), "1.2.3") == 2
    assert "'frob' is not a tool" in capfd.readouterr().out


def test_a_tool_that_is_none_is_a_wrong_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert shell.run(None, shown("call", "frob")) == 2  # type: ignore[arg-type]
    assert "'frob' is not a tool" in capfd.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_every_tool_is_explained_with_each_of_its_arguments(name: str) -> None:
    words = reference(name)
    assert all(f"\n  {each} " in words for each in binding.arguments_model(tool(name)).model_fields)


def test_the_version_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert shell.helped(shown("--version"), "1.2.3") == 0
    assert capfd.readouterr().out == "modelrig 1.2.3\n"


def test_what_a_replay_writes_lies_apart_and_its_worker_finds_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def place(*words: str) -> Path:
        return shell.session_of(shown(*words), clouds.names(), clouds.connect).home

    monkeypatch.setenv("MODELRIG_HOME", str(tmp_path))
    monkeypatch.setenv("MODELRIG_REPLAY", "")
    assert place("tools") == tmp_path
    assert place("--replay", str(ROOT / "fixtures"), "tools") == tmp_path / "replay"
    monkeypatch.setenv("MODELRIG_HOME", str(tmp_path / "replay"))  # as whoever starts a worker sets it
    assert place("work", "op-1234") == tmp_path / "replay"


def _no_process(*_: object, **__: object) -> None:
    raise OSError(12, "no process can be started")


def test_long_work_that_only_reads_is_done_by_the_command_itself_as_an_operation(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "Popen", _no_process)
    before = signal.getsignal(signal.SIGTERM)
    assert run("--clouds", "local", "call", "check_quota", "cloud=local", "accelerator=L4", "--json") == 0
    (done,) = Book(home()).operations.recent()
    assert (done.tool, done.state, done.pid, done.attempt) == ("check_quota", "done", os.getpid(), 1)
    assert json.loads(capfd.readouterr().out) == done.result["structured"]
    assert signal.getsignal(signal.SIGTERM) == before


def test_long_work_that_changes_something_gets_a_process_that_outlives_the_command(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(subprocess, "Popen", _no_process)
    assert run("call", "repack_checkpoint", f"checkpoint={tmp_path}", f"folder={tmp_path / 'new'}") == 1
    assert "the worker of repack_checkpoint could not be started" in capfd.readouterr().out


def test_an_interrupted_command_that_only_reads_says_that_nothing_was_changed_and_its_operation_is_cancelled(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def connect(_name: str, _home: Path) -> NoReturn:
        raise KeyboardInterrupt

    options = shell.arguments(["--clouds", "local", "call", "check_quota", "accelerator=L4"])
    session = shell.session_of(options, ("local",), connect)
    assert shell.run(session, options) == 130
    assert "Interrupted. It only read: nothing was changed." in capfd.readouterr().err
    assert [each.state for each in session.book.operations.recent()] == ["cancelled"]


def test_an_interrupted_wait_names_the_operation_that_goes_on_and_the_command_that_follows_it(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def stopped(*_: Any, **__: Any) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(operations, "start", lambda book, tool, values, **_: book.operations.add(
        tool, values, flags=(), cwd=""))  # fmt: skip
    monkeypatch.setattr(operations, "wait", stopped)
    monkeypatch.setattr(sys, "argv", ["server.py"])
    assert run("call", "repack_checkpoint", f"checkpoint={tmp_path}", f"folder={tmp_path / 'new'}") == 130
    (going,) = Book(home()).operations.recent()
    assert capfd.readouterr().err.splitlines()[-1] == (
        f"Interrupted. {going.id} (repack_checkpoint) goes on. To follow it: python3 server.py call get_operation "
        f"operation={going.id}; to stop it: the same with cancel=true."
    )
    assert run("call", "get_operation", f"operation={going.id}") == 130
    assert f"Interrupted. {going.id} goes on." in capfd.readouterr().err


def test_an_interrupted_question_names_no_operation(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: Any) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(binding, "execute", stopped)
    assert run("call", "query_model", "endpoint=http://127.0.0.1:9", "prompt=x") == 130
    said = capfd.readouterr().err
    assert "operation" not in said
    assert "Interrupted. What it had sent by then may have been carried out" in said


def test_to_stop_what_runs_is_a_success_and_to_find_it_stopped_is_none(capfd: pytest.CaptureFixture[str]) -> None:
    with Book(home()) as book:
        going = book.operations.add("scan_waste", {}, flags=(), cwd="").id
    assert run("call", "get_operation", f"operation={going}", "cancel=true") == 0
    assert run("call", "get_operation", f"operation={going}") == 1
    assert "cancelled" in capfd.readouterr().out


class Full(io.StringIO):
    """A file on a disk without room."""

    def write(self, _: str) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_progress_that_cannot_be_written_stops_no_work(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", Full())
    assert run("--clouds", "local", "call", "check_quota", "cloud=local", "accelerator=L4") == 0
    assert "L4" in capfd.readouterr().out
    assert [each.state for each in Book(home()).operations.recent()] == ["done"]


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (errno.ENOSPC, 1, "The answer could not be written: No space left on device."),
        (errno.EPIPE, 0, ""),
    ],
)
def test_an_answer_that_cannot_be_written_is_a_failure_and_one_that_nobody_reads_to_the_end_is_none(
    error: int, status: int, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: Any
) -> None:
    with (tmp_path / "out").open("w") as out:

        class Broken(Full):
            def write(self, _: str) -> NoReturn:
                raise OSError(error, os.strerror(error))

            def fileno(self) -> int:
                return out.fileno()

        monkeypatch.setattr(sys, "stdout", Broken())
        assert run("call", "list_runs") == status
    assert capfd.readouterr().err.strip() == words
