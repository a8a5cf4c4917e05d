"""Takes a machine and what was made for it away, read back. While it is there, its end and its rule stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clouds.errors import CloudError, NotFound
from clouds.gcp.endpoints.making import NOT_OURS, Maker, same
from clouds.gcp.endpoints.parts import kind_of
from clouds.models import Call, DeletedPart, Scope


def place_of(call: Call) -> str:
    """Where a part is: its zone or region, or "global"."""
    parent = str(call.parameters.get("parent", ""))
    return str(call.parameters.get("zone") or parent.rsplit("/", 1)[-1] or "global")


def remove(maker: Maker, calls: Iterable[Call]) -> tuple[DeletedPart, ...]:
    """Remove what these creating calls made: what bills first, and nothing else while that is still there."""
    done: list[DeletedPart] = []
    ordered = sorted(_each(calls), key=lambda call: not kind_of(call).bills)
    for call in ordered:
        if not kind_of(call).bills and any(part.outcome == "still there" for part in done):
            break
        done.append(_part(maker, call))
    return tuple(done)


def begun(maker: Maker, calls: Iterable[Call]) -> list[Call]:
    """Those of which something may have been sent (each is written down before); of the others nothing is there."""
    rows = [step.call for step in maker.ledger.steps(maker.deployment) if step.id not in maker.unsent]
    return [call for call in calls if any(same(row, call) for row in rows)]


def _each(calls: Iterable[Call]) -> list[Call]:
    """Each thing once: several calls of a plan may make the same one."""
    found: dict[tuple[str, str, str], Call] = {}
    for call in calls:
        found.setdefault((str(call), kind_of(call).name(call.parameters), place_of(call)), call)
    return [*found.values()]


def _part(maker: Maker, call: Call) -> DeletedPart:
    word = kind_of(call).of(call.parameters)
    try:
        ended = maker.remove(call, place_of(call))
    except CloudError as error:
        left = "kept" if error.code == NOT_OURS else "still there"
        return DeletedPart(part=word, outcome=left, detail=str(error)[:300])
    return DeletedPart(part=word, outcome="deleted" if ended == "deleted" else "was not there")


def belongings(maker: Maker, calls: Sequence[Call]) -> tuple[list[Call], str]:
    """Which of these parts exist and belong together, and whose they are; from Google alone.

    The first that exists says whose: the machine before what was made for it. Raises what cannot be read.
    """
    found, deployment = list[Call](), ""
    for call in calls:
        try:
            seen = kind_of(call).look(maker.api, Scope(place_of(call)), call.parameters)
        except NotFound:
            continue
        if seen is not None and seen.deployment and seen.deployment == (deployment or seen.deployment):
            deployment = seen.deployment
            found.append(call)
    return found, deployment
