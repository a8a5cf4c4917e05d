"""Confirmation of what cannot simply be taken back: a token that is good for exactly one call in exactly one state.

A first call stores its steps and gets a token like `7f3a-9c41`; the same call with that token acts. The token is
refused when it is wrong, used, older than 30 minutes or was given for another call, and when the steps or the state
they were read from have changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from sqlite3 import Connection
from typing import Any

from clouds.errors import CloudError, Conflict, InvalidInput
from tools.ledger import Book, StoredPlan
from tools.ledger.values import clip, decode, encode, stamp

VALID = timedelta(minutes=30)
MISSES = 5
"""Wrong tokens after which a plan is void."""
_AGAIN = "Make the same call without `confirm` to get new steps and a new token."


@dataclass(frozen=True)
class Bound:
    """What a token is good for: one tool with these arguments, these steps, and the state they were read from."""

    tool: str
    arguments: Mapping[str, Any]
    steps: Sequence[str]
    state: Mapping[str, Any]


def issue(book: Book, bound: Bound) -> tuple[str, str]:
    """Store the plan; returns its token and the moment (ISO 8601, UTC) it expires. Raises InvalidInput for a secret."""
    return book.plans.add(bound.tool, bound.arguments, bound.steps, bound.state, VALID)


def stored(book: Book, token: str) -> StoredPlan | None:
    """The plan that a token, or a plan's id, names: its steps as they were shown. It need not be valid any more."""
    return book.plans.get(token.partition("-")[0])


def check(book: Book, token: str, bound: Bound) -> StoredPlan:
    """Use the token up and return its plan; only the first of several equal calls gets through.

    `bound.steps` and `bound.state` are read again just before. Raises InvalidInput for a token that is wrong or was
    given for another call, Conflict for one that is used or expired and when something has changed since.
    """
    if not re.fullmatch(r"[0-9a-f]{4,16}-[0-9a-f]{4}", token):
        raise _wrong(token)
    with book.store.write() as database:  # what is refused here is raised after the commit: a miss has to be counted
        plan = book.plans.get(token.partition("-")[0])
        refused = _wrong(token) if plan is None else _refused(book, database, plan, token, bound)
        if plan is not None and refused is None:
            book.plans.use(database, plan)
    if plan is None or refused is not None:
        raise refused or _wrong(token)
    return plan


def _refused(book: Book, database: Connection, plan: StoredPlan, token: str, bound: Bound) -> CloudError | None:
    if plan.misses >= MISSES:
        return _stale(plan, f"it was tried with {MISSES} wrong tokens and is void")
    if not book.plans.matches(database, plan.id, token):
        return _wrong(token)
    return _unfit(plan, bound, stamp(book.clock()))


def _unfit(plan: StoredPlan, bound: Bound, now: str) -> CloudError | None:
    arguments, steps, state = (decode(encode(each)) for each in (bound.arguments, bound.steps, bound.state))
    if plan.tool != bound.tool:
        return InvalidInput("confirm", f"was given for {plan.tool}, not for {bound.tool}", fix=_AGAIN)
    if plan.arguments != arguments:
        words = _changes(plan.arguments, arguments)
        return InvalidInput("confirm", f"was given for other arguments ({words})", fix=_AGAIN)
    if plan.used:
        return _stale(plan, f"it was used at {plan.used}; a token is good once")
    if now >= plan.expires:
        return _stale(plan, f"it expired at {plan.expires}, {VALID.seconds // 60} minutes after it was given")
    if plan.read_from != state:
        return _stale(plan, f"the state has changed since ({_changes(plan.read_from, state)})")
    if plan.steps != steps:
        return _stale(plan, f"the steps are others now ({_changes(plan.steps, steps)})")
    return None


def _stale(plan: StoredPlan, why: str) -> Conflict:
    return Conflict(f"Confirming {_named(plan)}", answered=why, fix=f"Nothing was changed. {_AGAIN}", sent=False)


def _named(plan: StoredPlan) -> str:
    """What was to be confirmed, as its caller knows it: the tool and what it was to act on, and which token."""
    given = [str(plan.arguments[name]) for name in ("plan", "ref", "name") if plan.arguments.get(name)]
    return f"{plan.tool}{f' of {clip(given[0], 60)}' if given else ''} with token {plan.id}-…"


def _wrong(token: str) -> InvalidInput:
    return InvalidInput("confirm", f"{clip(ascii(token), 40)} is not a token that was given out here", fix=_AGAIN)


def _changes(then: Any, now: Any) -> str:
    """At most three differences, in words: "`state`: ready then, updating now"."""
    if isinstance(then, list) and isinstance(now, list):
        then = {f"step {number}": each for number, each in enumerate(then, 1)}
        now = {f"step {number}": each for number, each in enumerate(now, 1)}
    names = [name for name in dict.fromkeys([*then, *now]) if then.get(name) != now.get(name)]
    words = [f"`{clip(name, 60)}`: {_word(then.get(name))} then, {_word(now.get(name))} now" for name in names[:3]]
    return "; ".join(words) + (f"; and {len(names) - 3} more" if len(names) > 3 else "")


def _word(value: Any) -> str:
    return "absent" if value is None else clip(value if isinstance(value, str) else encode(value), 80)
