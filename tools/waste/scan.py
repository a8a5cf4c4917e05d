"""One scan over one or several clouds: looked at, judged, priced, booked once, summed up. No tool, no file, no clock.

A cloud or a scope that cannot be read is named in the result; it never stops the rest and never reads as "nothing".
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from clouds.base import Api, Cloud, Missing, Progress
from clouds.errors import CloudError, InvalidInput
from clouds.models import Call, Identity, Scope
from clouds.models.waste import WasteCheck
from clouds.models.waste_pack import WastePack
from tools.figures import did_you_mean
from tools.progress import Part
from tools.waste import booking, judging, summing
from tools.waste.exceptions import Keep
from tools.waste.price import HOURS, Rates
from tools.waste.records import Effort, Finding, Gap, Pricing, Scan, ScopeEnd, Who
from tools.waste.sight import why
from tools.waste.state import Looked
from tools.waste.survey import GLOBAL, Survey

BASIS = "on-demand list prices in US dollars"
RARELY = (100_000, 50, 1_000)
"""Thresholds of the garbage collector while a scan reads and judges."""


@dataclass(frozen=True)
class Wanted:
    """What a scan is asked to look at. Empty means everything."""

    scopes: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    category: str = ""


@dataclass
class _Heard:
    """What all clouds together gave."""

    who: list[Who] = field(default_factory=list)
    scopes: list[ScopeEnd] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    judged: list[judging.Judged] = field(default_factory=list)
    unread: list[Gap] = field(default_factory=list)
    unresolved: list[Gap] = field(default_factory=list)
    too_new: list[Gap] = field(default_factory=list)
    managed: list[Gap] = field(default_factory=list)
    not_applicable: list[Gap] = field(default_factory=list)
    requests: dict[str, int] = field(default_factory=dict)
    charges: list[str] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    excludes: list[str] = field(default_factory=list)
    dates: set[str] = field(default_factory=set)
    known: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    """Those of the chosen checks that ran; `not_run` did not, although their cloud was looked at."""
    not_run: list[str] = field(default_factory=list)
    usd: float = 0.0
    seconds: float = 0.0
    by_account: set[str] = field(default_factory=set)
    """Clouds whose places are accounts of their own."""


class ReadsOnly:
    """Lets only what the checks of a pack read through to its api: a second guard above the one on the wire."""

    def __init__(self, api: Api, allow: frozenset[str]) -> None:
        self._api, self.allow = api, allow
        self.at_once = bool(getattr(api, "at_once", False))

    def send(self, call: Call, *, scope: Scope) -> object:
        """The answer's body. Raises InvalidInput for anything that no check declares; then nothing is sent."""
        if str(call) not in self.allow:
            raise InvalidInput("operation", f"{call} is not among the reads of the checks", fix="Report this as a bug.")
        return self._api.send(call, scope=scope)


def scan(
    clouds: Mapping[str, Cloud | CloudError],
    wanted: Wanted,
    keeps: tuple[Keep, ...],
    now: datetime,
    progress: Progress,
    scan_id: str,
) -> Scan:
    """Scan every cloud given; one that is not signed in is unread. Raises InvalidInput for unknown checks or scopes."""
    heard = _Heard()
    for name, cloud in clouds.items():
        try:
            if isinstance(cloud, CloudError):
                raise cloud
            with _seldom_collected():
                told = Part(progress, name) if len(clouds) > 1 else progress
                _one(name, cloud, wanted, keeps, now, told, heard)
        except InvalidInput:
            raise
        except CloudError as error:
            reason = f"{why(error)}. {error.fix}".rstrip()
            heard.unread.append(Gap(name, "", "", "", reason, str(error.tried)[:120]))
            heard.scopes.append(ScopeEnd(name, "", "everywhere", "denied", why(error), 0, 0, 0, 0, 0))
    return _summed_up(heard, wanted, now, scan_id)


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """What a scan reads lives until it is judged: looking for garbage in it was a third of the CPU of a large one."""
    usual = gc.get_threshold()
    gc.set_threshold(*RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def select(pack: WastePack, wanted: Wanted) -> tuple[WasteCheck, ...]:
    """The checks of one pack that were asked for."""
    return tuple(
        check
        for check in pack.checks
        if (not wanted.checks or named(check.id, wanted.checks)) and wanted.category in ("", check.category)
    )


def named(check: str, words: Sequence[str]) -> bool:
    """Whether a check is meant by one of some words: by its id, or by the word that its id begins with."""
    return any(check == word or check.startswith(f"{word}-") for word in words)


def _one(
    name: str,
    cloud: Cloud,
    wanted: Wanted,
    keeps: tuple[Keep, ...],
    now: datetime,
    progress: Progress,
    heard: _Heard,
) -> None:
    pack = cloud.waste
    if isinstance(pack, Missing) or isinstance(cloud.api, Missing):
        absent = pack if isinstance(pack, Missing) else cloud.api
        heard.not_applicable.append(Gap(name, "", "", "", absent.why if isinstance(absent, Missing) else ""))
        return
    checks = select(pack, wanted)
    who = cloud.identity.read()
    heard.known += [check.id for check in pack.checks]
    heard.who.append(Who(name, who.principal, who.account, who.kind))
    if not checks:
        return
    heard.chosen += [check.id for check in checks]
    survey = Survey(pack, reading_api(cloud, pack), who.account, now, progress)
    looked = survey.run(checks, wanted.scopes)
    ran = {judged.check.id for _, judged in looked.judged}
    heard.checks += [check.id for check in checks if check.id in ran]
    heard.not_run += [check.id for check in checks if check.id not in ran]
    rates = Rates(cloud.prices, why=pack.without_rate, home=pack.home)
    found, words = booking.findings(name, who.account, pack, looked.wasted, rates, keeps, now)
    heard.findings += found
    heard.exceptions += words
    heard.dates |= rates.dates
    heard.excludes += [word for word in pack.excludes if word not in heard.excludes]
    if pack.by_account:
        heard.by_account.add(name)
    _hear(name, who, looked, heard)


def reading_api(cloud: Cloud, pack: WastePack) -> Api:
    """The cloud's api behind the guard that is derived from the checks: on the wire where the cloud has one there."""
    api = cloud.api
    if isinstance(api, Missing):
        raise InvalidInput("cloud", f"{cloud.name} has no api: {api.why}", fix="Name another cloud.")
    guarded = cloud.reading(pack.reads) if cloud.reading is not None else api
    return ReadsOnly(guarded, pack.reads)


def _hear(cloud: str, who: Identity, looked: Looked, heard: _Heard) -> None:
    heard.seconds += looked.seconds
    for operation, count in looked.requests.items():
        heard.requests[operation] = heard.requests.get(operation, 0) + count
    for metric, count in looked.charged.items():
        if metric.charge is not None:
            heard.usd += metric.charge.usd * count
            words = f"${metric.charge.usd * 1000:g} for 1,000 {metric.charge.unit}s ({metric.charge.as_of})"
            if words not in heard.charges:
                heard.charges.append(words)
    if looked.unlisted is not None:
        call, error = looked.unlisted
        heard.unread.append(Gap(cloud, who.account, "", "", f"other accounts are not known: {why(error)}", call))
    by_place: dict[str, list[judging.Judged]] = {place: [] for place in looked.places}
    # In the order of places and checks, not in that of the answers: two scans that see the same say the same.
    there = {place: number for number, place in enumerate(looked.places)}
    asked = {check: number for number, check in enumerate(heard.chosen)}
    for place, judged in sorted(looked.judged, key=lambda each: (there[each[0]], asked[each[1].check.id])):
        by_place[place].append(judged)
        _gaps(cloud, judged.scope.account or who.account, place, judged, heard)
        heard.judged.append(judged)
    world = {each.check.id for _, each in looked.judged if each.check.kind.once}
    for place, all_judged in by_place.items():
        own = cloud in heard.by_account and place != GLOBAL
        here = [
            each
            for each in heard.findings
            if each.cloud == cloud
            and each.suppressed is None
            # What a global service lists was looked at there, wherever it lies: a bucket's region may not be scanned.
            and (GLOBAL if each.check in world else each.account if own else each.location) == place
        ]
        heard.scopes.append(_end(cloud, place if own else who.account, place, all_judged, here))


def _gaps(cloud: str, account: str, place: str, judged: judging.Judged, heard: _Heard) -> None:
    check = judged.check.id

    def gap(each: judging.Gap) -> Gap:
        return Gap(cloud, account, place, check, each.reason, each.call, each.count, tuple(each.named))

    heard.unread += [gap(each) for each in judged.unread.values()]
    heard.unresolved += [gap(each) for each in judged.unresolved.values()]
    if judged.too_new is not None:
        heard.too_new.append(gap(judged.too_new))
    if judged.managed is not None:
        heard.managed.append(gap(judged.managed))
    if judged.ended == "not applicable":
        heard.not_applicable.append(Gap(cloud, account, place, check, judged.reason))


def _end(
    cloud: str, account: str, place: str, all_judged: Sequence[judging.Judged], here: Sequence[Finding]
) -> ScopeEnd:
    ended = [judged.ended for judged in all_judged]
    reasons = {judged.reason for judged in all_judged if judged.ended != "judged"}
    word = "done"
    if ended and not ended.count("judged"):
        word = "denied" if ended.count("unread") else "skipped"
    return ScopeEnd(
        cloud, account, place, word, "" if word == "done" else "; ".join(sorted(reasons))[:300],  # type: ignore[arg-type]
        len(ended), ended.count("judged"), ended.count("not applicable"), ended.count("unread"),
        summing.resources(all_judged), len(here), round(sum(each.usd_per_month or 0.0 for each in here), 2),
    )  # fmt: skip


def _summed_up(heard: _Heard, wanted: Wanted, now: datetime, scan_id: str) -> Scan:
    unknown = [word for word in wanted.checks if not any(named(check, (word,)) for check in heard.chosen)]
    if unknown and heard.who:
        hint = did_you_mean(unknown[0], heard.known)
        raise InvalidInput("checks", f"{unknown[0][:60]!r} is no check.{hint}", fix="list_checks names them all.")
    counted = sorted(
        (each for each in heard.findings if each.suppressed is None), key=lambda each: -(each.usd_per_month or 0.0)
    )
    kept = tuple(each for each in heard.findings if each.suppressed is not None)
    chosen = {
        "scopes": ", ".join(wanted.scopes),
        "checks": ", ".join(wanted.checks),
        "category": wanted.category,
    }
    return Scan(
        id=scan_id,
        started=now.isoformat(timespec="seconds"),
        complete=not heard.unread and not heard.unresolved,
        who=tuple(heard.who),
        scopes=tuple(heard.scopes),
        totals=summing.totals(counted, kept, frozenset(heard.by_account)),
        coverage=summing.coverage(heard.judged, heard.scopes, tuple(dict.fromkeys(heard.checks))),
        pricing=Pricing(
            BASIS, HOURS, min(heard.dates, default=""), max(heard.dates, default=""), tuple(heard.excludes)
        ),
        effort=Effort(
            round(heard.seconds, 3), sum(heard.requests.values()), dict(sorted(heard.requests.items())),
            round(heard.usd, 6), tuple(heard.charges),
        ),
        findings=tuple(counted),
        suppressed=kept,
        unread=tuple(heard.unread),
        unresolved=tuple(heard.unresolved),
        too_new=tuple(heard.too_new),
        managed=tuple(heard.managed),
        not_applicable=tuple(heard.not_applicable),
        checks=tuple(dict.fromkeys(heard.checks)),
        filters={key: value for key, value in chosen.items() if value},
        exceptions=tuple(heard.exceptions),
        not_run=tuple(dict.fromkeys(heard.not_run)),
    )  # fmt: skip


__all__ = ["GLOBAL", "ReadsOnly", "Wanted", "reading_api", "scan", "select"]
