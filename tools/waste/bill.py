"""What the bill shows beside the findings: services that cost and that no check of the scan looks at."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from clouds.base import Missing
from clouds.errors import CloudError
from clouds.models import Scope
from clouds.models.waste_pack import Bill
from tools.context import Clouds
from tools.waste.records import BillLine, BillView, Scan
from tools.waste.scan import ReadsOnly
from tools.waste.sight import why


def bills(clouds: Clouds, named: tuple[str, ...]) -> dict[str, tuple[Bill, Scope]]:
    """The clouds whose bill can be asked, and where."""
    found = {}
    for name in named:
        try:
            cloud = clouds.get(name)
        except CloudError:
            continue
        if not isinstance(cloud.waste, Missing) and cloud.waste.bill is not None:
            found[name] = (cloud.waste.bill, Scope(cloud.waste.home))
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
    for name, (bill, scope) in bills(clouds, named).items():
        cloud = clouds.get(name)
        days = max(days, bill.days)
        try:
            call = bill.ask(now)
            if isinstance(cloud.api, Missing):
                continue
            guarded = cloud.reading(frozenset({str(call)})) if cloud.reading is not None else cloud.api
            spent = bill.lines(ReadsOnly(guarded, frozenset({str(call)})).send(call, scope=scope))
        except CloudError as error:
            problems.append(f"{name}: {why(error)}")
            continue
        paid += bill.charge.usd
        looked = set(scan.checks)
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
