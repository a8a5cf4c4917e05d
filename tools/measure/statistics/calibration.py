"""Calibration of label probabilities: ECE beside what a perfect model would show, and one fitted temperature.

ECE: items are binned by the probability of the predicted label; the mean over items of |share right - mean
probability| of their bin. It is never zero on a finite sample, so it is shown beside the ECE that a model with exactly
these probabilities would have on as many items.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import median
from typing import Any

from clouds.errors import InvalidInput
from clouds.models import Record
from tools.measure.statistics.bootstrap import SEED

BINS = 10
BASELINE_DRAWS = 1000


class Bin(Record):
    """One bin of a reliability chart: `low` < probability <= `high`."""

    low: float
    high: float
    n: int
    mean_probability: float
    right: float
    """Share right."""


class Calibration(Record):
    """ECE of a set of reads, and the ECE that no miscalibration at all would show on as many reads."""

    n: int
    ece: float
    zero_median: float
    zero_95: float
    """95 of 100 perfectly calibrated models of this size stay below it."""
    shows: bool
    """True when the ECE is above `zero_95`: the sample shows miscalibration."""
    bins: tuple[Bin, ...]


class Temperature(Record):
    """One temperature fitted on some labels and judged on the others, over many random splits."""

    fitted_on: int
    judged_on: int
    splits: int
    temperature: float
    """Median over the splits."""
    temperature_low: float
    temperature_high: float
    ece_before: float
    """Median over the splits, on the labels that were not fitted on."""
    ece_after: float
    ece_after_low: float
    ece_after_high: float
    zero_median: float
    """ECE of a perfectly calibrated model on as many labels as were judged."""
    zero_95: float


def ece(probabilities: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """Expected calibration error with `bins` equal bins over (0, 1]."""
    p, r = _arrays(probabilities, right)
    return float(_ece(p, r.astype(float)[None, :], bins)[0])


def calibration(
    probabilities: Sequence[float], right: Sequence[bool], *, bins: int = BINS, seed: int = SEED
) -> Calibration:
    """ECE with its bins and its zero-miscalibration baseline."""
    import numpy as np

    p, r = _arrays(probabilities, right)
    value = float(_ece(p, r.astype(float)[None, :], bins)[0])
    middle, upper = _baseline(p, bins, np.random.default_rng(seed))
    which = _bin_of(p, bins)
    rows = []
    for index in range(bins):
        inside = which == index
        if inside.any():
            rows.append(
                Bin(
                    low=index / bins,
                    high=(index + 1) / bins,
                    n=int(inside.sum()),
                    mean_probability=float(p[inside].mean()),
                    right=float(r[inside].mean()),
                )
            )
    return Calibration(n=len(p), ece=value, zero_median=middle, zero_95=upper, shows=value > upper, bins=tuple(rows))


def fit_temperature(logprobs: Sequence[Sequence[float]], truths: Sequence[int]) -> float:
    """The T > 0 that makes the true labels most likely when the label log-probabilities are divided by it.

    `logprobs[i]` are those of item i's allowed labels (any additive constant), `truths[i]` the index of the true one.
    The likelihood has one peak in 1/T; T is searched between 0.05 and 20.
    """
    import numpy as np

    scores, mask, truth = _padded(logprobs, truths)

    def loss(log_t: float) -> float:
        scaled = np.where(mask, scores / exp(log_t), -np.inf)
        top = scaled.max(axis=1)
        total = top + np.log(np.exp(scaled - top[:, None]).sum(axis=1))
        return float((total - scaled[np.arange(len(truth)), truth]).mean())

    low, high = log(0.05), log(20.0)
    golden = (5**0.5 - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = loss(left), loss(right)
    while high - low > 1e-5:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = loss(right)
    return exp((low + high) / 2)


def judge_temperature(
    logprobs: Sequence[Sequence[float]],
    truths: Sequence[int],
    *,
    labels: int = 50,
    splits: int = 20,
    bins: int = BINS,
    seed: int = SEED,
) -> Temperature:
    """Fit on `labels` items drawn at random, judge on all the others, `splits` times over.

    Labels enough to fit one number are far too few to show an ECE: the judging must have hundreds.
    """
    import numpy as np

    n = len(truths)
    if not 0 < labels < n:
        raise InvalidInput("labels", f"{labels} of {n}", fix="Fit on fewer labels than there are; the rest judge.")
    scores, mask, truth = _padded(logprobs, truths)
    rng = np.random.default_rng(seed)
    fitted: list[float] = []
    before: list[float] = []
    after: list[float] = []
    zeros: list[tuple[float, float]] = []
    for _ in range(splits):
        order = rng.permutation(n)
        chosen, rest = order[:labels], order[labels:]
        temperature = fit_temperature([logprobs[i] for i in chosen], [truths[i] for i in chosen])
        fitted.append(temperature)
        for values, by in ((before, 1.0), (after, temperature)):
            p, hit = _top(scores[rest], mask[rest], truth[rest], by)
            values.append(float(_ece(p, hit.astype(float)[None, :], bins)[0]))
        zeros.append(_baseline(p, bins, rng, draws=100))
    return Temperature(
        fitted_on=labels,
        judged_on=n - labels,
        splits=splits,
        temperature=median(fitted),
        temperature_low=min(fitted),
        temperature_high=max(fitted),
        ece_before=median(before),
        ece_after=median(after),
        ece_after_low=min(after),
        ece_after_high=max(after),
        zero_median=median(zero[0] for zero in zeros),
        zero_95=median(zero[1] for zero in zeros),
    )


def _arrays(probabilities: Sequence[float], right: Sequence[bool]) -> tuple[Any, Any]:
    import numpy as np

    p, r = np.asarray(probabilities, dtype=float), np.asarray(right, dtype=bool)
    if not len(p) or p.shape != r.shape or not ((p >= 0) & (p <= 1)).all():
        raise InvalidInput(
            "probabilities", "one probability in 0..1 per answer is needed", fix="Give both lists, not empty."
        )
    return p, r


def _bin_of(p: Any, bins: int) -> Any:
    import numpy as np

    return np.clip(np.ceil(p * bins).astype(int) - 1, 0, bins - 1)


def _ece(p: Any, hits: Any, bins: int) -> Any:
    """ECE of every row of `hits` (draws x items) against the same probabilities."""
    import numpy as np

    member = np.eye(bins)[_bin_of(p, bins)]
    return np.abs((hits - p) @ member).sum(axis=1) / len(p)


def _baseline(p: Any, bins: int, rng: Any, draws: int = BASELINE_DRAWS) -> tuple[float, float]:
    import numpy as np

    values = []
    step = max(1, 4_000_000 // len(p))
    for start in range(0, draws, step):
        hits = (rng.random((min(step, draws - start), len(p))) < p).astype(float)
        values.append(_ece(p, hits, bins))
    return float(np.median(np.concatenate(values))), float(np.percentile(np.concatenate(values), 95))


def _padded(logprobs: Sequence[Sequence[float]], truths: Sequence[int]) -> tuple[Any, Any, Any]:
    """Items may have different numbers of labels: a rectangle of scores, and which cells are labels."""
    import numpy as np

    if not logprobs or len(logprobs) != len(truths):
        raise InvalidInput("truths", "one true label per item is needed", fix="Give both lists, not empty.")
    width = max(len(row) for row in logprobs)
    scores = np.zeros((len(logprobs), width))
    mask = np.zeros((len(logprobs), width), dtype=bool)
    for index, row in enumerate(logprobs):
        scores[index, : len(row)] = row
        mask[index, : len(row)] = True
    truth = np.asarray(truths, dtype=int)
    inside = (truth >= 0) & (truth < width)
    if not (inside & mask[np.arange(len(truth)), np.where(inside, truth, 0)]).all():
        raise InvalidInput("truths", "a true label is not among its item's labels", fix="Give indices of labels.")
    return scores, mask, truth


def _top(scores: Any, mask: Any, truth: Any, temperature: float) -> tuple[Any, Any]:
    """Probability of the most likely label, and whether it is the true one."""
    import numpy as np

    scaled = np.where(mask, scores / temperature, -np.inf)
    weights = np.exp(scaled - scaled.max(axis=1)[:, None])
    chances = weights / weights.sum(axis=1)[:, None]
    best = chances.argmax(axis=1)
    return chances[np.arange(len(best)), best], best == truth
