"""check_quota and check_capacity: permission to ask, and whether there is one. Two answers, never one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from clouds.base import Cloud, Missing
from clouds.errors import CloudError, InvalidInput, NotOffered
from clouds.models import Capacity, Quota, Read, Record, Scope, Unread
from clouds.models import accelerator as known_accelerator
from tools.context import Clouds
from tools.figures import few, number
from tools.plan import Words
from tools.registry import Effect, Tool
from tools.result import SHOWN, Result, capped, escape

Accelerator = Annotated[str, Field(description='"L4", "v6e", …', max_length=40)]
OneCloud = Annotated[str, Field(description="only this cloud", max_length=20)]
COLUMNS = 5
NAMED = 6
"""Scopes that the headline names; how many more there are is said."""


class QuotaRow(Record):
    """One kind of quota over all scopes. `where`: "left of limit" of the scopes with any; `elsewhere`: the rest."""

    quota: str
    code: str
    unit: str
    where: Mapping[str, str]
    elsewhere: str = ""
    left_total: float | None
    adjustable: str


class QuotaView(Result):
    """What may be asked for, per type and scope. Quota is permission to ask, not a free machine."""

    count: int
    scopes_read: int
    scopes_with_quota_left: int
    filter: Mapping[str, str]
    complete: bool
    showing: str = ""
    rows: tuple[QuotaRow, ...] = ()
    unread: tuple[Unread, ...] = ()

    def body(self) -> str:
        """One row a type, one column a scope with quota, and a last column for all others."""
        scopes = list(dict.fromkeys(scope for row in self.rows for scope in row.where))
        named, rest = scopes[:COLUMNS], scopes[COLUMNS:]
        lines = [
            "| left of limit | " + " | ".join([*named, "elsewhere"]) + " |",
            "|---|" + "--:|" * len(named) + "---|",
        ]
        for row in self.rows:
            others = [f"{scope} {row.where[scope]}" for scope in rest if scope in row.where]
            cells = [row.where.get(scope, "–") for scope in named] + ["; ".join([*others, row.elsewhere]).strip("; ")]
            lines.append(f"| {escape(row.quota)} | " + " | ".join(cells) + " |")
        facts = f"{_several(self.count, 'quota')} in {_several(self.scopes_read, 'scope')}"
        facts += f" · complete {'yes' if self.complete else 'no'}"
        facts += f" · showing {self.showing}" if self.showing else ""
        missing = [f"Not read: {each.scope} ({each.reason}; {each.call})." for each in self.unread]
        codes = ", ".join(
            f"{row.quota} {row.code or 'without a code'} ({row.unit}, adjustable {row.adjustable})" for row in self.rows
        )
        return "\n\n".join(
            part for part in ["\n".join(lines) if self.rows else "", facts, codes, "\n".join(missing)] if part
        )


def check_quota(
    clouds: Clouds,
    accelerator: Accelerator = "",
    instance_types: Words = (),
    regions: Words = (),
    cloud: OneCloud = "",
) -> QuotaView:
    """Quota for an accelerator or instance types per region: limit, used and left, in every cloud on offer.

    Quota is permission to ask, not a free machine: see check_capacity.
    """
    word = _wanted(accelerator, instance_types)
    found, unread, reasons, absent = _read(clouds, cloud, "quotas", word, instance_types, regions)
    by_name: dict[tuple[str, str], list[Quota]] = defaultdict(list)
    for each in found:
        by_name[each.name, each.code].append(each)
    rows = [_row(group) for group in by_name.values()]
    rows.sort(key=lambda row: (-(row.left_total or 0), row.quota))
    shown, showing = capped(rows, SHOWN)
    scopes = {each.scope for each in found}
    usable = {each.scope for each in found if (_left(each) or 0) > 0}
    unsure = {each.scope for each in found if _left(each) is None and each.limit != 0 and each.offered is not False}
    unsure -= usable
    what = word or ", ".join(instance_types)
    if found:
        headline = f"Quota left for {what} in {len(usable)} of {_several(len(scopes), 'scope')}"
        headline += ": " + few(sorted(usable), NAMED) if usable else ""
        headline += f"; what is left in {few(sorted(unsure), NAMED)} is unknown" if unsure else ""
        headline += "; NOT everything could be read" if unread else ""
    else:
        none = _none(absent) if absent else f"No cloud here has a quota for {what}"
        headline = f"Quota for {what} is unknown: nothing could be read" if unread else none
    return QuotaView(
        headline=headline + ".",
        count=len(found),
        scopes_read=len(scopes),
        scopes_with_quota_left=len(usable),
        filter=_filter(word, instance_types, regions, cloud),
        complete=not unread,
        showing=showing,
        rows=shown,
        unread=tuple(unread[:SHOWN]),
        notes=tuple(reasons),
        next="`check_capacity` for what is known about free machines."
        if usable or unsure
        else "ask for more quota, or try another type."
        if found
        else "`check_setup` says who is signed in where."
        if unread
        else absent[0].fix
        if absent
        else "",
    )


def _several(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _left(quota: Quota) -> float | None:
    return None if quota.limit is None or quota.used is None else quota.limit - quota.used


def _row(group: Sequence[Quota]) -> QuotaRow:
    where, elsewhere = {}, Counter[str]()
    for each in group:
        left = _left(each)
        if each.offered is False:
            elsewhere["not offered"] += 1
        elif each.limit is None:
            elsewhere["unknown"] += 1
        elif each.limit == 0:
            elsewhere["0"] += 1
        else:
            where[each.scope] = f"{number(left) if left is not None else '?'} of {number(each.limit)}"
    known = [left for each in group if (left := _left(each)) is not None]
    first = group[0]
    return QuotaRow(
        quota=first.name,
        code=first.code,
        unit=first.unit,
        where=where,
        elsewhere=", ".join(f"{word} in {count}" for word, count in sorted(elsewhere.items())),
        left_total=sum(known) if known else None,
        adjustable={True: "yes", False: "no", None: "unknown"}[first.adjustable],
    )


class CapacityView(Result):
    """What is known about free machines: "offered", "score n" or "unknown", and never "available"."""

    count: int
    by_answer: Mapping[str, int]
    filter: Mapping[str, str]
    complete: bool
    showing: str = ""
    rows: tuple[Capacity, ...] = ()
    unread: tuple[Unread, ...] = ()


def check_capacity(
    clouds: Clouds,
    accelerator: Accelerator = "",
    instance_types: Words = (),
    regions: Words = (),
    cloud: OneCloud = "",
) -> CapacityView:
    """What is known about free machines for an accelerator or instance types: offered, spot scores, reservations.

    No cloud says "available"; only asking for one tells.
    """
    word = _wanted(accelerator, instance_types)
    found, unread, reasons, absent = _read(clouds, cloud, "capacity", word, instance_types, regions)
    shown, showing = capped(sorted(found, key=lambda each: each.answer == "unknown"), SHOWN)
    answers = Counter(each.answer for each in found)
    what = word or ", ".join(instance_types)
    places = _by_answer(found)
    words = "; ".join(f"{answer} in {_named(places[answer])}" for answer, _ in answers.most_common(4))
    words = f"{what}: {words or 'nothing is known'}" if found or unread or not absent else _none(absent)
    return CapacityView(
        headline=f"{words}{'; NOT everything could be read' if unread else ''}.",
        count=len(found),
        by_answer=dict(answers),
        filter=_filter(word, instance_types, regions, cloud),
        complete=not unread,
        showing=showing,
        rows=shown,
        unread=tuple(unread[:SHOWN]),
        notes=tuple(reasons),
        next="`check_quota` for permission to ask, or `plan_deployment`." if found or not absent else absent[0].fix,
    )


def _by_answer(found: Sequence[Capacity]) -> dict[str, list[str]]:
    """Where each answer was given. A place that gave several, each for another form of it, is named with the form."""
    given: dict[str, set[str]] = defaultdict(set)
    for each in found:
        given[each.scope].add(each.answer)
    places: dict[str, list[str]] = defaultdict(list)
    for each in found:
        form = each.accelerator.partition(" (")[2]
        word = f"{each.scope} ({form}" if form and len(given[each.scope] - {"unknown"}) > 1 else each.scope
        if word not in places[each.answer]:
            places[each.answer].append(word)
    return places


def _named(places: Sequence[str]) -> str:
    """Few places by name, more by their number."""
    return ", ".join(places) if len(places) <= 4 else f"{len(places)} places"


def _wanted(accelerator: str, instance_types: Sequence[str]) -> str:
    if not accelerator and not instance_types:
        raise InvalidInput("accelerator", "nothing was asked for", fix="Give accelerator or instance_types.")
    return known_accelerator(accelerator) if accelerator else ""


def _filter(word: str, types: Sequence[str], regions: Sequence[str], cloud: str) -> dict[str, str]:
    pairs = {"accelerator": word, "instance_types": ", ".join(types), "regions": ", ".join(regions), "cloud": cloud}
    return {key: value for key, value in pairs.items() if value}


def _read(
    clouds: Clouds, one: str, port: str, word: str, types: Sequence[str], regions: Sequence[str]
) -> tuple[list[Any], list[Unread], list[str], list[NotOffered]]:
    """Every cloud's answer; a cloud without the port says why, one that fails is unread and the others go on.

    The last are those that do not have the accelerator at all, with what they have: an answer, and nothing unread.

    A size or region is one cloud's word: where several clouds are asked, one that does not know it says so in a note.
    Raises InvalidInput when none of them knows it.
    """
    found: list[Any] = []
    unread: list[Unread] = []
    reasons: list[str] = []
    absent: list[NotOffered] = []
    refused: list[InvalidInput] = []
    scopes = [Scope(location=region) for region in regions]
    asked = (clouds.get(one).name,) if one else clouds.names
    for name in asked:
        try:
            reader = _port(clouds.get(name), port)
            if isinstance(reader, Missing):
                reasons.append(f"{name}: {reader.why}.")
                continue
            read: Read[Any] = reader(word or None, types, scopes)
        except InvalidInput as error:
            refused.append(error)
            reasons.append(f"{name}: {error}.")
            continue
        except NotOffered as error:
            absent.append(error)
            continue
        except CloudError as error:
            unread.append(Unread(call=f"{name}: {port}", scope="everywhere", reason=str(error)[:200]))
            continue
        found.extend(read.found)
        unread.extend(read.unread)
        reasons.extend(f"{each.scope}: {each.reason.rstrip('.')}." for each in read.not_applicable[:3])
        reasons.extend(read.notes[:5])
    if refused and not found and not unread:
        raise refused[0]
    if absent and (found or unread):
        reasons.append(f"{_none(absent)}.")
    return found, unread, reasons, absent


def _none(absent: Sequence[NotOffered]) -> str:
    """What is in no place of a cloud, and what that cloud has."""
    words = "; ".join(f"there is no {each.tried}: {each.answered}" for each in absent)
    return words[:1].upper() + words[1:]


def _port(cloud: Cloud, port: str) -> Callable[..., Read[Any]] | Missing:
    reader = cloud.quotas if port == "quotas" else cloud.capacity
    return reader if isinstance(reader, Missing) else reader.read


CHECK_QUOTA = Tool(check_quota, title="Check quota", effect=Effect.READ, long=True)
CHECK_CAPACITY = Tool(check_capacity, title="Check capacity", effect=Effect.READ)
