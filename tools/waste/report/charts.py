"""Bars as inline SVG: no script, no font, no request."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from tools.waste.records import Sum

SHOWN = 10


def bars(title: str, sums: Mapping[str, Sum], names: Mapping[str, str]) -> str:
    """The dearest groups as horizontal bars; the rest is one bar, so that all bars make the total."""
    ranked = list(sums.items())
    rows = [(names.get(key, key), each.usd_per_month, each.findings) for key, each in ranked[:SHOWN]]
    if len(ranked) > SHOWN:
        rest = [each for _, each in ranked[SHOWN:]]
        rows.append(
            (
                f"{len(rest)} more",
                round(sum(each.usd_per_month for each in rest), 2),
                sum(each.findings for each in rest),
            )
        )
    if not rows:
        return ""
    most = max(0.01, *(usd for _, usd, _ in rows))
    lines = [
        f'<li><span>{escape(name)}</span><span class="n">{count:,} · ${usd:,.2f}</span>'
        '<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="8"/>'
        f'<rect width="{max(0.0, usd) / most * 100:.2f}" height="8"/></svg></li>'
        for name, usd, count in rows
    ]
    return f'<ul class="bars" aria-label="{escape(title)}">{"".join(lines)}</ul>'
