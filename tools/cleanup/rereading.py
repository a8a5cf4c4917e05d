"""Reads single resources again, with the reads and the judgement of the check that found them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from clouds.base import Cloud, Missing, Progress
from clouds.errors import CloudError
from clouds.models.waste_pack import WastePack
from tools.waste import scan
from tools.waste.exceptions import Keep, suppression
from tools.waste.judging import UNREAD
from tools.waste.sight import why
from tools.waste.state import Wasted
from tools.waste.survey import GLOBAL, Survey


@dataclass(frozen=True)
class Sought:
    """One resource that a check found."""

    cloud: str
    check: str
    location: str
    resource: str
    account: str = ""
    """The project or subscription it is in, for clouds that are looked at by these."""


@dataclass(frozen=True)
class Reread:
    """What is there now: still waste, or why not in words. `unread`: nothing is known of it, and `fix` what helps."""

    wasted: Wasted | None
    words: str = ""
    unread: bool = False
    fix: str = ""


def stays(wasted: Wasted, keeps: tuple[Keep, ...], today: date) -> str:
    """Why a resource that is waste is left alone all the same; empty where it may be removed."""
    if isinstance(wasted.check.remove, str):
        return wasted.check.remove
    if wasted.waste.blocked:
        return wasted.waste.blocked
    if wasted.tags_problem:
        return f"its tags could not be read ({wasted.tags_problem}), so nobody knows whether it is to be kept"
    kept, _ = suppression(wasted.check.id, wasted.id, wasted.name, wasted.tags, keeps, today)
    if kept is not None:
        return f"kept by {kept.by}: {kept.reason}"
    for held in wasted.waste.holds:  # it would go along
        kept, _ = suppression("", held, "", {}, keeps, today)
        if kept is not None:
            return f"it holds {held}, which is kept by {kept.by}: {kept.reason}"
    return ""


def pack_of(cloud: Cloud) -> WastePack | None:
    """The checks of a cloud, or None."""
    return None if isinstance(cloud.waste, Missing) else cloud.waste


def reread(
    wanted: Iterable[Sought], connect: Callable[[str], Cloud], now: datetime, progress: Progress
) -> Mapping[Sought, Reread]:
    """Read every resource again: only its check, only in its place, and of its kind only the single ones."""
    found: dict[Sought, Reread] = {}
    by_cloud: dict[str, list[Sought]] = {}
    for each in wanted:
        by_cloud.setdefault(each.cloud, []).append(each)
    for name, group in by_cloud.items():
        try:
            found.update(_one_cloud(connect(name), group, now, progress))
        except CloudError as error:
            nothing = Reread(None, f"could not be read again: {why(error)}", unread=True, fix=error.fix)
            found.update(dict.fromkeys(group, nothing))
    return found


def _one_cloud(cloud: Cloud, group: list[Sought], now: datetime, progress: Progress) -> dict[Sought, Reread]:
    pack = pack_of(cloud)
    if pack is None:
        return {each: Reread(None, "its cloud has no waste checks here") for each in group}
    only: dict[str, set[str]] = {}
    for each in group:
        only.setdefault(each.check, set()).add(each.resource)
    checks = tuple(check for check in pack.checks if check.id in only)
    world = {check.id for check in checks if check.kind.once}
    place = {each: GLOBAL if each.check in world else pack.place_of(each.location, each.account) for each in group}
    places = tuple(dict.fromkeys(place.values()))
    account = cloud.identity.read().account
    survey = Survey(
        pack,
        scan.reading_api(cloud, pack),
        account,
        now,
        progress,
        only={check: frozenset(ids) for check, ids in only.items()},
        keep_rows=True,
    )
    looked = survey.run(checks, places)
    wasted = {(each.check.id, each.id): each for each in looked.wasted}
    met: dict[tuple[str, str], str] = {}
    whole: dict[tuple[str, str], str] = {}
    for there, judged in looked.judged:
        met.update({(judged.check.id, resource): word for resource, word in judged.met.items()})
        if judged.ended != "judged":
            whole[judged.check.id, there] = f"{judged.ended}: {judged.reason}"
    found = {}
    for each in group:
        key = (each.check, each.resource)
        word = met.get(key) or whole.get((each.check, place[each])) or "gone"
        found[each] = Reread(wasted.get(key)) if key in wasted else Reread(None, word, word.startswith(UNREAD))
    return found
