"""A tool called within this process, as the shell calls it: what is not about a process needs none of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import clouds
from tools import TOOLS, calling
from tools.context import Session
from tools.progress import CallProgress
from tools.settings import Settings


def called(session: Session, tool: str, arguments: Mapping[str, Any], *, worker: bool = True) -> calling.Outcome:
    """What the tool answers, or what it asks first; fails with its words where it failed.

    Without a `worker`, what a worker does for a long call is done here.
    """
    prepared = calling.prepare(next(each for each in TOOLS if each.name == tool), dict(arguments), session)
    if isinstance(prepared, calling.Question):
        return prepared.outcome
    if isinstance(prepared, calling.Outcome):
        outcome = prepared
    elif prepared.tool.long and not worker:
        outcome = calling.Outcome(**calling.work(tool, prepared.values, CallProgress(), session))
    else:
        outcome = calling.carry_out(prepared, session, CallProgress())
    assert not outcome.failed, outcome.text
    return outcome


@contextmanager
def session_of(home: Path, *names: str) -> Iterator[Session]:
    """A session with these clouds; its ledger is closed with it."""
    session = Session(Settings.load({}, home), home, names, clouds.connect)
    yield session
    session.book.close()
