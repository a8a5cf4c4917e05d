"""Bars as inline SVG: no script, no font, no request."""

from __future__ import annotations

from collections.abc import Mapping

from tools.page import line
from tools.waste.records import Sum
from tools.waste.report.words import money
from tools.waste.summing import bound, joined

SHOWN = 10


def bars(title: str, sums: Mapping[str, Sum], names: Mapping[str, str]) -> str:
    """The dearest groups as horizontal bars; the rest is one bar, so that all bars make the total."""
    ranked = list(sums.items())
    rows = [(names.get(key, key), each) for key, each in ranked[:SHOWN]]
    if len(ranked) > SHOWN:
        rows.append((f"{len(ranked) - SHOWN} more", joined(each for _, each in ranked[SHOWN:])))
    if not rows:
        return ""
    most = max(0.01, *(each.usd_per_month for _, each in rows))
    lines = [
        f'<li><span>{line(name)}</span><span class="n">{_amount(each)}</span>'
        '<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="8"/>'
        f'<rect width="{max(0.0, each.usd_per_month) / most * 100:.2f}" height="8"/></svg></li>'
        for name, each in rows
    ]
    return f'<ul class="bars" aria-label="{line(title)}">{"".join(lines)}</ul>'


def _amount(one: Sum) -> str:
    return f"{one.findings:,} · {money(one.usd_per_month)} {bound(one)}".rstrip()
