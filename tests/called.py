"""A tool called within this process, as the shell calls it: what is not about a process needs none of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import clouds
from tools import TOOLS, calling
from tools.context import Session
from tools.progress import CallProgress
from tools.settings import Settings


def called(session: Session, tool: str, arguments: Mapping[str, Any], *, worker: bool = True) -> calling.Outcome:
    """What the tool answers, or what it asks first; fails with its words where it failed.

    Without a `worker` a long call is worked on here, as a shell does it.
    """
    prepared = calling.prepare(next(each for each in TOOLS if each.name == tool), dict(arguments), session)
    if isinstance(prepared, calling.Question):
        return prepared.outcome
    if isinstance(prepared, calling.Outcome):
        outcome = prepared
    else:
        outcome = calling.carry_out(prepared, session, CallProgress(), here=not worker)
    assert not outcome.failed, outcome.text
    return outcome


def without_workers(patch: pytest.MonkeyPatch, session: Session | None = None, *, but: str = "") -> None:
    """Long calls (of this session, or of all) are worked on in this process, but those of one tool: for tests of what
    is before and behind a worker."""
    whole = calling.carry_out

    def carry_out(ready: calling.Ready, asked: Session, *rest: Any, here: bool = False, **more: Any) -> calling.Outcome:
        mine = (session is None or session is asked) and ready.tool.name != but
        return whole(ready, asked, *rest, here=here or mine, **more)

    patch.setattr(calling, "carry_out", carry_out)


@contextmanager
def session_of(home: Path, *names: str) -> Iterator[Session]:
    """A session with these clouds; its ledger is closed with it."""
    session = Session(Settings.load({}, home), home, names, clouds.connect)
    yield session
    session.book.close()
