"""Concurrency to the knee: twice as many at once, and again, until that no longer serves more.

Beyond the knee each request only waits longer. Levels are found, not given: a fast endpoint is not cut short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from tools.measure.client import Batch, Reply
from tools.measure.load import LOAD_FORMULAS, WARM, keeps, level_figures, throughput
from tools.measure.measurement import Ask, Bench, Measurement, Objective, Taken, figure_of
from tools.measure.record import Figure, Scalar
from tools.measure.shapes import TAKES, Shape, learnt, shape

ROUNDS = 2
"""Requests a stream of a batch. With one, an engine of 24 places would serve 32 at once in two goes, the second of
eight: as if it served no more than 16."""
ENOUGH_KEPT = 99
"""Per cent of replies that must keep the objective at a level that is said to keep it."""
BROKEN = 0.5
"""Failed requests of a level, as a share, after which no higher one is tried."""


@dataclass(frozen=True)
class KneePlan:
    """How far it may go, and how little more is no more."""

    most: int
    gain: int
    batches: int
    kept: int
    shape: Shape
    objective: Objective
    nonce: str

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """The shape of the part."""
        return {
            **self.shape.settings,
            "most": self.most,
            "gain_percent": self.gain,
            "batches": self.batches,
            "objective_ttft_ms": self.objective.ttft_ms,
            "objective_tpot_ms": self.objective.tpot_ms,
        }

    @property
    def levels(self) -> tuple[int, ...]:
        """1, 2, 4 and so on; it may stop before the last."""
        found = [1]
        while found[-1] * 2 <= self.most:
            found.append(found[-1] * 2)
        return tuple(found)

    @property
    def steps(self) -> int:
        """One a level at most, the warm-up, and the sample of a long prompt."""
        return len(self.levels) + 1 + bool(self.shape.prompt)


def plan(ask: Ask) -> KneePlan:
    """Pure: what will be sent at most."""
    options = ask.options
    return KneePlan(
        most=options.whole("knee.most", 256, 1, 512),
        gain=options.whole("knee.gain", 10, 1, 90),
        batches=options.whole("knee.batches", 2, 1, 10),
        kept=options.whole("knee.kept", ENOUGH_KEPT, 1, 100),
        shape=shape(options, "knee.shape", ask.profile.load_tokens),
        objective=ask.objective,
        nonce=ask.nonce,
    )


async def run(plan: KneePlan, bench: Bench) -> None:
    """Warm up, then double until a level serves no more than the one before, or half of it fails."""
    each = await learnt(bench, plan.nonce, "knee: tokens a sentence") if plan.shape.prompt else 1.0
    warm = [plan.shape.request(plan.nonce, "warm", at, each) for at in range(2)]
    await bench.together(WARM, warm, "knee: warm-up, in no figure")
    before = 0.0
    for level in plan.levels:
        batches = []
        for batch in range(plan.batches):
            requests = [plan.shape.request(plan.nonce, f"{level}.{batch}", at, each) for at in range(ROUNDS * level)]
            batches.append(await bench.client.in_flight(requests, level, read_later=True))
        for position, batch_ in enumerate(batches):
            bench.taken.batches.append((str(level), level, batch_))
            if position == len(batches) - 1:
                bench.stepped(f"knee: {level} at once")
        rate = _rate(batches)
        failed = sum(not reply.ok for each_ in batches for reply in each_.replies) / (ROUNDS * level * plan.batches)
        if failed > BROKEN or rate < before * (1 + plan.gain / 100):
            return
        before = rate


def served(batch: Batch) -> float | None:
    """Output tokens a second while every place was taken: until the last request was sent. None: no good reply."""
    begun = min(reply.sent for reply in batch.replies)
    end = max(reply.sent for reply in batch.replies)
    if not batch.good or end <= begun:
        return throughput(batch)
    return sum(_until(reply, end) for reply in batch.good) / (end - begun)


def _until(reply: Reply, end: float) -> float:
    """Tokens of a reply that had come by then."""
    stamps = accumulate(reply.gaps, initial=reply.first)
    return reply.tokens_per_chunk * sum(stamp <= end for stamp in stamps)


def _rate(batches: list[Batch]) -> float:
    rates = [rate for batch in batches if (rate := served(batch)) is not None]
    return median(rates) if rates else 0.0


def figures(plan: KneePlan, taken: Taken) -> tuple[Figure, ...]:
    """The knee, what it serves, the most at once that keeps the objective, and every level that was tried."""
    tried = {level: batches for level in plan.levels if (batches := taken.labelled(str(level)))}
    rates = {level: _rate(batches) for level, batches in tried.items()}
    knee = _knee(plan, rates)
    samples = tuple(rate for batch in tried.get(knee or 0, ()) if (rate := served(batch)) is not None)
    why = f"throughput still grew at {max(rates, default=0)} at once, the most that was tried"
    why = "" if knee else why if any(rates.values()) else "no good reply"
    highest = max(rates, key=lambda level: rates[level], default=0)
    rows = [
        figure_of(
            "knee.at_once",
            "knee, at once",
            "requests",
            knee,
            (),
            formula="knee",
            better="higher",
            main=knee is not None,
            n=1,
            why=why,
        ),
        figure_of(
            "knee.tokens_per_second",
            "at the knee, tokens/s",
            "tokens/s",
            rates.get(knee) if knee else None,
            samples,
            formula="served",
            better="higher",
            why=why,
        ),
        figure_of(
            "knee.highest_tokens_per_second",
            "highest, tokens/s",
            "tokens/s",
            rates.get(highest) or None,
            tuple(rate for batch in tried.get(highest, ()) if (rate := served(batch)) is not None),
            formula="served",
            better="higher",
            main=True,
            why="no good reply",
        ),
    ]
    if plan.objective:
        rows.append(_within(plan, tried))
    for level, batches in tried.items():
        key, label = f"knee.{level}", f"{level} at once"
        rows += level_figures(key, label, batches, plan.objective, main=False, served=("served", served))
    return tuple(rows)


def _knee(plan: KneePlan, rates: Mapping[int, float]) -> int | None:
    """The last level that served more than the one before by the gain; None while every one tried did."""
    before = 0.0
    last = None
    for level in sorted(rates):
        if rates[level] < before * (1 + plan.gain / 100):
            return last
        before, last = rates[level], level
    return None


def _within(plan: KneePlan, tried: Mapping[int, list[Batch]]) -> Figure:
    kept = None
    for level, batches in sorted(tried.items()):
        replies = [reply for batch in batches for reply in batch.replies]
        if not replies or 100 * sum(keeps(each, plan.objective) for each in replies) / len(replies) < plan.kept:
            break
        kept = level
    return figure_of(
        "knee.within_objective_at_once",
        f"{plan.kept} % within the objective up to, at once",
        "requests",
        kept,
        (),
        formula="within",
        better="higher",
        n=1,
        why="not even one at a time kept it",
    )


KNEE = Measurement(
    name="knee",
    title="concurrency to the knee",
    plan=plan,
    run=run,
    figures=figures,
    formulas={
        "knee": "the last level that served more than the level before by the gain, at twice as many at once",
        "served": "output tokens of the good replies that came until the last request was sent / those seconds, in "
        "which every place was taken; median over batches",
        "within": "the highest level up to which, at every level, so many per cent of all requests kept the objective",
        **LOAD_FORMULAS,
    },
    options={
        "most": "at once, at most; default 256",
        "gain": "per cent that twice as many must add; default 10",
        "batches": "a level, of two requests a stream; default 2",
        "kept": "per cent of replies that must keep the objective; default 99",
        "shape": TAKES,
    },
)
