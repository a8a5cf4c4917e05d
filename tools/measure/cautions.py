"""What has to be known before a figure of a run is believed: judged from the record alone, so that a file from another
machine is judged the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tools.measure.client import KINDS, NO_USAGE
from tools.measure.client.share import was_the_limit
from tools.measure.host import why_noisy
from tools.measure.record import BatchRecord, Caution, Part, RequestRecord, Run
from tools.measure.stats import percentile, spread

CLIENT_LIMIT = "client_limit"
CACHED = "cached_prompt"
CUT_OFF = "cut_off"
EMPTY = "empty"
ONE_PIECE = "one_piece"
PIECE_TOKENS = 32
PIECE_MS = 0.05
"""A reply of 32 tokens or more that came with less than 0.05 ms a token between its first and its last piece was held
back on its way: no model writes 20,000 tokens a second, and a drafter never gives so many at once."""
CACHED_SHARE = 0.25
"""A prompt of which a quarter or more came from a cache was not a new prompt."""
SLOW_RATIO = 5.0
SLOW_MS = 100.0
"""A first token that took five times as long as that of half of its batch, and more than a tenth of a second."""
UNTIMED = {"answers", "drafters", "ladder", "toolcalls", "functions"}
"""Parts that have no figure of the time to a first token."""
NO_TIMES = {"answers", "toolcalls", "functions"}
"""Parts that only count answers: a client that was busy or late changes none of them."""
LITTLE = 0.01
"""Probability on the labels of all tokens below which a read says little."""
ORDERED = 0.25
"""The share of decisions that may change with the order of their options before all of them are doubted."""
EXCEPT = {"paced": " (but a stalled reply that came to its end is in the times from when due)"}
UNSTEADY = 0.15
"""Repeats of the same batch that differ by more than this share of their median."""


def request_cautions(request: RequestRecord) -> Iterator[str]:
    """What is no failure of a request and has to be counted."""
    if request.kind != "ok":
        return
    if request.tokens_from != "usage":
        yield NO_USAGE
    took = (request.last_ms or 0.0) - (request.ttft_ms or 0.0)
    if request.chunks and request.tokens >= PIECE_TOKENS and took < PIECE_MS * request.tokens:
        yield ONE_PIECE
    if request.cached_tokens and request.cached_tokens >= CACHED_SHARE * (request.prompt_tokens or 0):
        yield CACHED


def judge(run: Run) -> tuple[Caution, ...]:
    """Every warning of a run, the gravest first."""
    return tuple(
        each
        for judged in (_weights, _resumed, _client, _host, _accelerator, _unsteady, _slow, _labels, _order, _parts)
        for each in judged(run)
    )


def _weights(run: Run) -> Iterator[Caution]:
    if run.engine is not None and str(run.engine.settings.get("weights", "")).startswith("random"):
        yield Caution(
            kind="random_weights",
            text="The model's weights are random and few: its speeds, costs and answers are those of no real model.",
        )


def _resumed(run: Run) -> Iterator[Caution]:
    at = run.settings.get("resumed_at")
    if at is not None:
        before = [part.name for part in run.parts if part.started < str(at)]
        yield Caution(
            kind="resumed",
            text=f"What measured this ended in the middle, and the run was taken up again at {at}: "
            f"{', '.join(before) or 'nothing'} {'are' if len(before) > 1 else 'is'} from before. What else "
            "the machine did may have changed in between; measure again where a figure matters.",
        )


def _client(run: Run) -> Iterator[Caution]:
    limited = list(_limiting(run))
    if limited:
        names = ", ".join(dict.fromkeys(_named(part, batch) for part, batch in limited))
        cpu = max(batch.client_cpu for _, batch in limited)
        lag = max(batch.client_lag_p99_ms or 0.0 for _, batch in limited)
        yield Caution(
            kind=CLIENT_LIMIT,
            text=f"The measuring client may have been the limit in {names}: it used up to {100 * cpu:.0f} % of a core "
            f"and its event loop was up to {lag:.0f} ms late (p99). The figures of {names} are not the endpoint's "
            "alone; measure again from a machine with less to do.",
        )


def client_limits(run: Run) -> Callable[[str, str], bool]:
    """Whether the client may have been the limit in a figure, by its part and key.

    A figure of one level is limited by the batches of that level, any other by those of its whole part; every figure
    in a run that says so and kept no batches.
    """
    if not any(each.kind == CLIENT_LIMIT for each in run.warnings):
        return lambda _part, _key: False
    limiting = {(part.name, level_of(batch.label)) for part, batch in _limiting(run)}
    if not limiting:
        return lambda _part, _key: True
    levels = {(part.name, level_of(batch.label)) for part in run.parts for batch in part.counted}

    def limited(part: str, key: str) -> bool:
        level = (part, key.split(".")[1]) if "." in key else (part, "")
        return level in limiting if level in levels else any(name == part for name, _ in limiting)

    return limited


def level_of(label: str) -> str:
    """The label of a batch as it stands in the keys of its figures: "at 4" is at_4, "closed loop" is closed."""
    return label.removesuffix(" loop").replace(" ", "_")


def _limiting(run: Run) -> Iterator[tuple[Part, BatchRecord]]:
    for part in run.parts:
        for batch in part.counted if part.name not in NO_TIMES else ():
            if _limited(batch):
                yield part, batch


def _named(part: Part, batch: BatchRecord) -> str:
    return batch.label if batch.label.startswith(part.name) else f"{part.name} {batch.label}"


def _limited(batch: BatchRecord) -> bool:
    ttfts = [each.ttft_ms / 1e3 for each in batch.requests if each.kind == "ok" and each.ttft_ms is not None]
    lag = None if batch.client_lag_p99_ms is None else batch.client_lag_p99_ms / 1e3
    return was_the_limit(batch.client_cpu, lag, percentile(ttfts, 0.5) if ttfts else None)


def _host(run: Run) -> Iterator[Caution]:
    why = why_noisy(run.host, run.client.cores) if run.host is not None else ""
    if why:
        yield Caution(kind="noisy_host", text=f"The measuring machine was not steady: {why}.")


def _accelerator(run: Run) -> Iterator[Caution]:
    for each in run.accelerators:
        if each.throttled:
            yield Caution(kind="throttled", text=f"{each.name} slowed itself down: {', '.join(each.throttled)}.")


def _unsteady(run: Run) -> Iterator[Caution]:
    wide = [
        f"{figure.label} {100 * spread(figure.samples):.0f} %"
        for part in run.parts
        for figure in part.figures
        if figure.key.endswith("tokens_per_second") and len(figure.samples) > 1 and spread(figure.samples) > UNSTEADY
    ]
    if wide:
        yield Caution(kind="unsteady", text=f"Repeats differ widely (range over median): {', '.join(wide)}.")


def _slow(run: Run) -> Iterator[Caution]:
    slow = total = 0
    timed = (part for part in run.parts if part.name not in NO_TIMES)
    for batch in (batch for part in timed for batch in part.counted):
        ttfts = [each.ttft_ms for each in batch.requests if each.kind == "ok" and each.ttft_ms is not None]
        limit = max(SLOW_MS, SLOW_RATIO * percentile(ttfts, 0.5)) if ttfts else 0.0
        slow, total = slow + sum(ttft > limit for ttft in ttfts), total + len(ttfts)
    if slow:
        yield Caution(
            kind="slow_first",
            text=f"{slow} of {total} replies took more than {SLOW_RATIO:g} times their batch's median to the first "
            "token; they are in the figures, since the endpoint did that.",
        )


def _labels(run: Run) -> Iterator[Caution]:
    mass = run.figure("decisions.label_mass")
    if mass is not None and mass.value is not None and mass.value < LITTLE:
        yield Caution(
            kind="label_mass",
            text=f"The labels of a decision hold {100 * mass.value:.2g} % of the probability (median): the model would "
            "say something else, and what is read of them sums to one regardless.",
        )


def _order(run: Run) -> Iterator[Caution]:
    part = run.part("decisions")
    turned = [
        f"{each.value:.0f} of {each.n} ({each.key.split('.')[1]})"
        for each in (part.figures if part else ())
        if each.key.endswith(".changed") and each.value is not None and each.value > ORDERED * each.n
    ]
    if turned:
        yield Caution(
            kind="order_bound",
            text=f"The option changed when the options were read in reverse: {', '.join(turned)}. Those decisions are "
            "the order's and not the model's.",
        )


def _parts(run: Run) -> Iterator[Caution]:
    for part in run.parts:
        if part.errors:
            counts = ", ".join(f"{count} {kind} ({KINDS.get(kind, kind)})" for kind, count in part.errors.items())
            yield Caution(
                kind="failed_requests",
                text=f"{part.title.capitalize()}: {sum(part.errors.values())} of {part.requests} requests failed and "
                f"are in no timing{EXCEPT.get(part.name, '')}: {counts}.",
            )
        yield from _counted(part)


def _counted(part: Part) -> Iterator[Caution]:
    where = part.title.capitalize()
    if count := part.cautions.get(NO_USAGE, 0):
        yield Caution(
            kind=NO_USAGE,
            text=f"{where}: {count} of {part.requests} replies came without usage: those of fixed length count as "
            "their limit, of others the chunks were counted.",
        )
    count = part.cautions.get(ONE_PIECE, 0)  # a few come so where the client was late; a buffer does it to all
    if 2 * count >= max(part.requests, 1) and part.name not in UNTIMED:
        yield Caution(
            kind=ONE_PIECE,
            text=f"{where}: {count} of {part.requests} replies came in one piece: the endpoint, or something on the "
            "way, does not stream. Their TTFT is the time of the whole reply, and their time per token says nothing.",
        )
    if (count := part.cautions.get(CACHED, 0)) and part.name not in UNTIMED:
        yield Caution(
            kind=CACHED,
            text=f"{where}: {count} of {part.requests} prompts came in part from the engine's cache, so TTFT is too "
            "short.",
        )
    if count := part.cautions.get(EMPTY, 0):
        yield Caution(
            kind=EMPTY,
            text=f"{where}: {count} of {len(part.items)} replies had no text at all; they count as wrong. A model that "
            "only thought needs a higher limit; one that says nothing may be asked in a form that it does not know.",
        )
    if count := part.cautions.get(CUT_OFF, 0):
        limit = part.settings.get("max_tokens")
        yield Caution(
            kind=CUT_OFF,
            text=f"{where}: {count} of {len(part.items)} replies were cut off at {limit} tokens; what they would have "
            "said is not known.",
        )
