"""Runs written by hand that have something for every chart of a report."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from clouds.models import EngineFacts, Hardware
from tests.tools.measure.made import batch, engine, items, made, part, rate, request
from tools.measure.cost import cost_at, rate_per_dollar
from tools.measure.measurement import figure_of
from tools.measure.record import Accelerator, Caution, CostRow, Figure, HostCheck, Item, Part, Run, Subject

LEVELS = (1, 4, 16, 64)
RATES = {1: 102.9, 4: 328.7, 16: 1077.3, 64: 1911.0}
HOSTILE = (
    '</td></svg><script>window.broken=1</script><img src=x onerror="window.broken=1">|`[a](javascript:b)' + "W" * 300
)
RUNGS = ("BF16", "Q8_0", "Q5_K_M", "Q4_0", "Q3_K_M", "Q2_K")


def full(id_: str, scale: float = 1.0, *, wrong: Mapping[int, str] = {1: "1026", 3: "829"}, **fields: Any) -> Run:
    """Decode, four levels of load with latencies and a price, and answers; faster by `scale`."""
    decode = 105.1 * scale
    samples = [decode * each for each in (0.99, 0.995, 1, 1.006, 1.01)]
    plain: dict[str, Any] = {
        "subject": Subject(ref=f"aws:sagemaker:us-east-2:{id_}", model=f"google/gemma-4-{id_}"),
        "engine": engine(id_, kv_cache_tokens=867_999, weights_bytes=8_600_000_000, quantization=id_),
        "host": HostCheck(
            calibration_ms_before=(4.1, 4.2), calibration_ms_after=(4.15,), load_before=0.4, load_after=0.6,
            steal_percent=0.1, client_cpu_peak=0.09, client_lag_p99_ms=1.2,
        ),
        "accelerators": (
            Accelerator(name="L4", driver="595.112", memory_after_load_bytes=10**10, memory_peak_bytes=2 * 10**10),
        ),
    }  # fmt: skip
    run = made(id_, decode, {}, items(wrong), samples, **{**plain, **fields})
    load = _load(scale)
    costs = []
    for level in LEVELS:
        usd = cost_at(run.price, RATES[level] * scale, 0.0)
        if usd is not None and run.price is not None and run.price.usd_per_hour:
            per_dollar = rate_per_dollar(run.price.usd_per_hour, RATES[level] * scale)
            costs.append(CostRow(at_once=level, usd_per_million_output=usd, tokens_per_second_per_usd_hour=per_dollar))
    parts = (run.parts[0], load, *run.parts[1:])
    return run.model_copy(update={"parts": parts, "costs": tuple(costs), "run_usd": 0.0781 if run.price else None})


def _load(scale: float) -> Part:
    figures: list[Figure] = []
    batches = []
    for level in LEVELS:
        value = RATES[level] * scale
        samples = (value * 0.985, value * 1.015)
        figures.append(rate(f"load.{level}.tokens_per_second", f"{level} at once, tokens/s", value, samples))
        for name, words, base in (("ttft", "TTFT", 55 + 9 * level), ("tpot", "time per token", 9.5 + 0.35 * level)):
            for quantile, times in (("p50", 1.0), ("p90", 1.3), ("p99", 2.1)):
                ms = base * times / scale
                figures.append(
                    figure_of(
                        f"load.{level}.{name}_{quantile}_ms", f"{level} at once, {words} {quantile}", "ms", ms,
                        (ms * 0.97, ms * 1.05), formula=name, better="lower", main=(name, quantile) == ("ttft", "p50"),
                        n=2 * level,
                    )
                )  # fmt: skip
        requests = [request() for _ in range(level)]
        batches += [batch(str(level), level, requests), batch(str(level), level, requests)]
    return part("load", figures, batches=tuple(batches), requests=2 * sum(LEVELS))


def warned(run: Run) -> Run:
    """The same run, not whole and with a warning."""
    note = Caution(kind="noisy_host", text="The same piece of work took 40 % longer after the run than before it.")
    return run.model_copy(
        update={"state": "incomplete", "missing": ("answers",), "failure": "cut", "warnings": (note,)}
    )


def hostile(run: Run) -> Run:
    """The same run with markup wherever text comes from outside."""
    first = (
        run.parts[-1]
        .items[0]
        .model_copy(
            update={
                "question": HOSTILE,
                "expected": HOSTILE,
                "said": HOSTILE,
                "reply": HOSTILE,
                "right": False,
                "kind": HOSTILE,
            }
        )
    )
    asked = run.parts[-1].model_copy(update={"items": (first, *run.parts[-1].items[1:]), "errors": {HOSTILE: 1}})
    subject = run.subject.model_copy(update={"model": HOSTILE, "variant": HOSTILE, "ref": HOSTILE})
    return run.model_copy(
        update={
            "subject": subject, "parts": (*run.parts[:-1], asked), "failure": HOSTILE, "state": "incomplete",
            "missing": (HOSTILE,), "warnings": (Caution(kind="x", text=HOSTILE),), "engine": engine(HOSTILE),
        }
    )  # fmt: skip


def rung(name: str, index: int, count: int = 250, *, machine: str = "L4", seed: int = 1) -> Run:
    """A run of one rung: lower rungs lose more, Q2_K nearly all; some come back."""
    share = (0.92, 0.915, 0.92, 0.88, 0.75, 0.02)[index]
    draw = random.Random(f"{machine}{seed}{index}")  # noqa: S311 - a sample, no secret
    hard = random.Random("hard")  # noqa: S311
    asked = []
    for n in range(count):
        difficulty = hard.random()
        right = difficulty + 0.08 * (draw.random() - 0.5) < share
        failed = index == 5 and n == 7
        asked.append(
            Item(
                id=f"test-{n}", kind="gsm8k", question=f"Question {n}?", expected=str(n),
                said=str(n) if right else "12", reply=f"Answer: {n if right else 12}", right=right and not failed,
                outcome="http_500" if failed else "ok", cut_off=not right and index > 3, tokens=300,
                seconds=3.0, facts={"tokens_per_second": (40.0, 64.3, 78.7, 93.6, 74.2, 74.0)[index]},
            )
        )  # fmt: skip
    settings = {"set": "gsm8k", "sha256": "ab", "questions": count, "at_once": 1, "max_tokens": 1024, "thinking": "off"}
    right = float(sum(each.right for each in asked))
    figure = figure_of("ladder.right", f"right of {count}", "answers", right, (), formula="f", main=True, n=count)
    return made(
        f"{machine.lower()}-{name.lower().replace('_', '-')}",
        parts=(part("ladder", [figure], items=tuple(asked), settings=settings),),
        engine=EngineFacts(
            engine="llama.cpp", version="b11699", quantization=name, weights_bytes=9_311_305_152 // (index + 1)
        ),
        hardware=Hardware(accelerators=(machine,)),
    )


def ladder(machine: str = "L4", count: int = 250) -> list[Run]:
    """All rungs on one machine."""
    return [rung(name, index, count, machine=machine) for index, name in enumerate(RUNGS)]


def decisions(id_: str = "decider", count: int = 240, *, sharp: float = 1.0) -> Run:
    """A run of yes-or-no decisions; `sharp` above 1 is overconfident."""
    draw = random.Random(5)  # noqa: S311
    made_items = []
    for n in range(count):
        probability = 0.5 + 0.5 * draw.random()
        right = draw.random() < probability
        said = probability**sharp / (probability**sharp + (1 - probability) ** sharp)
        logs = (log(max(said, 1e-9)), log(max(1 - said, 1e-9)))
        truth = 0 if right else 1
        made_items.append(
            Item(
                id=f"d{n}", kind="yes or no", question=f"Is {n}?\nA. yes\nB. no", expected=("yes", "no")[truth],
                reply="A", said="yes", right=right, outcome="ok", seconds=0.02 + 0.0001 * n,
                facts={"order": "forward", "read": "exact", "truth": truth, "group": "", "label_mass": 0.97,
                       "returned": 2, "top_is_label": True, "logprob.A": logs[0], "logprob.B": logs[1],
                       "bound.A": logs[0], "bound.B": logs[1]},
            )
        )  # fmt: skip
    figure = figure_of(
        "decisions.right", f"decisions, right of {count}", "answers", float(sum(each.right for each in made_items)), (),
        formula="f", main=True, n=count,
    )  # fmt: skip
    return made(id_, parts=(part("decisions", [figure], items=tuple(made_items)),))


def long_context(id_: str = "long") -> Run:
    """Passphrases found and not, and decode rates behind 0, 32,768 and 120,000 tokens."""
    asked = [
        Item(
            id=f"{length}-{depth}", kind="passphrase", question="?", expected="amber", reply="amber", said="amber",
            right=(length, depth) != (120_000, 50), outcome="ok" if depth < 90 or length < 120_000 else "http_400",
            seconds=length / 9_000, facts={"depth_percent": depth},
        )
        for length in (8_000, 32_768, 120_000)
        for depth in (10, 50, 90)
    ]  # fmt: skip
    asked = [each.model_copy(update={"right": each.right and each.outcome == "ok"}) for each in asked]
    figures = [
        rate(
            f"longcontext.decode_at.{ahead}",
            f"decode behind {ahead:,} tokens, tokens/s",
            value,
            (value * 0.99, value * 1.02),
        )
        for ahead, value in ((0, 134.1), (32_768, 101.0), (120_000, 66.7))
    ]
    return made(id_, parts=(part("longcontext", figures, items=tuple(asked)),))


def paced(id_: str = "paced") -> Run:
    """An open loop at three rates; at the highest it no longer keeps up."""
    figures = [
        figure_of(
            "paced.kept_up_per_second", "keeps up with, requests/s", "requests/s", 4.0, (), formula="f", main=True
        )
    ]
    for share, due, wait in ((50, 2.5, 60.0), (80, 4.0, 75.0), (95, 4.75, 900.0)):
        key = f"paced.{share}_percent"
        figures.append(figure_of(f"{key}.due_per_second", "due", "requests/s", due, (), formula="f", n=1))
        figures += [
            figure_of(f"{key}.ttft_{name}_ms", f"{share} %, TTFT {name}", "ms", wait * times, (), formula="f", n=90)
            for name, times in (("p50", 1.0), ("p90", 2.0), ("p99", 3.0))
        ]
    return made(id_, parts=(part("paced", figures),))


def knee(id_: str = "knee") -> Run:
    """Doubled to 16 at once, which serves no more than 8."""
    figures = [
        rate(f"knee.{level}.tokens_per_second", f"{level} at once, tokens/s", value, (value * 0.99, value * 1.01))
        for level, value in ((1, 60.0), (2, 118.0), (4, 230.0), (8, 410.0), (16, 415.0))
    ]
    return made(id_, parts=(part("knee", figures),))


def tool_calls(id_: str = "tools") -> Run:
    """A tool that counts, always right; one that returns rows, miscounted where lists are long; Python not readable."""
    asked = []
    for size in (330, 11, 110):
        for n in range(4):
            for arm in ("count", "rows", "python"):
                wrong = arm == "rows" and (size == 330 or (size == 110 and n == 0))
                asked.append(
                    Item(
                        id=f"{arm}-{size}.{n}", kind=arm, question="How many?", expected="3", reply="",
                        said="2" if wrong else "3",
                        right=not wrong and arm != "python", outcome="no tool parser" if arm == "python" else "ok",
                        facts={"size": size, "miss": "miscounted" if wrong else ""},
                    )
                )  # fmt: skip
    return made(id_, parts=(part("toolcalls", items=tuple(asked)),))


def drafters() -> list[Run]:
    """No drafter, and one of two tokens that pays up to 16 at once."""
    runs = []
    for name, drafted, ratios in (("none", 0.0, (1.0, 1.0, 1.0)), ("draft-2", 2.0, (1.5, 1.1, 0.87))):
        figures = [rate("drafters.tokens_per_second", "drafters, tokens/s", 100 * ratios[0], ())]
        figures.append(
            figure_of("drafters.drafted_per_step", "guesses a step", "tokens", drafted, (), formula="f", n=1)
        )
        figures += [
            rate(f"drafters.at_{level}.tokens_per_second", f"{level} at once", 1000 * ratio, ())
            for level, ratio in ((16, ratios[1]), (64, ratios[2]))
        ]
        subject = Subject(ref="local:llama:here:m", model="m", variant=name)
        runs.append(made(name, parts=(part("drafters", figures),), subject=subject))
    return runs


def renamed(run: Run, id_: str, samples: Sequence[float] = (), **fields: Any) -> Run:
    """The same run once more under another id, its decode rate another."""
    if not samples:
        return run.model_copy(update={"id": id_, "name": id_, **fields})
    old = run.parts[0].figures[0]
    new = rate(old.key, old.label, sorted(samples)[len(samples) // 2], samples)
    first = run.parts[0].model_copy(update={"figures": (new,)})
    return run.model_copy(update={"id": id_, "name": id_, "parts": (first, *run.parts[1:]), **fields})
