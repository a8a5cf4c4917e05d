"""From what was taken to what is written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tools.measure.cautions import CUT_OFF, EMPTY, request_cautions
from tools.measure.client import Batch, Reply
from tools.measure.measurement import Measurement, Plan, Taken
from tools.measure.record import BatchRecord, Figure, Item, Part, RequestRecord, Scalar

COUNTED = "answers"
"""The unit of figures that count answers, in which a failed request counts as wrong."""
ASKED_FOR = "yes"
TEXTS = {"answers", "ladder"}


def part_of(
    measurement: Measurement, plan: Plan, taken: Taken, *, complete: bool, started: str, seconds: float, gone: str = ""
) -> Part:
    """The record of one measurement, whole or as far as it came.

    Where every request failed, or the endpoint was `gone` before the end (in words), nothing is known of the model: a
    count of right answers has no value then, so that the run is not complete.
    """
    batches = tuple(_batch(label, at_once, batch) for label, at_once, batch in taken.batches)
    requests = [request for batch in batches for request in batch.requests]
    cautions = Counter(each for request in requests for each in request_cautions(request))
    cautions[CUT_OFF] += sum(item.cut_off for item in taken.items)
    cautions[EMPTY] += sum(item.outcome == "ok" and not item.reply.strip() for item in _answered(measurement, taken))
    failed = sum(request.kind != "ok" for request in requests)
    none = bool(requests) and failed == len(requests)
    why = gone or ("every request failed" if none else "")
    figures = measurement.figures(plan, taken)
    if why:
        figures = tuple(_unknown(each, why) if _empty(each, none=none) else each for each in figures)
    return Part(
        name=measurement.name,
        title=measurement.title,
        complete=complete,
        settings=plan.settings,
        started=started,
        seconds=round(seconds, 3),
        figures=figures,
        errors=dict(Counter(request.kind for request in requests if request.kind != "ok")),
        cautions={kind: count for kind, count in cautions.items() if count},
        requests=len(requests),
        items=tuple(taken.items),
        batches=batches,
    )


def _answered(measurement: Measurement, taken: Taken) -> Sequence[Item]:
    """The items whose answer is a text: a call of a tool has none, and a decision is read from probabilities."""
    return taken.items if measurement.name in TEXTS else ()


def _empty(figure: Figure, *, none: bool) -> bool:
    """Whether a value rests on nothing: with no good reply at all, seconds and tokens are 0 only because nothing came.

    A refusal that was asked for (unit "yes") is no failed request.
    """
    return figure.value is not None and (figure.unit == COUNTED or (none and figure.unit != ASKED_FOR))


def _unknown(figure: Figure, why: str) -> Figure:
    empty: dict[str, object] = {"value": None, "low": None, "high": None, "samples": (), "why": why}
    return figure.model_copy(update=empty)


def _batch(label: str, at_once: int, batch: Batch) -> BatchRecord:
    share = batch.share
    return BatchRecord(
        label=label,
        at_once=at_once,
        wall_seconds=round(batch.wall, 6),
        tokens=sum(reply.tokens for reply in batch.good),
        client_cpu=round(share.cpu, 4),
        client_lag_p99_ms=None if share.lag_p99 is None else round(1e3 * share.lag_p99, 3),
        counters=dict(batch.counters),
        requests=tuple(_request(reply, batch.started) for reply in batch.replies),
    )


def _request(reply: Reply, origin: float) -> RequestRecord:
    def after(stamp: float) -> float | None:
        return round(1e3 * (stamp - reply.sent), 3) if stamp else None

    return RequestRecord(
        label=reply.label,
        kind=reply.kind,
        detail=reply.detail,
        status=reply.status,
        sent=round(reply.sent - origin, 6),
        due=round(reply.due - origin, 6) if reply.due else None,
        ttft_ms=after(reply.first),
        first_answer_ms=after(reply.first_answer),
        last_ms=after(reply.last),
        asked_tokens=reply.asked_tokens,
        tokens=reply.tokens,
        tokens_from=reply.tokens_from,
        chunks=reply.chunks,
        prompt_tokens=reply.prompt_tokens,
        cached_tokens=reply.cached_tokens,
        finish=reply.finish,
        gaps_us=tuple(round(1e6 * gap) for gap in reply.gaps),
        engine=_plain(reply.engine),
    )


def _plain(timings: Mapping[str, Any]) -> Mapping[str, Scalar]:
    """Numbers and short words that the engine said of itself; anything else is left out."""
    return {
        name: value if not isinstance(value, str) else value[:80]
        for name, value in timings.items()
        if isinstance(value, str | int | float | bool)
    }
