"""A run: one measurement of one endpoint as one JSON file that can be committed and read on another machine.

Every figure carries its samples and its formula, so that a comparison never needs to know which measurement made it.
Times inside a run are seconds after `started` unless a name says otherwise; gaps are whole microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from clouds.models import EngineFacts, Hardware, Record, Setting
from tools.measure.cost import PriceUsed

SCHEMA_VERSION = 1
State = Literal["complete", "incomplete", "failed"]
Better = Literal["higher", "lower", ""]
Scalar = Setting | None
APART = {"warm-up", "sample"}
"""Labels of batches that are in no figure."""
Line = Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""Text on one line: a record from another machine is shown, and must not be able to look like more than it is."""


class Figure(Record):
    """One computed number. `value` is None when it cannot be said, and `why` then says why."""

    key: str
    """Unique in a run, the same in every run: `load.16.tokens_per_second`."""
    label: Line
    """For a person: "16 at once, tokens/s"."""
    unit: Line
    value: float | None
    low: float | None = None
    """Smallest and largest of `samples`."""
    high: float | None = None
    samples: tuple[float, ...] = ()
    """One value per repeat (batch, pair or reply): what ranges and comparisons are made from."""
    n: int = 0
    """How many single values the figure rests on."""
    better: Better = ""
    main: bool = False
    """One of the few that a person looks for first; without it the run is not complete."""
    formula: str
    """A key of the run's `formulas`."""
    why: Line = ""


class RequestRecord(Record):
    """One request as it was stamped. A failed one is kept, with its kind, and is in no figure."""

    label: str
    kind: str
    detail: str = ""
    status: int = 0
    sent: float
    due: float | None = None
    """When a paced request should have been sent, on the clock of `sent`."""
    ttft_ms: float | None = None
    """To the first delta of any kind."""
    first_answer_ms: float | None = None
    """To the first delta of the answer itself."""
    last_ms: float | None = None
    asked_tokens: int = 0
    tokens: int = 0
    tokens_from: str = "usage"
    """"usage"; where the endpoint did not say, "limit" of a reply of fixed length that ended at it, else "chunks"."""
    chunks: int = 0
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    finish: str = ""
    gaps_us: tuple[int, ...] = ()
    """Between chunks, in microseconds."""
    engine: Mapping[str, Scalar] = {}
    """What the engine said of its own timings in this reply."""


class BatchRecord(Record):
    """Requests that were in flight together."""

    label: str
    at_once: int
    wall_seconds: float
    """From the first request to the last token of the last good reply."""
    tokens: int
    """Output tokens of the good replies."""
    client_cpu: float
    """CPU seconds of the client per second."""
    client_lag_p99_ms: float | None = None
    counters: Mapping[str, float] = {}
    """By how much the engine's own counters moved meanwhile, where a measurement read them."""
    requests: tuple[RequestRecord, ...] = ()


class Item(Record):
    """One question, what is right, and the whole reply."""

    id: str
    kind: str
    question: str
    expected: str
    reply: str
    said: str
    """What was read out of the reply; empty when nothing could be."""
    right: bool
    outcome: str
    """"ok", or the kind of failure; a failure counts as wrong and stays in the denominator."""
    cut_off: bool = False
    tokens: int = 0
    reasoning: str = ""
    """What came in the thinking block; it is never graded."""
    seconds: float | None = None
    facts: Mapping[str, Scalar] = {}
    """What a measurement keeps of this one besides: label mass, filters sent, where a passphrase was."""


class Part(Record):
    """One measurement of a run: what it asked, what came back, what was computed."""

    name: str
    title: str
    complete: bool
    settings: Mapping[str, Scalar]
    """Its shape. Parts of different shape are not compared."""
    started: str
    seconds: float
    figures: tuple[Figure, ...] = ()
    errors: Mapping[str, int] = {}
    """Failed requests by kind; none of them is in a figure."""
    cautions: Mapping[str, int] = {}
    """What is no failure and has to be known: replies without usage, replies from a prompt cache, replies cut off."""
    requests: int = 0
    items: tuple[Item, ...] = ()
    batches: tuple[BatchRecord, ...] = ()

    @property
    def counted(self) -> tuple[BatchRecord, ...]:
        """The batches that are in its figures: all but those that warm up or learn something."""
        return tuple(batch for batch in self.batches if batch.label not in APART)


class Caution(Record):
    """A warning by kind, in a sentence for a person."""

    kind: Line
    text: Line


class ClientInfo(Record):
    """Where the measuring client ran."""

    host: str
    cpu: str
    cores: int
    python: str
    versions: Mapping[str, str]
    loop: str


class HostCheck(Record):
    """How steady the client's machine was: the same piece of work before and after, load and stolen time."""

    calibration_ms_before: tuple[float, ...]
    calibration_ms_after: tuple[float, ...] = ()
    load_before: float | None = None
    load_after: float | None = None
    steal_percent: float | None = None
    client_cpu_peak: float = 0.0
    client_lag_p99_ms: float | None = None


class Accelerator(Record):
    """One GPU as nvidia-smi showed it while the run went on."""

    name: str
    driver: str
    memory_total_bytes: int | None = None
    memory_after_load_bytes: int | None = None
    memory_peak_bytes: int | None = None
    temperature_before_c: float | None = None
    temperature_peak_c: float | None = None
    throttled: tuple[str, ...] = ()
    """Reasons that were active at any reading."""
    readings: int = 0


class CostRow(Record):
    """What a million output tokens cost at one level, if it is kept that busy."""

    at_once: int
    usd_per_million_output: float
    tokens_per_second_per_usd_hour: float | None = None


class Subject(Record):
    """What was measured."""

    ref: Line
    model: Line
    variant: Line = ""
    """Which of several variants this was; "base" for the one that the others are compared with."""
    deployment: str = ""
    listed: Mapping[str, Scalar] = {}
    """What the endpoint's own model list says."""


class Departure(Record):
    """One point in which a run is not what its plan says. Empty: not there."""

    at: str
    what: Line
    planned: Line
    done: Line
    reason: Line = ""


class PlanCited(Record):
    """The plan that was written before a run, by its hash."""

    file: Line
    sha256: str
    written: str
    departures: tuple[Departure, ...] = ()


class Quoted(Record):
    """Where figures come from that were not measured here."""

    source: Line
    date: Line
    method: Line


class Run(Record):
    """The whole file."""

    schema_version: int
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$")]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$")]
    state: State
    missing: tuple[Line, ...] = ()
    """Measurements that were asked for and are not there, or not whole."""
    failure: Line = ""
    started: Line
    ended: str = ""
    seconds: float = 0.0
    profile: str
    subject: Subject
    engine: EngineFacts | None = None
    hardware: Hardware | None = None
    accelerators: tuple[Accelerator, ...] = ()
    price: PriceUsed | None = None
    client: ClientInfo
    settings: Mapping[str, Scalar]
    plan: PlanCited | None = None
    """None: exploratory, nothing was written down before."""
    quoted: Quoted | None = None
    """Set where nothing was measured: figures from elsewhere, which no verdict rests on."""
    parts: tuple[Part, ...] = ()
    costs: tuple[CostRow, ...] = ()
    run_usd: float | None = None
    """What the run itself cost."""
    spent_usd: tuple[float, float] | None = None
    """What the endpoint had cost when the run ended: at least and at most."""
    host: HostCheck | None = None
    warnings: tuple[Caution, ...] = ()
    formulas: Mapping[str, str]

    def part(self, name: str) -> Part | None:
        """One measurement by name."""
        return next((part for part in self.parts if part.name == name), None)

    def figure(self, key: str) -> Figure | None:
        """One figure by key."""
        return next((figure for part in self.parts for figure in part.figures if figure.key == key), None)


def schema() -> dict[str, object]:
    """The JSON schema of a run file, as published in docs/run.schema.json."""
    found = Run.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "modelrig run", **found}


if __name__ == "__main__":
    import json

    print(json.dumps(schema(), indent=1))
