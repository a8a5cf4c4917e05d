"""Drafters: six kinds of prompt one at a time, then mixed at several levels. One run is one setting of the drafter.

The sweep over drafted tokens is a walk over variants, one server each, the base without a drafter first and last;
`sweep` lines the runs up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from statistics import median

from clouds.errors import InvalidInput
from tools.measure.client import Batch, ChatRequest
from tools.measure.drafters.counters import counted, counters
from tools.measure.drafters.prompts import KINDS
from tools.measure.drafters.steps import FORMULAS, Steps, steps_of
from tools.measure.load import WARM, throughput
from tools.measure.measurement import Ask, Bench, Measurement, Taken, figure_of
from tools.measure.record import Better, Figure, Scalar
from tools.measure.statistics.kinds import geometric_mean

UNTOLD = "the engine does not report its drafts, or worked for somebody else meanwhile"
Number = Callable[[Steps], float | None]


@dataclass(frozen=True)
class DraftersPlan:
    """Kinds of prompt, how often each, how long the replies, and the levels of the mixed load."""

    kinds: tuple[str, ...]
    repeats: int
    tokens: int
    levels: tuple[int, ...]

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """The shape of the part. Levels are not in it: two runs are compared at those that both have."""
        return {"kinds": ", ".join(self.kinds), "repeats": self.repeats, "tokens": self.tokens}

    @property
    def steps(self) -> int:
        """One a batch, and the warm-up."""
        return 1 + self.repeats * (len(self.kinds) + len(self.levels))

    def request(self, kind: str, position: int = 0) -> ChatRequest:
        """The same words in every run: what a drafter guesses depends on them."""
        return ChatRequest(KINDS[kind], self.tokens, label=f"{kind} {position + 1}", fixed_length=True)


def plan(ask: Ask) -> DraftersPlan:
    """Pure: what will be sent."""
    options = ask.options
    given = options.text("drafters.kinds", ",".join(KINDS))
    kinds = tuple(dict.fromkeys(each.strip() for each in given.split(",")))
    if unknown := [each for each in kinds if each not in KINDS]:
        fix = f"Use {', '.join(KINDS)}."
        raise InvalidInput(
            "options", f"drafters.kinds={unknown[0][:40]} is no kind of text", fix=fix, allowed=tuple(KINDS)
        )
    default = ask.profile.load_tokens
    return DraftersPlan(
        kinds=kinds,
        repeats=options.whole("drafters.repeats", 3, 1, 20),
        tokens=options.whole("drafters.tokens", default, 8, 8_192),
        levels=tuple(level for level in ask.at if level > 1),
    )


async def run(plan: DraftersPlan, bench: Bench) -> None:
    """A warm-up that is in no figure; then round by round each kind alone, and each level with the kinds in turn."""
    await bench.together(WARM, [plan.request(plan.kinds[0])], "drafters: warm-up, in no figure")
    for repeat in range(plan.repeats):
        for kind in plan.kinds:
            says = f"drafters: {kind}, {repeat + 1} of {plan.repeats}"
            await _batch(bench, f"kind {kind}", [plan.request(kind)], says)
        for level in plan.levels:
            requests = [plan.request(kind, at) for at, kind in enumerate(islice(cycle(plan.kinds), level))]
            says = f"drafters: {level} at once, {repeat + 1} of {plan.repeats}"
            await _batch(bench, f"at {level}", requests, says)


async def _batch(bench: Bench, label: str, requests: Sequence[ChatRequest], says: str) -> None:
    """One batch with what the engine counted meanwhile; nothing is being timed while that is read."""
    before = await counters(bench.client)
    batch = await bench.client.together(requests)
    bench.keep(label, len(requests), await counted(bench.client, batch, before), says)


def figures(plan: DraftersPlan, taken: Taken) -> tuple[Figure, ...]:
    """Speed by kind and in all, what the drafter did, and throughput by level."""
    alone = {kind: taken.labelled(f"kind {kind}") for kind in plan.kinds}
    rates = {kind: [_rate(batch) for batch in batches] for kind, batches in alone.items()}
    rows = [_geometric(rates)]
    for kind, each in rates.items():
        samples = tuple(rate for rate in each if rate is not None)
        key, label = f"drafters.{kind}.tokens_per_second", f"{kind}, tokens/s"
        rows.append(_speed(key, label, samples, "drafters_kind"))
    rows += _drafting("drafters", "drafters", [list(each) for each in zip(*alone.values(), strict=False)])
    for kind, batches in alone.items():
        rows.append(_told(f"drafters.{kind}.tokens_per_step", f"{kind}, tokens a step", batches))
    for level in plan.levels:
        batches = taken.labelled(f"at {level}")
        key, label = f"drafters.at_{level}", f"drafters, {level} at once"
        totals = tuple(rate for batch in batches if (rate := throughput(batch)) is not None)
        rows.append(_speed(f"{key}.tokens_per_second", f"{label}, tokens/s", totals, "drafters_load"))
        rows += _drafting(key, label, [[each] for each in batches])
    return tuple(rows)


def _rate(batch: Batch) -> float | None:
    found = [1 / reply.tpot for reply in batch.good if reply.tpot]
    return median(found) if found else None


def _geometric(rates: Mapping[str, Sequence[float | None]]) -> Figure:
    """A repeat in which a kind failed has no mean: it would be one of other prompts."""
    rounds = [[rate for rate in each if rate is not None] for each in zip(*rates.values(), strict=False)]
    samples = tuple(geometric_mean(each) for each in rounds if len(each) == len(rates))
    return _speed("drafters.tokens_per_second", "drafters, tokens/s", samples, "drafters_rate", main=True)


def _speed(key: str, label: str, samples: tuple[float, ...], formula: str, *, main: bool = False) -> Figure:
    value = median(samples) if samples else None
    return figure_of(
        key, label, "tokens/s", value, samples, formula=formula, better="higher", main=main, why="no good reply"
    )


def _drafting(key: str, label: str, repeats: Sequence[Sequence[Batch]]) -> list[Figure]:
    """What the drafter did; a sample a repeat."""
    rows: tuple[tuple[str, str, str, str, Better, Number], ...] = (
        ("tokens_per_step", "tokens a step", "tokens", "tokens_per_step", "higher", lambda s: s.tokens_per_step),
        ("kept_percent", "guesses kept, %", "%", "kept", "higher", lambda s: s.kept_percent),
        ("drafted_per_step", "guesses a step", "tokens", "drafted_per_step", "", lambda s: s.drafted_per_step),
        ("step_ms", "a step, ms", "ms", "step", "lower", lambda s: s.step_ms),
    )
    told = [steps_of(batches) for batches in repeats]
    pooled = steps_of([batch for batches in repeats for batch in batches])
    found = []
    for name, words, unit, formula, better, number in rows:
        value = number(pooled) if pooled else None
        samples = tuple(each for one in told if one and (each := number(one)) is not None)
        why = UNTOLD if pooled is None else "nothing was drafted"
        found.append(
            figure_of(
                f"{key}.{name}",
                f"{label}, {words}",
                unit,
                value,
                samples if value is not None else (),
                formula=formula,
                better=better,
                why=why,
            )
        )
    return found


def _told(key: str, label: str, batches: Sequence[Batch]) -> Figure:
    pooled = steps_of(batches)
    value = pooled.tokens_per_step if pooled else None
    samples = tuple(each for batch in batches if (one := steps_of([batch])) and (each := one.tokens_per_step))
    return figure_of(
        key,
        label,
        "tokens",
        value,
        samples if value is not None else (),
        formula="tokens_per_step",
        better="higher",
        why=UNTOLD,
    )


DRAFTERS = Measurement(
    name="drafters",
    title="speculative decoding over six kinds of prompt",
    plan=plan,
    run=run,
    figures=figures,
    formulas=FORMULAS,
    options={
        "kinds": f"with commas, of {', '.join(KINDS)}; default all",
        "repeats": "of each prompt and level; default 3",
        "tokens": "of every reply; default 256, quick 48",
    },
)
