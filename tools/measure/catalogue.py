"""Every measurement, in the order in which a run walks them."""

from __future__ import annotations

from collections.abc import Sequence

from clouds.errors import InvalidInput
from tools.measure.answers import ANSWERS
from tools.measure.decisions.deciding import DECISIONS
from tools.measure.decode import DECODE
from tools.measure.drafters.drafting import DRAFTERS
from tools.measure.knee import KNEE
from tools.measure.ladder.asking import LADDER
from tools.measure.load import LOAD
from tools.measure.longcontext import LONGCONTEXT
from tools.measure.measurement import Measurement
from tools.measure.paced.pacing import PACED
from tools.measure.toolcalls.calling import TOOLCALLS
from tools.measure.toolcalls.functioning import FUNCTIONS

MEASUREMENTS: tuple[Measurement, ...] = (
    DECODE,
    LOAD,
    ANSWERS,
    KNEE,
    PACED,
    LONGCONTEXT,
    DRAFTERS,
    LADDER,
    DECISIONS,
    TOOLCALLS,
    FUNCTIONS,
)
USUAL = (DECODE, LOAD, ANSWERS)
"""What is measured when nothing is named; the others take minutes to hours and are asked for by name."""


def chosen(names: Sequence[str]) -> tuple[Measurement, ...]:
    """The measurements of these names in the order of a run; the usual ones when none is named. Raises InvalidInput."""
    known = tuple(each.name for each in MEASUREMENTS)
    for name in names:
        if name not in known:
            raise InvalidInput(
                "measurements", f"{name[:40]!r} is not a measurement", fix=f"Known: {', '.join(known)}.", allowed=known
            )
    return tuple(each for each in (MEASUREMENTS if names else USUAL) if not names or each.name in names)


def options_of(measurements: Sequence[Measurement]) -> dict[str, str]:
    """Every option of these, by full name, and what it takes."""
    return {f"{each.name}.{name}": takes for each in measurements for name, takes in each.options.items()}
