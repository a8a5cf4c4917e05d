"""Times from when requests were due, what was served, and up to which rate the endpoint kept up."""

from __future__ import annotations

from collections.abc import Sequence

from tools.measure.client import Batch, Reply
from tools.measure.measurement import Objective, Taken, figure_of
from tools.measure.paced.plan import CLOSED, MOST_REQUESTS, PacedPlan
from tools.measure.record import Better, Figure
from tools.measure.stats import percentile

SLICES = 3
"""Parts of the window from which a figure has its samples."""
KEPT_UP = 0.95
"""Of what was due, so much must have been answered."""
FORMULAS = {
    "closed": "good replies / (last token - first request), so many at a time",
    "closed_ttft": "first delta - request handed to the socket",
    "closed_seconds": "last delta - request handed to the socket",
    "due": "requests that were due / seconds of the window",
    "paced_ttft": "first delta - moment at which the request was due; samples are thirds of the window",
    "paced_whole": "last delta - moment at which the request was due; samples are thirds of the window",
    "paced_tokens": "output tokens of the good replies / the longer of the window and (last token - first due)",
    "late": "moment a request was sent - moment it was due: the client's own lateness and its wait for a place",
    "paced_kept": "replies within the objective, TTFT from when due / all requests, failed ones included",
    "paced_goodput": "replies within the objective, TTFT from when due / the same seconds",
    "kept_up": "the highest rate at which 95 % were answered and the median TTFT of the window's second half was "
    "not more than twice (and 50 ms over) that of its first",
}


def figures(plan: PacedPlan, taken: Taken) -> tuple[Figure, ...]:
    """The closed loop's times, each rate's times from when requests were due, and up to which rate it kept up."""
    rows: list[Figure] = []
    for batch in taken.labelled(CLOSED):
        served = len(batch.good) / batch.wall if batch.wall > 0 else None
        label = f"closed loop, {plan.streams} at once"
        key = "paced.closed.per_second"
        rows.append(_figure(key, f"{label}, requests/s", "requests/s", served, "closed", "higher", main=True))
        rows += _times("paced.closed", label, batch.good, [batch.good], from_due=False)
    alone = len(rows)
    kept: list[float] = []
    for rate in sorted(plan.rates):
        for batch in taken.labelled(plan.name(rate)):
            rows += _of_rate(plan, rate, batch)
            if kept_up(batch, plan.seconds):
                kept.append(len(batch.replies) / _window(batch, plan.seconds))
    highest = _figure(
        "paced.kept_up_per_second",
        "open loop, keeps up with, requests/s",
        "requests/s",
        max(kept, default=None),
        "kept_up",
        "higher",
        main=bool(kept),
        why="it kept up with none of these rates" if len(rows) > alone else "no rate was tried: no good reply",
    )
    return (highest, *rows)


def _of_rate(plan: PacedPlan, rate: float, batch: Batch) -> list[Figure]:
    key = f"paced.{plan.name(rate)}"
    label = f"{rate:g} % of the closed loop" if plan.shares else f"{rate:g} requests/s"
    window = _window(batch, plan.seconds)
    answered = [reply for reply in batch.replies if arrived(reply)]
    end = max((reply.last for reply in answered), default=0.0)
    begun = min((reply.due for reply in batch.replies), default=0.0)
    total = max(end - begun, window)
    parts = _slices(batch, window)
    rows = [
        _figure(f"{key}.due_per_second", f"{label}, due, requests/s", "requests/s", len(batch.replies) / window, "due"),
        _figure(
            f"{key}.tokens_per_second",
            f"{label}, tokens/s",
            "tokens/s",
            sum(reply.tokens for reply in batch.good) / total if answered else None,
            "paced_tokens",
            "higher",
        ),
        *_times(key, label, answered, [[r for r in some if arrived(r)] for some in parts], from_due=True),
        _late(key, label, batch),
    ]
    if plan.objective:
        rows += _goodput(key, label, batch, plan.objective, parts, total)
    return rows


def _times(
    key: str, label: str, replies: Sequence[Reply], parts: Sequence[Sequence[Reply]], *, from_due: bool
) -> list[Figure]:
    found = []
    for name, words, formula in (("ttft", "TTFT", "paced_ttft"), ("seconds", "whole reply", "paced_whole")):
        for quantile, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            values = [_value(name, reply, from_due=from_due) for reply in replies]
            samples = [[_value(name, reply, from_due=from_due) for reply in some] for some in parts if some]
            found.append(
                figure_of(
                    f"{key}.{name}_{quantile}_ms",
                    f"{label}, {words} {quantile}" + (" from when due" if from_due else ""),
                    "ms",
                    percentile(values, q) if values else None,
                    tuple(percentile(some, q) for some in samples),
                    formula=formula if from_due else f"closed_{name}",
                    better="lower",
                    n=len(values),
                    why="no reply",
                )
            )
    return found


def _value(name: str, reply: Reply, *, from_due: bool) -> float:
    start = reply.due if from_due else reply.sent
    return 1e3 * ((reply.first if name == "ttft" else reply.last) - start)


def _late(key: str, label: str, batch: Batch) -> Figure:
    late = [1e3 * (reply.sent - reply.due) for reply in batch.replies if reply.sent]
    value = percentile(late, 0.99) if late else None
    return _figure(f"{key}.sent_late_p99_ms", f"{label}, sent late p99", "ms", value, "late", why="nothing was sent")


def keeps_from_due(reply: Reply, objective: Objective) -> bool:
    """Whether a reply kept the objective, its first token counted from when it was due."""
    if not reply.ok:
        return False
    slow = objective.ttft_ms is not None and 1e3 * (reply.first - reply.due) > objective.ttft_ms
    each = objective.tpot_ms is not None and reply.tpot is not None and 1e3 * reply.tpot > objective.tpot_ms
    return not slow and not each


def _goodput(
    key: str, label: str, batch: Batch, objective: Objective, parts: Sequence[Sequence[Reply]], total: float
) -> list[Figure]:
    good = [reply for reply in batch.replies if keeps_from_due(reply, objective)]
    shares = tuple(100 * sum(keeps_from_due(r, objective) for r in some) / len(some) for some in parts if some)
    share = 100 * len(good) / len(batch.replies) if batch.replies else None
    return [
        figure_of(
            f"{key}.kept_percent",
            f"{label}, kept the objective, %",
            "%",
            share,
            shares,
            formula="paced_kept",
            better="higher",
            n=len(batch.replies),
        ),
        _figure(
            f"{key}.goodput_per_second",
            f"{label}, goodput, requests/s",
            "requests/s",
            len(good) / total,
            "paced_goodput",
            "higher",
        ),
    ]


def arrived(reply: Reply) -> bool:
    """A reply that came to its end, however long it stood still: who waited for it waited that long."""
    return reply.ok or (reply.kind == "stalled" and bool(reply.finish))


def kept_up(batch: Batch, seconds: float) -> bool:
    """Whether the queue did not grow: nearly all answered, and the second half not twice as late as the first."""
    replies = [reply for reply in batch.replies if arrived(reply)]
    if not replies or len(replies) < KEPT_UP * len(batch.replies):
        return False
    begun = min(reply.due for reply in replies)
    half = begun + _window(batch, seconds) / 2
    early = [reply.first - reply.due for reply in replies if reply.due <= half]
    late = [reply.first - reply.due for reply in replies if reply.due > half]
    usual = max(percentile(early, 0.5), 0.001) if early else 0.0
    return not late or percentile(late, 0.5) <= 2 * usual + 0.05


def _window(batch: Batch, seconds: float) -> float:
    """The window that was really used: shorter where the number of requests was capped."""
    if len(batch.replies) < MOST_REQUESTS:
        return float(seconds)
    dues = [reply.due for reply in batch.replies]
    return max(dues) - min(dues) or float(seconds)


def _slices(batch: Batch, window: float) -> list[list[Reply]]:
    begun = min((reply.due for reply in batch.replies), default=0.0)
    found: list[list[Reply]] = [[] for _ in range(SLICES)]
    for reply in batch.replies:
        found[min(SLICES - 1, int(SLICES * (reply.due - begun) / window))].append(reply)
    return found


def _figure(
    key: str,
    label: str,
    unit: str,
    value: float | None,
    formula: str,
    better: Better = "",
    *,
    main: bool = False,
    why: str = "no good reply",
) -> Figure:
    return figure_of(key, label, unit, value, (), formula=formula, better=better, main=main, n=1, why=why)
