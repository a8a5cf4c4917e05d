"""The one place where a comparison becomes a word: better, worse, within noise, or cannot say."""

from __future__ import annotations

from collections.abc import Sequence

from tools.measure.statistics.mcnemar import Paired
from tools.measure.statistics.words import LEVEL, Verdict

FEWEST = 6
"""Moved items below which exact McNemar stays at or above 0.05 even when all of them moved one way (2 / 2**5)."""


def of_range(
    low: float | None,
    high: float | None,
    *,
    neutral: float = 1.0,
    higher_is_better: bool | None = True,
    drift: float | None = None,
    cannot: Sequence[str] = (),
) -> Verdict:
    """A ratio (neutral 1) or a difference (neutral 0) by its range.

    `cannot` names what forbids a verdict: another shape, two settings at once, a figure that was quoted. `drift` is
    how far the base moved by itself; a range that does not reach beyond it is noise. `higher_is_better` None is a
    figure that is neither (a size): it can only be within noise or not be judged.
    """
    if cannot:
        return Verdict(word="cannot say", why="; ".join(cannot))
    if low is None or high is None:
        return Verdict(word="cannot say", why="one pass has no spread")
    reach = abs(drift) * abs(neutral or 1.0) if drift is not None else 0.0
    if low <= neutral <= high:
        return Verdict(word="within noise", why=f"the range {low:.4g} to {high:.4g} holds {neutral:g}")
    edge = low - neutral if low > neutral else neutral - high
    if edge <= reach:
        return Verdict(word="within noise", why=f"the base itself moved by {100 * abs(drift or 0):.2g} %")
    if higher_is_better is None:
        return Verdict(word="cannot say", why="more of it is neither better nor worse")
    better = (low > neutral) == higher_is_better
    return Verdict(word="better" if better else "worse", why=f"the whole range {low:.4g} to {high:.4g} is on one side")


def of_pairs(pairs: Paired, *, cannot: Sequence[str] = ()) -> Verdict:
    """Right and wrong over the same items, by exact McNemar (with few moved items a bootstrap claims too much)."""
    if cannot:
        return Verdict(word="cannot say", why="; ".join(cannot))
    if not pairs.n:
        return Verdict(word="cannot say", why="the runs share no item")
    counts = f"{pairs.lost} lost, {pairs.gained} gained of {pairs.n}, McNemar p = {pairs.p_value:.3g}"
    if pairs.lost + pairs.gained < FEWEST:
        counts += f"; fewer than {FEWEST} moved items can never show a difference"
    if pairs.p_value >= 1 - LEVEL:
        return Verdict(word="within noise", why=counts)
    return Verdict(word="better" if pairs.gained > pairs.lost else "worse", why=counts)
