"""What the bill shows beside the findings: services that cost and that no check of the scan looks at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from clouds.base import Cloud, Missing
from clouds.errors import CloudError, Throttled
from clouds.models import Scope
from clouds.models.waste_pack import Bill, WastePack
from tools.context import Clouds
from tools.waste.records import BillLine, BillView, Scan
from tools.waste.scan import ReadsOnly
from tools.waste.sight import why


def bills(clouds: Clouds, named: tuple[str, ...]) -> dict[str, tuple[Bill, WastePack]]:
    """The clouds whose bill can be asked."""
    found = {}
    for name in named:
        try:
            cloud = clouds.get(name)
        except CloudError:
            continue
        if not isinstance(cloud.waste, Missing) and cloud.waste.bill is not None:
            found[name] = (cloud.waste.bill, cloud.waste)
    return found


def cost_words(clouds: Clouds, named: tuple[str, ...]) -> str:
    """What asking costs, said before it is asked."""
    asked = bills(clouds, named)
    if not asked:
        return "no cloud named has one that can be asked"
    return ", ".join(f"{name} ${bill.charge.usd:g} a {bill.charge.unit}" for name, (bill, _) in asked.items())


def added(scan: Scan, clouds: Clouds, named: tuple[str, ...], now: datetime) -> Scan:
    """The scan with what the bills show. A bill that cannot be read is named; the scan stays as it is."""
    lines: list[BillLine] = []
    problems: list[str] = []
    total = covered = paid = 0.0
    days = 0
    looked = set(scan.checks)
    for name, (bill, pack) in bills(clouds, named).items():
        days = max(days, bill.days)
        spent, asked, wrong = _spent(clouds.get(name), bill, _scopes(scan, name, bill, pack), now)
        problems += [f"{name}: {word}" for word in wrong]
        paid += bill.charge.usd * asked
        for service, usd in spent.items():
            total += usd
            if any(
                check == word or check.startswith(f"{word}-")
                for word in bill.covered.get(service, ())
                for check in looked
            ):
                covered += usd
            elif usd >= 0.01:
                lines.append(BillLine(name, service, round(usd, 2)))
    lines.sort(key=lambda line: -line.usd)
    view = BillView(days, round(total, 2), round(covered, 2), round(paid, 4), tuple(lines), "; ".join(problems))
    effort = replace(scan.effort, usd=round(scan.effort.usd + paid, 6))
    return replace(scan, bill=view, effort=effort)


def _scopes(scan: Scan, cloud: str, bill: Bill, pack: WastePack) -> Sequence[Scope]:
    """Where a bill is asked: once for the account, or in every place that the scan looked at."""
    if not bill.each_place:
        return (Scope(pack.home),)
    ends = [end for end in scan.scopes if end.cloud == cloud]
    places = sorted({pack.place_of(end.location, end.account) for end in ends})
    account = ends[0].account if ends else ""
    return [pack.scope(place, account) for place in places if place]


def _spent(
    cloud: Cloud, bill: Bill, scopes: Sequence[Scope], now: datetime
) -> tuple[Mapping[str, float], int, Sequence[str]]:
    """US dollars by service over all scopes, how many answered, and what could not be read.

    Once a cloud says that it is asked too often, the rest is not asked: each would wait as long.
    """
    spent: dict[str, float] = {}
    answered, wrong = 0, list[str]()
    for place, scope in enumerate(scopes):
        where = f"{scope.account}: " if bill.each_place else ""
        try:
            call = bill.ask(now, scope)
            if isinstance(cloud.api, Missing):
                break
            allow = frozenset({str(call)})
            guarded = cloud.reading(allow) if cloud.reading is not None else cloud.api
            for service, usd in bill.lines(ReadsOnly(guarded, allow).send(call, scope=scope)).items():
                spent[service] = spent.get(service, 0.0) + usd
            answered += 1
        except CloudError as error:
            wrong.append(f"{where}{why(error)}")
            if isinstance(error, Throttled) and place + 1 < len(scopes):
                wrong.append(f"{len(scopes) - place - 1:,} more were not asked; repeat the scan in some minutes")
                break
    return spent, answered, _few(wrong)


def _few(problems: Sequence[str], most: int = 5) -> Sequence[str]:
    """The first of them, and how many more there are."""
    more = len(problems) - most
    return problems if more <= 0 else [*problems[:most], f"{more:,} more bills were not read"]
