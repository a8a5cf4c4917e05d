"""Quantiles of Student's t, so that ranges of a few passes need no scientific package."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p

_TINY = 1e-300


@lru_cache(maxsize=1024)
def t_quantile(share: float, freedom: float) -> float:
    """The value below which `share` (0.5 < share < 1) of a t distribution with `freedom` degrees lies."""
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < share:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, freedom) < share else (low, middle)
    return (low + high) / 2


def t_cdf(value: float, freedom: float) -> float:
    """The share of a t distribution at or below a value >= 0."""
    return 1 - 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + value * value))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta by its continued fraction (Lentz), on the side where it converges quickly."""
    if x in (0.0, 1.0):
        return x
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x > (a + 1) / (a + b + 2):
        return 1 - front * _fraction(b, a, 1 - x) / b
    return front * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / (_nonzero(1 - (a + b) * x / (a + 1)))
    result = d
    for m in range(1, 300):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _nonzero(1 + term * d)
            c = _nonzero(1 + term / c)
            step = c * d
            result *= step
        if abs(step - 1) < 1e-14:
            break
    return result


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
