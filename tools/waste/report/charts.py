"""Bars as inline SVG: no script, no font, no request."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from tools.waste.records import Sum

SHOWN = 10
_WIDTH, _ROW, _BAR = 560, 40, 10


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
    most = max(max(usd for _, usd, _ in rows), 0.01)
    height = len(rows) * _ROW
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}: '
        + escape(", ".join(f"{name} ${usd:,.2f}" for name, usd, _ in rows))
        + '">'
    ]
    for number, (name, usd, count) in enumerate(rows):
        top = number * _ROW
        width = max(0.0, usd) / most * _WIDTH
        parts.append(
            f'<text x="0" y="{top + 15}">{escape(_cut(name))}</text>'
            f'<text x="{_WIDTH}" y="{top + 15}" text-anchor="end" class="n">{count:,} · ${usd:,.2f}</text>'
            f'<rect class="track" x="0" y="{top + 21}" width="{_WIDTH}" height="{_BAR}" rx="3"/>'
            f'<rect x="0" y="{top + 21}" width="{width:.1f}" height="{_BAR}" rx="3"/>'
        )
    return "".join([*parts, "</svg>"])


def _cut(name: str) -> str:
    return name if len(name) <= 52 else f"{name[:51]}…"
