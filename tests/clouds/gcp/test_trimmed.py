"""Of a large package only what is used is imported; the rest is there when somebody asks for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clouds.gcp import trimmed

START = """
from large.services.first import First
from large.services.second import Second
WORD = "started"
"""
FILES = {
    "__init__.py": START,
    "services/__init__.py": "",
    "services/first.py": "from large import version\nclass First: number = version.NUMBER\n",
    "services/second.py": "class Second: pass\n",
    "version.py": "NUMBER = 7\n",
}


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package whose start imports both of its services."""
    for name, text in FILES.items():
        path = tmp_path / "large" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield "large"
    for name in [name for name in sys.modules if name.partition(".")[0] == "large"]:
        del sys.modules[name]


def loaded() -> list[str]:
    return sorted(name for name in sys.modules if name.startswith("large."))


def test_one_service_comes_without_the_others(large: str) -> None:
    assert trimmed.module(large, "services.first").First.number == 7
    assert loaded() == ["large.services", "large.services.first", "large.version"]


def test_what_else_is_asked_of_the_package_is_there_and_the_same(large: str) -> None:
    first = trimmed.module(large, "services.first").First
    from large import WORD, First, Second  # type: ignore[import-not-found]

    assert (WORD, First, Second.__name__) == ("started", first, "Second")
    assert "large.services.second" in loaded()
    with pytest.raises(AttributeError):
        sys.modules[large].Third  # noqa: B018 - what is not there is not there


def test_a_package_that_was_started_already_is_taken_as_it_is(large: str) -> None:
    import large as whole  # type: ignore[import-not-found]

    assert trimmed.module(large, "services.first").First is whole.First
    assert sys.modules[large] is whole


def test_a_package_that_is_not_there_is_an_import_error(monkeypatch: pytest.MonkeyPatch, large: str) -> None:
    with pytest.raises(ImportError):
        trimmed.module("no_such_package", "services")
    trimmed.module(large, "services.first")
    monkeypatch.setitem(sys.modules, large, None)
    with pytest.raises(ImportError):
        trimmed.module(large, "services.first")
