"""What runs before the environment is entered must at least be read by an old Python, on a machine without one, too."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tools.environment.places import ROOT

PRELUDE = sorted((ROOT / "tools" / "environment").glob("*.py"))
PRELUDE += [ROOT / "server.py", *(ROOT / "tools" / f"{name}.py" for name in ("__init__", "fallback", "handover"))]
OLD = (3, 8)
NEWER = {"match x:\n case 1: pass": "Pattern matching", "try: pass\nexcept* ValueError: pass": "except"}


def fault(source: str) -> str:
    """Why a Python 3.8 would not even compile it."""
    try:
        ast.parse(source, feature_version=OLD)
    except SyntaxError as error:
        return str(error)
    return "" if "from __future__ import annotations" in source else "annotations would be evaluated"


@pytest.mark.parametrize("path", PRELUDE, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_old_python_can_read_the_prelude(path: Path) -> None:
    assert fault(path.read_text(encoding="utf-8")) == ""


@pytest.mark.parametrize(("source", "said"), NEWER.items())
def test_what_an_old_python_cannot_read_is_found_out(source: str, said: str) -> None:
    assert said.lower() in fault(source).lower()
    assert fault("x: int | None = None\n") == "annotations would be evaluated"


def test_the_prelude_imports_nothing_that_costs_a_start() -> None:
    """`typing` and `dataclasses` are 13 and 16 ms, in a Python that only finds the right one (measured 2026-11-29)."""
    code = "import sys; before = set(sys.modules); import tools.environment; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {"typing", "dataclasses", "json", "subprocess", "hashlib"} & set(done.stdout.split()) == set()
    assert "tools.environment.places" in done.stdout.split()
