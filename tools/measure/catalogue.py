"""Every measurement, in the order in which a run walks them."""

from __future__ import annotations

from collections.abc import Sequence

from clouds.errors import InvalidInput
from tools.measure.answers import ANSWERS
from tools.measure.decode import DECODE
from tools.measure.load import LOAD
from tools.measure.measurement import Measurement

MEASUREMENTS: tuple[Measurement, ...] = (DECODE, LOAD, ANSWERS)


def chosen(names: Sequence[str]) -> tuple[Measurement, ...]:
    """The measurements of these names in the order of a run; all when none is named. Raises InvalidInput."""
    known = tuple(each.name for each in MEASUREMENTS)
    for name in names:
        if name not in known:
            raise InvalidInput(
                "measurements", f"{name[:40]!r} is not a measurement", fix=f"Known: {', '.join(known)}.", allowed=known
            )
    return tuple(each for each in MEASUREMENTS if not names or each.name in names)
