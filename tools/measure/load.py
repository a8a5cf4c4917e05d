"""Load: many requests at once, at several levels. A round meets each level, so that a slow minute meets them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tools.measure.client import Batch, ChatRequest, Reply
from tools.measure.measurement import Ask, Bench, Measurement, Objective, Taken, figure_of
from tools.measure.record import Figure, Scalar
from tools.measure.shapes import TAKES, Shape, learnt, shape
from tools.measure.timings import FORMULAS, latency_figures

WARM = "warm-up"


@dataclass(frozen=True)
class LoadPlan:
    """Levels, batches a level, and the fixed length of every reply."""

    levels: tuple[int, ...]
    batches: int
    tokens: int
    objective: Objective
    nonce: str
    prompt_tokens: int = 0
    warmup: int = 0

    @property
    def shape(self) -> Shape:
        """Of every request."""
        return Shape(self.prompt_tokens, self.tokens)

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """The shape of the part. Levels are not in it: two runs are compared at the levels that both have."""
        return {
            **self.shape.settings,
            "batches": self.batches,
            **({"warmup": self.warmup} if self.warmup else {}),
            "objective_ttft_ms": self.objective.ttft_ms,
            "objective_tpot_ms": self.objective.tpot_ms,
        }

    @property
    def steps(self) -> int:
        """One a batch, and those before the clock starts."""
        return len(self.levels) * self.batches + bool(self.prompt_tokens) + bool(self.warmup)

    def requests(self, level: int, batch: int, per_sentence: float = 1.0) -> list[ChatRequest]:
        """The requests of one batch, all different."""
        label, words = f"{level}.{batch}", f"{level} at once, batch {batch + 1}, request"
        return [
            self.shape.request(self.nonce, label, position, per_sentence, f"{words} {position + 1}")
            for position in range(level)
        ]


def plan(ask: Ask) -> LoadPlan:
    """Pure: what will be sent."""
    asked = shape(ask.options, "load.shape", ask.profile.load_tokens)
    warmup = ask.options.whole("load.warmup", 0, 0, 512)
    return LoadPlan(ask.at, ask.profile.batches, asked.output, ask.objective, ask.nonce, asked.prompt, warmup)


async def run(plan: LoadPlan, bench: Bench) -> None:
    """Round by round, the lowest level first; what warms the engine up is kept apart and is in no figure."""
    each = await learnt(bench, plan.nonce, "load: tokens a sentence") if plan.prompt_tokens else 1.0
    if plan.warmup:
        await bench.together(WARM, plan.requests(plan.warmup, -1, each), "load: warm-up, in no figure")
    for batch in range(plan.batches):
        for level in plan.levels:
            says = f"load: {level} at once, batch {batch + 1} of {plan.batches}"
            await bench.together(str(level), plan.requests(level, batch, each), says)


def throughput(batch: Batch) -> float | None:
    """Output tokens of the good replies per second of the batch; None when there was no good reply."""
    return sum(reply.tokens for reply in batch.good) / batch.wall if batch.wall > 0 else None


def figures(plan: LoadPlan, taken: Taken) -> tuple[Figure, ...]:
    """Throughput, goodput and latencies at every level."""
    found: list[Figure] = []
    for level in plan.levels:
        found += level_figures(f"load.{level}", f"{level} at once", taken.labelled(str(level)), plan.objective)
    return tuple(found)


def level_figures(
    key: str,
    label: str,
    batches: Sequence[Batch],
    objective: Objective,
    *,
    main: bool = True,
    served: tuple[str, Callable[[Batch], float | None]] = ("throughput", throughput),
) -> list[Figure]:
    """Throughput (`served`: its formula), goodput where there is an objective, and latencies of one level's batches."""
    formula, rate_of = served
    rates = tuple(rate for batch in batches if (rate := rate_of(batch)) is not None)
    found = [_rate(f"{key}.tokens_per_second", f"{label}, tokens/s", rates, formula, main=main)]
    if objective:
        found += _goodput(key, label, batches, objective)
    found += latency_figures(key, label, [batch.good for batch in batches])
    return found if main else [each.model_copy(update={"main": False}) for each in found]


def _rate(key: str, label: str, samples: tuple[float, ...], formula: str, *, main: bool = False) -> Figure:
    value = median(samples) if samples else None
    return figure_of(
        key, label, "tokens/s", value, samples, formula=formula, better="higher", main=main, why="no good reply"
    )


def _goodput(key: str, label: str, batches: Sequence[Batch], objective: Objective) -> list[Figure]:
    kept = [[keeps(reply, objective) for reply in batch.replies] for batch in batches]
    shares = tuple(100 * sum(each) / len(each) for each in kept)
    rates = tuple(
        sum(reply.tokens for reply in batch.replies if keeps(reply, objective)) / batch.wall
        for batch in batches
        if batch.wall > 0
    )
    total = sum(map(len, kept))
    share = figure_of(
        f"{key}.kept_percent",
        f"{label}, kept the objective, %",
        "%",
        100 * sum(map(sum, kept)) / total if total else None,
        shares,
        formula="kept",
        better="higher",
        n=total,
        why="no request",
    )
    return [share, _rate(f"{key}.goodput_tokens_per_second", f"{label}, goodput, tokens/s", rates, "goodput")]


def keeps(reply: Reply, objective: Objective) -> bool:
    """Whether a reply kept the objective; a failed one never does."""
    if not reply.ok:
        return False
    slow_first = objective.ttft_ms is not None and 1e3 * reply.ttft > objective.ttft_ms
    slow_rest = objective.tpot_ms is not None and reply.tpot is not None and 1e3 * reply.tpot > objective.tpot_ms
    return not slow_first and not slow_rest


LOAD_FORMULAS: Mapping[str, str] = {
    "throughput": "output tokens of the good replies (from usage) / (last token of the last good reply - first "
    "request); median over batches",
    "kept": "replies within the objective / all requests, failed ones included",
    "goodput": "output tokens of the replies within the objective / the same seconds; median over batches",
    **FORMULAS,
}

LOAD = Measurement(
    name="load",
    title="many requests at once",
    plan=plan,
    run=run,
    figures=figures,
    formulas=LOAD_FORMULAS,
    options={
        "shape": TAKES,
        "warmup": "requests at once before the first batch, in no figure; default 0",
    },
)
