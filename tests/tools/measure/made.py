"""Runs written by hand, whose right comparisons are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clouds.models import EngineFacts, Hardware
from tools.measure.cost import PriceUsed, cost_at
from tools.measure.measurement import figure_of
from tools.measure.record import (
    BatchRecord,
    Caution,
    ClientInfo,
    CostRow,
    Figure,
    Item,
    Part,
    RequestRecord,
    Run,
    Subject,
)

CLIENT = ClientInfo(host="Linux", cpu="EPYC", cores=2, python="3.12.1", versions={"httptools": "0.9.0"}, loop="uvloop")
L4 = Hardware(instance_type="ml.g6.xlarge", accelerators=("L4",))
PRICE = PriceUsed(usd_per_hour=1.1267, as_of="2026-09-26", source="list price")
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "decode": {"short_tokens": 16, "long_tokens": 512, "pairs": 5, "at_once": 1},
    "load": {"tokens": 256, "batches": 2},
    "answers": {"seed": 1, "questions": 40, "at_once": 4, "max_tokens": 128},
}


def engine(model: str, **facts: Any) -> EngineFacts:
    return EngineFacts(engine="vLLM", version="0.30.0", model=model, **facts)


def rate(key: str, label: str, value: float, samples: Sequence[float], **more: Any) -> Figure:
    return figure_of(key, label, "tokens/s", value, samples, formula="f", **{"better": "higher", "main": True, **more})


def part(name: str, figures: Sequence[Figure] = (), **fields: Any) -> Part:
    plain: dict[str, Any] = {
        "name": name,
        "title": name,
        "complete": True,
        "settings": SHAPES.get(name, {}),
        "started": "2026-09-25T18:36:00+00:00",
        "seconds": 60.0,
        "figures": tuple(figures),
    }
    return Part(**{**plain, **fields})


def items(wrong: Mapping[int, str] = {}, count: int = 40) -> tuple[Item, ...]:
    """`count` questions, all right but those of `wrong`: position -> what was said."""
    return tuple(
        Item(
            id=f"q{n}",
            kind="sum",
            question=f"{n}?",
            expected=str(n),
            reply=wrong.get(n, str(n)),
            said=wrong.get(n, str(n)),
            right=n not in wrong,
            outcome="ok",
        )
        for n in range(1, count + 1)
    )


def made(
    id: str,  # noqa: A002 - the record's own name
    decode: float | None = None,
    loads: Mapping[int, Sequence[float]] = {},
    graded: tuple[Item, ...] = (),
    decode_samples: Sequence[float] = (),
    **fields: Any,
) -> Run:
    """A run with these figures: `loads` are the batches' throughputs, of which the mean stands as the median of two."""
    price = fields.get("price", PRICE)
    parts = []
    if decode is not None:
        parts.append(part("decode", [rate("decode.tokens_per_second", "decode, tokens/s", decode, decode_samples)]))
    rates = {level: sum(samples) / len(samples) for level, samples in loads.items()}
    if loads:
        figures = [
            rate(f"load.{level}.tokens_per_second", f"{level} at once, tokens/s", rates[level], samples)
            for level, samples in loads.items()
        ]
        parts.append(part("load", figures))
    if graded:
        parts.append(part("answers", items=graded))
    costs = [CostRow(at_once=n, usd_per_million_output=usd) for n in rates if (usd := cost_at(price, rates[n], 0.0))]
    plain: dict[str, Any] = {
        "schema_version": 1,
        "id": id,
        "name": id,
        "state": "complete",
        "started": "2026-09-25T18:36:00+00:00",
        "ended": "2026-09-25T18:40:10+00:00",
        "seconds": 250.0,
        "profile": "standard",
        "subject": Subject(ref=f"aws:sagemaker:us-east-2:{id}", model="gemma"),
        "engine": engine("gemma"),
        "hardware": L4,
        "price": price,
        "client": CLIENT,
        "settings": {},
        "parts": tuple(parts),
        "costs": tuple(costs),
        "formulas": {"f": "as printed"},
    }
    return Run(**{**plain, **fields})


def warned(kind: str) -> dict[str, Any]:
    return {"warnings": (Caution(kind=kind, text=kind),)}


def batch(label: str = "4", at_once: int = 4, requests: Sequence[RequestRecord] = (), **fields: Any) -> BatchRecord:
    plain: dict[str, Any] = {"wall_seconds": 1.0, "tokens": 100, "client_cpu": 0.05, "client_lag_p99_ms": 1.0}
    return BatchRecord(label=label, at_once=at_once, requests=tuple(requests), **{**plain, **fields})


def request(**fields: Any) -> RequestRecord:
    plain: dict[str, Any] = {
        "label": "r",
        "kind": "ok",
        "status": 200,
        "sent": 0.0,
        "ttft_ms": 50.0,
        "last_ms": 500.0,
        "tokens": 46,
        "chunks": 46,
        "prompt_tokens": 40,
    }
    return RequestRecord(**{**plain, **fields})
