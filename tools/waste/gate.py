"""Exit codes for CI: `server.py call scan_waste … --fail-on-usd 100 --fail-on-incomplete`.

0  below the amount, and everything was looked at        5  the amount is reached or passed
6  not everything could be looked at (whatever was found: a partial scan never passes a gate)

The amount is the sum of what has a price. How many findings have none, and so are not counted, is said beside it, and
how much of it is an upper or a lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.waste.report.words import amount_words

OVER = 5
INCOMPLETE = 6


def exit_code(answer: Mapping[str, Any], *, fail_on_usd: float | None, fail_on_incomplete: bool) -> int:
    """The exit code for the structured answer of scan_waste; 0 where no gate is set."""
    if fail_on_usd is None and not fail_on_incomplete:
        return 0
    if fail_on_usd is not None and float(answer.get("usd_per_month", 0.0)) >= fail_on_usd:
        return OVER
    return 0 if answer.get("complete") is True else INCOMPLETE


def verdict(answer: Mapping[str, Any], *, fail_on_usd: float | None, fail_on_incomplete: bool) -> str:
    """What the gates found, in a line for a person; "" where no gate is set. Findings without a price are counted."""
    code = exit_code(answer, fail_on_usd=fail_on_usd, fail_on_incomplete=fail_on_incomplete)
    if fail_on_usd is None and not fail_on_incomplete:
        return ""
    usd, without = float(answer.get("usd_per_month", 0.0)), int(answer.get("without_price", 0))
    parts = []
    if fail_on_usd is not None:
        bounds = (float(answer.get(f"usd_{word}", 0.0)) for word in ("at_most", "at_least"))
        amount = amount_words(usd, *bounds)
        comma = "," if ", of it" in amount else ""
        parts.append(f"{amount}{comma} {'reaches' if code == OVER else 'is below'} ${fail_on_usd:,.2f}")
    if without:
        several = "findings have no price and are" if without > 1 else "finding has no price and is"
        parts.append(f"{without:,} {several} not counted, so the true amount may be higher")
    parts.append("everything was looked at" if answer.get("complete") is True else "not everything could be looked at")
    return f"Gate {'passed' if code == 0 else f'failed with {code}'}: {'; '.join(parts)}."
