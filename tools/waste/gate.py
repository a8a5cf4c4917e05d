"""Exit codes for CI: `server.py call scan_waste … --fail-on-usd 100 --fail-on-incomplete`.

0  below the amount, and everything was looked at        5  the amount is reached or passed
6  not everything could be looked at (whatever was found: a partial scan never passes a gate)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OVER = 5
INCOMPLETE = 6


def exit_code(answer: Mapping[str, Any], *, fail_on_usd: float | None, fail_on_incomplete: bool) -> int:
    """The exit code for the structured answer of scan_waste; 0 where no gate is set."""
    if fail_on_usd is None and not fail_on_incomplete:
        return 0
    if fail_on_usd is not None and float(answer.get("usd_per_month", 0.0)) >= fail_on_usd:
        return OVER
    return 0 if answer.get("complete") is True else INCOMPLETE
