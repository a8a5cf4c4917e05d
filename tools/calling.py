"""One call of one tool, whoever asks: the MCP server, the shell, a worker. Nothing here knows MCP.

prepare()     arguments -> Ready to run | Question to be asked first | Outcome that already is the answer
carry_out()   Ready -> Outcome, in this process or, for long tools, in a worker that is waited for a while
              (a shell, which waits to the end anyway, works on what only reads itself: no second Python starts)
"""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clouds.base import Progress
from clouds.errors import Cancelled, InvalidInput
from tools import binding, confirm, faults, operations
from tools.context import Session
from tools.fitting import bounded
from tools.inert import defused, inert
from tools.leaving import Left
from tools.progress import Both, CallProgress
from tools.registry import FOLLOWS, Effect, Preview, Tool, refused
from tools.result import TEXT_LIMIT, Asked, Result, Running, visible

WAIT_SECONDS = 40.0
"""A call returns a reference to poll after this long; clients expect an answer within 45 s."""

log = logging.getLogger("modelrig")


@dataclass(frozen=True)
class Outcome:
    """The answer: complete as structured data and as text. `failed` marks an error result."""

    structured: Mapping[str, Any]
    text: str
    failed: bool = False
    uncut: str = ""
    """The text as a person at a terminal reads it, where it is longer than what a model is given."""

    @property
    def whole(self) -> str:
        """The text with nothing left out."""
        return self.uncut or self.text

    def as_json(self) -> dict[str, Any]:
        """As it is kept in the ledger."""
        kept = {"structured": self.structured, "text": self.text, "failed": self.failed}
        return kept | ({"uncut": self.uncut} if self.uncut else {})


@dataclass(frozen=True)
class Ready:
    """Validated, bound and, where that is needed, confirmed."""

    tool: Tool
    values: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Question:
    """What has to be answered first. `text` holds stored steps only, so that asking again asks the same."""

    ready: Ready
    preview: Preview
    asked: Asked

    @property
    def text(self) -> str:
        """What a person is asked: each step on one line of its own, whatever is in it."""
        steps = "\n".join(f"{number}. {inert(step)}" for number, step in enumerate(self.preview.steps, 1))
        return visible(f"{inert(self.preview.headline)}\n{steps}\nCarry this out?")

    @property
    def outcome(self) -> Outcome:
        """The answer for a client that cannot ask, or where the question was put aside."""
        return success(self.asked)

    @property
    def declined(self) -> Outcome:
        """The answer after a no."""
        return success(
            Asked(
                headline="Declined: nothing was changed.",
                done=False,
                steps=self.preview.steps,
                stays=self.preview.stays,
            )
        )


def success(result: Result) -> Outcome:
    """A result as an outcome."""
    whole = result.text(None)
    if len(whole) <= TEXT_LIMIT:
        return Outcome(result.structured(), whole, failed=result.is_error)
    return Outcome(result.structured(), result.text(), failed=result.is_error, uncut=whole)


def failure(error: BaseException) -> Outcome:
    """Any exception as an error result; only our own words and the cloud's, never a raw exception's text."""
    fault = faults.fault(error)
    if fault["kind"] == "bug":
        log.error("a bug in modelrig", exc_info=error)
    return _failed(fault)


def _failed(fault: Mapping[str, Any]) -> Outcome:
    whole = faults.sentence(fault)
    words = bounded(whole, 4_000)
    structured = {"headline": words.replace("**", ""), "error": fault}
    return Outcome(structured, defused(words), failed=True, uncut=defused(whole) if words != whole else "")


def prepare(tool: Tool, arguments: Mapping[str, Any], session: Session) -> Ready | Question | Outcome:
    """Validate, bind, and ask where the tool asks. Changes nothing but the ledger's list of questions."""
    try:
        _allowed(tool, session)
        values = binding.validate(tool, arguments)
        bound = binding.bind(tool, values, session, CallProgress())
        if tool.preview is None:
            return Ready(tool, values)
        preview = tool.preview(**{name: bound[name] for name in inspect.signature(tool.preview).parameters})
        return Ready(tool, values) if preview is None else _asking(Ready(tool, values), preview, session)
    except Exception as error:  # noqa: BLE001 - the one boundary where every error becomes a result
        return failure(error)


def _allowed(tool: Tool, session: Session) -> None:
    if session.fault is not None:
        raise session.fault.with_traceback(None)
    if session.read_only and tool.effect is not Effect.READ and tool.name != FOLLOWS:
        raise refused(tool.name)


def _asking(ready: Ready, preview: Preview, session: Session) -> Ready | Question:
    """A valid token acts unasked; without one, a question with a token bound to these steps and this state."""
    given = {name: value for name, value in ready.values.items() if name != "confirm"}
    bound_to = confirm.Bound(ready.tool.name, given, preview.steps, preview.state)
    if token := ready.values.get("confirm", ""):
        confirm.check(session.book, token, bound_to)
        return ready
    token, until = confirm.issue(session.book, bound_to)
    asked = Asked(
        headline=preview.headline,
        done=False,
        steps=preview.steps,
        stays=preview.stays,
        confirm=token,
        confirm_until=until,
        notes=("Nothing has been changed.",),
        next=f'the same call with confirm="{token}" carries it out; what changed until then stops it.',
    )
    return Question(ready, preview, asked)


def carry_out(
    ready: Ready, session: Session, progress: Progress, wait: float = WAIT_SECONDS, *, here: bool = False
) -> Outcome:
    """Run it; with `here` long work too, in this process. Raises Cancelled when the caller went away, after whatever
    was half-made is undone, and Left where a person stopped waiting for what goes on."""
    operation = None
    try:
        if not ready.tool.long:
            return success(binding.execute(ready.tool, ready.values, session, progress))
        if here:
            return of_operation(_worked_on(ready, session, progress))
        operation = operations.start(session.book, ready.tool.name, dict(ready.values), flags=session.flags)
        progress.report(_follow(operation))
        # once our input has ended it is answered as it is: its worker goes on
        return of_operation(operations.wait(session.book, operation.id, wait, progress, ending=session.ending))
    except KeyboardInterrupt:
        raise (Left(operation.id) if operation else KeyboardInterrupt()) from None
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001 - the one boundary where every error becomes a result
        return failure(error)


def _worked_on(ready: Ready, session: Session, progress: Progress) -> operations.Operation:
    """An operation as any other, followed and stopped by its id, whose worker is this process and no other one."""
    book = session.book
    with operations.Interrupts() as interrupts:
        found = book.operations.add(
            ready.tool.name, dict(ready.values), flags=session.flags, cwd="", worker=os.getpid()
        )
        progress.report(_follow(found))

        def execute(name: str, values: Mapping[str, Any], own: operations.WorkerProgress) -> Mapping[str, Any]:
            with interrupts.working():
                return work(name, values, Both(own, progress), session)

        operations.run_worker(book, found.id, execute, alone=False)
        return book.operations.get(found.id)


def _follow(operation: operations.Operation) -> str:
    return f"operation {operation.id}: get_operation follows it, cancel=true stops it"


def of_operation(operation: operations.Operation) -> Outcome:
    """What a call answers for an operation: its stored outcome, or a reference while it goes on."""
    if operation.result:
        return Outcome(**operation.result)
    if operation.error:
        return _failed(operation.error)
    percent = 100 * operation.done / operation.total if operation.total and operation.done is not None else None
    return success(
        Running(
            headline=f"{operation.tool} goes on: {operation.message or operation.state}.",
            operation=operation.id,
            state=operation.state,
            message=operation.message,
            done_percent=percent,
            next=f'`get_operation("{operation.id}")` for its result; cancel=true stops it.',
        )
    )


def work(name: str, arguments: Mapping[str, Any], progress: Progress, session: Session) -> dict[str, Any]:
    """The body of a worker: run one tool with stored, already validated arguments. Raises what the tool raises."""
    from tools import tool

    found = tool(name)
    result = binding.execute(found, binding.validate(found, arguments), session, progress)
    return success(result).as_json()


def unknown_tool(name: str, names: tuple[str, ...]) -> Outcome:
    """The answer to a call of a tool that is not there."""
    import difflib

    near = difflib.get_close_matches(name[:80], names, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return failure(InvalidInput("tool", f"{name[:60]!r} is not a tool.{hint}", fix=f"There are {', '.join(names)}."))
