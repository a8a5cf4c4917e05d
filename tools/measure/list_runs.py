"""list_runs: what was measured, what is complete, and what is missing."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from clouds.models import Record
from tools import faults
from tools.fitting import bounded
from tools.ledger import Book
from tools.measure import store
from tools.measure.comparing.differences import AGAIN, BASE, shape_problems
from tools.measure.measured_rows import right_words
from tools.measure.record import Part, Run
from tools.measure.resuming import OPERATION
from tools.measure.stats import four
from tools.registry import Effect, Tool
from tools.result import Result, capped
from tools.settings import Settings

State = Literal["", "complete", "incomplete", "failed"]
LOOKED_AT = 100
"""Complete runs, the newest, among which two are looked for that can be compared."""
UNCHANGED = {"", BASE, BASE + AGAIN}
"""Variants that are none: the base of a comparison."""
LEVEL = re.compile(r"(?:load|knee)\.\d+\.tokens_per_second")


class RunRow(Record):
    """One run: its figures where it has them."""

    run: str
    state: str
    endpoint: str
    variant: str = ""
    profile: str
    started: str
    decode_tokens_per_second: float | None = None
    best_tokens_per_second: float | None = None
    best_at_once: int | None = None
    right: str = ""
    missing: str = ""


class RunList(Result):
    """All runs of a folder, with their counts."""

    count: int
    complete: int
    incomplete: int
    """Those that are still being measured included."""
    failed: int
    unreadable: tuple[str, ...] = ()
    by_endpoint: Mapping[str, int]
    filter: Mapping[str, str]
    showing: str = ""
    pending: tuple[str, ...] = ()
    """Endpoints of which the newest run that has the text asked for is not complete: an earlier one still stands."""
    rows: tuple[RunRow, ...] = ()


def list_runs(
    settings: Settings,
    book: Book,
    contains: Annotated[str, Field(max_length=100, description="only runs whose id, name or endpoint has this")] = "",
    state: State = "",
    folder: Annotated[str, Field(max_length=400, description="inside the project or data directory")] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
) -> RunList:
    """List measured runs, newest first: figures, state, and what is missing from those that are not complete."""
    place = store.folder_of(folder, book.home, settings.project)
    shelf = list(store.shelf(place))
    runs = [each.run for each in shelf if each.run is not None]
    runs = [
        run for run in runs if not contains or any(contains in text for text in (run.id, run.name, run.subject.ref))
    ]
    working = {each.id for each in book.operations.unfinished()}
    unreadable = tuple(each.problem[:160] for each in shelf if each.run is None)
    kept = [run for run in reversed(runs) if not state or run.state == state]
    states = Counter(run.state for run in kept)
    shown, showing = capped([_row(run, working) for run in kept], limit)
    pending = _pending(runs, working)
    running = sum(_state(run, working) != run.state for run in kept)
    chosen = {name: value for name, value in (("contains", contains), ("state", state), ("folder", folder)) if value}
    nothing = {"no_such_run": ", ".join(chosen.values())} if chosen and not kept else {}
    told = {
        "complete": states["complete"],
        "failed": states["failed"],
        "running": running,
        "incomplete": states["incomplete"] - running,
    }
    words = [f"{told[each]} {each}" for each in ("complete", "running", "incomplete", "failed") if told[each]]
    return RunList(
        headline=f"{len(kept)} run{'' if len(kept) == 1 else 's'}"
        + (f" ({', '.join(f'{name} {value}' for name, value in chosen.items())})" if chosen else "")
        + (f": {', '.join(words)}" if words else "")
        + (f"; {len(unreadable)} file{'' if len(unreadable) == 1 else 's'} could not be read" if unreadable else "")
        + ".",
        count=len(kept),
        complete=states["complete"],
        incomplete=states["incomplete"],
        failed=states["failed"],
        unreadable=unreadable[:5],
        by_endpoint=dict(Counter(run.subject.ref for run in kept).most_common(10)),
        filter={**chosen, **nothing},
        showing=showing,
        pending=pending[:10],
        rows=shown,
        notes=_reports(place, shelf),
        next=_next(kept),
    )


def _reports(place: Path, shelf: Sequence[store.Shelf]) -> tuple[str, ...]:
    """Where the reports of these runs are, and how those that are not there are made."""
    paths = [each.path for each in shelf if each.run is not None]
    there = sum(path.with_name(f"{path.stem}.html").is_file() for path in paths)
    if not paths:
        return ()
    if there == len(paths):
        return (f"The report of each is beside it, `{place}/RUN.html`.",)
    command = shlex.join([sys.executable, "-m", "tools.measure.report", str(place)])
    made = f"`cd {shlex.quote(str(faults.ROOT))} && {command}` makes them all"
    return (f"{there} of {len(paths)} have a report beside them; {made}.",)


def _next(kept: Sequence[Run]) -> str:
    """The newest complete run against the last one before it with a figure, or questions, that can be compared."""
    if not kept:
        return "`measure_model` makes a run."
    complete = [run for run in kept if run.state == "complete"][:LOOKED_AT]
    for place, run in enumerate(complete):
        for before in complete[place + 1 :]:
            if any(_shared(before, run, part) for part in run.parts):
                return f"`compare_runs(runs={json.dumps(_in_order(before, run, complete))})`."
    return ""


def _in_order(before: Run, run: Run, complete: Sequence[Run]) -> list[str]:
    """The base first: of one walk all its runs as they were measured, else the one that is no variant."""
    walk = [each for each in complete if each.settings.get(OPERATION) == run.settings.get(OPERATION)]
    if OPERATION in run.settings and before in walk:
        return [each.id for each in reversed(walk)]
    changed = before.subject.variant not in UNCHANGED and run.subject.variant in UNCHANGED
    return [run.id, before.id] if changed else [before.id, run.id]


def _shared(before: Run, run: Run, part: Part) -> bool:
    """Whether a part of these two is of one shape and both know one of its figures, or asked a question."""
    other = before.part(part.name)
    if other is None or shape_problems(before, run, part.name):
        return False
    known = {figure.key for figure in part.figures if figure.value is not None}
    asked = {item.id for item in part.items} & {item.id for item in other.items}
    return bool(asked) or any(figure.key in known and figure.value is not None for figure in other.figures)


def _pending(runs: Sequence[Run], working: AbstractSet[str]) -> tuple[str, ...]:
    newest = {(run.subject.ref, run.subject.variant): run for run in runs}
    unfinished = [run for run in newest.values() if run.state != "complete"]
    return tuple(f"{run.subject.ref}: {run.id} is {_state(run, working)}" for run in unfinished)


def _state(run: Run, working: AbstractSet[str]) -> str:
    """The state of a run; one that an operation is still measuring is not called incomplete."""
    operation = str(run.settings.get(OPERATION, ""))
    return (
        f"running, {operation}" if run.state == "incomplete" and not run.ended and operation in working else run.state
    )


def _row(run: Run, working: AbstractSet[str]) -> RunRow:
    state = _state(run, working)
    missing = bounded("; ".join(run.missing) or run.failure, 160) if run.state == state != "complete" else ""
    run = run.model_copy(update={"parts": tuple(part for part in run.parts if part.complete)})
    decode = run.figure("decode.tokens_per_second")
    rates = [
        each
        for part in run.parts
        for each in part.figures
        if part.name in {"load", "knee"} and LEVEL.fullmatch(each.key) and each.value
    ]
    best = max(rates, key=lambda each: each.value or 0.0, default=None)
    return RunRow(
        run=run.id,
        state=state,
        endpoint=run.subject.ref,
        variant=run.subject.variant,
        profile=run.profile,
        started=run.started,
        decode_tokens_per_second=_rounded(decode.value if decode else None),
        best_tokens_per_second=_rounded(best.value if best else None),
        best_at_once=int(best.key.split(".")[1]) if best else None,
        right="; ".join(right_words(run)),
        missing=missing,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else four(value)


LIST_RUNS = Tool(list_runs, title="List runs", effect=Effect.READ, open_world=False)
