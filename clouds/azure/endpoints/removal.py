"""Takes the parts of a deployment away in order, read back until Azure says 404.

What bills goes first. As long as it may exist, its scheduled end stays: only when it is gone do the end, the rest and,
last, the resource group go, and the group only when a fresh list of it is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clouds.azure.endpoints import ending, ids, parts
from clouds.azure.endpoints.making import Maker, taken
from clouds.azure.endpoints.parts import Found, kind_of
from clouds.errors import CloudError, Conflict, NotFound, Throttled, Unexpected, Unreachable
from clouds.models import Call, DeletedPart, Scope

ORDER = (
    f"{parts.APP}.put", f"{parts.SERVED}.put", f"{ending.ASSIGNMENT}.put", f"{ending.WORKFLOW}.put",
    f"{parts.ENDPOINT}.put", f"{parts.ENVIRONMENT}.patch", f"{parts.ENVIRONMENT}.put", f"{parts.IMAGE}.put",
    f"{parts.GROUP}.put",
)  # fmt: skip
POLL, BUSY_FOR, LISTED_FOR, TRIES = 15.0, 900.0, 90.0, 4


@dataclass(frozen=True)
class Removed:
    """How each part ended. `later` is set where Azure itself will go on asking for what it refuses now."""

    parts: tuple[DeletedPart, ...]
    later: str = ""

    @property
    def gone(self) -> bool:
        """Nothing of ours is left."""
        return not self.later and all(part.outcome != "still there" for part in self.parts)


def remove(
    maker: Maker,
    calls: Sequence[Call],
    *,
    before: Callable[[Call, Found], None] = lambda _call, _found: None,
    later: Callable[[], str] = lambda: "",
) -> Removed:
    """Remove what these calls made. One part that cannot be removed does not keep unrelated ones from going.

    `before` is told of a part that is about to go; `later` is asked to have Azure go on asking, and says so.
    """
    unique = {(str(call), str(call.parameters["id"]).lower()): call for call in calls if str(call) in ORDER}
    ordered = sorted(unique.values(), key=lambda call: ORDER.index(str(call)))
    done: list[DeletedPart] = []
    for at, call in enumerate(ordered):
        part = _part(maker, call, before)
        done.append(part)
        if part.outcome == "still there" and kind_of(call).bills:
            words = later()
            kept = [
                DeletedPart(part=kind_of(other).of(other), outcome="kept", detail="goes when what bills is gone")
                for other in ordered[at + 1 :]
            ]
            return Removed((*done, *kept), words)
    return Removed(tuple(done))


def _part(maker: Maker, call: Call, before: Callable[[Call, Found], None]) -> DeletedPart:
    word = kind_of(call).of(call)
    try:
        return _removed(maker, call, word, before)
    except CloudError as error:
        return DeletedPart(part=word, outcome="still there", detail=str(error)[:300])


def _removed(maker: Maker, call: Call, word: str, before: Callable[[Call, Found], None]) -> DeletedPart:
    kind = kind_of(call)
    found = parts.look(maker.api, call)
    if found is None:
        maker.forget(call)
        return DeletedPart(part=word, outcome="was not there")
    if found.deployment not in {maker.deployment, parts.MINE}:
        raise taken(call, found)
    if why := _in_use(maker, call, found):
        return DeletedPart(part=word, outcome="kept", detail=why)
    order = kind.removal(call, found)
    if order is None:
        return DeletedPart(part=word, outcome="kept")
    before(call, found)
    _sent(maker, order, word)
    if order.operation == "put":  # put away: it stays, and says so
        maker.forget(call)
        return DeletedPart(part=word, outcome="kept", detail="archived: Azure ML deletes no version; it costs nothing")
    wait_until_gone(maker, call)
    maker.forget(call)
    return DeletedPart(part=word, outcome="deleted")


def _sent(maker: Maker, order: Call, word: str) -> None:
    """Ask for it until Azure takes it: it refuses while another operation is under way on the same thing."""
    waited, tries, scope = 0.0, 0, Scope(account=ids.subscription_of(str(order.parameters["id"])))
    while True:
        try:
            maker.api.poll(maker.api.begin(order, scope=scope), progress=maker.progress)
        except NotFound:
            return
        except (Throttled, Unreachable, Unexpected) as error:
            tries += 1
            if tries >= TRIES:
                raise
            maker.progress.sleep(error.retry_after or 2.0**tries)
        except Conflict:
            if waited >= BUSY_FOR:
                raise
            maker.progress.report(f"{word}: Azure is still busy with it ({waited:.0f} s)")
            maker.progress.sleep(POLL)
            waited += POLL
        else:
            return


def wait_until_gone(maker: Maker, call: Call) -> None:
    """Read until Azure no longer knows it. Raises Unexpected when that takes longer than ever seen."""
    waited, word = 0.0, kind_of(call).of(call)
    while True:
        try:
            if parts.look(maker.api, call) is None:
                return
            said = f"it is still there after {waited:.0f} s"
        except (Throttled, Unreachable, Unexpected) as error:
            said = str(error)
        if waited >= BUSY_FOR:
            raise Unexpected(
                f"deleting {word}", answered=said, fix="Ask again in some minutes; then delete_endpoint once more."
            )
        maker.progress.report(f"deleting {word}: {waited:.0f} s")
        maker.progress.sleep(POLL)
        waited += POLL


def _in_use(maker: Maker, call: Call, found: Found) -> str:
    """Why a part that others may use has to stay; empty when nobody does. A list may lag behind, so it gets time."""
    ask = _USERS.get(str(call))
    if ask is None:
        return ""
    waited = 0.0
    while True:
        names = ask(maker, call, found)
        if not names:
            return ""
        if waited >= LISTED_FOR:
            return f"{', '.join(names[:5])} {'use' if len(names) > 1 else 'uses'} it"
        maker.progress.sleep(POLL)
        waited += POLL


def _in_group(maker: Maker, call: Call, _: Found) -> list[str]:
    """Everything in a resource group, hidden things too."""
    place = str(call.parameters["id"])
    answer = maker.api.send(
        Call("Microsoft.Resources/resources", "list_in", {"parent": place}),
        scope=Scope(account=ids.subscription_of(place)),
    )
    return [str(row.get("name", "")) for row in (answer or {}).get("value", [])]


def _in_environment(maker: Maker, call: Call, found: Found) -> list[str]:
    """Apps and jobs in an environment; with a profile of ours in somebody's, only what runs on that profile."""
    place = str(call.parameters["id"])
    profile, _ = parts.profile_of(found.resource) if call.operation == "patch" else ("", "")
    names: list[str] = []
    for kind in (parts.APP, parts.JOB):
        answer = maker.api.send(Call(kind, "list"), scope=Scope(account=ids.subscription_of(place)))
        for row in (answer or {}).get("value", []):
            held = row.get("properties") or {}
            where = str(held.get("environmentId") or held.get("managedEnvironmentId") or "")
            if ids.same(where, place) and (not profile or held.get("workloadProfileName") == profile):
                names.append(str(row.get("name", "")))
    return names


_USERS: dict[str, Callable[[Maker, Call, Found], list[str]]] = {
    f"{parts.GROUP}.put": _in_group,
    f"{parts.ENVIRONMENT}.put": _in_environment,
    f"{parts.ENVIRONMENT}.patch": _in_environment,
}
