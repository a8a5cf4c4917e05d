"""Endpoints as they are: price, hardware, what the engine says of itself."""

from __future__ import annotations

from collections.abc import Mapping

from clouds.models.basic import Record, Setting, State


class Price(Record):
    """One price with its age and source. A missing, zero or implausible price is None instead, never $0."""

    amount: float
    unit: str
    currency: str = "USD"
    as_of: str
    source: str
    basis: str = "on demand"


class Hardware(Record):
    """What an endpoint runs on, as far as it can be read. `accelerators` is empty on a CPU host."""

    instance_type: str = ""
    accelerators: tuple[str, ...] = ()
    cpu: str = ""
    cpu_features: tuple[str, ...] = ()
    cores: int | None = None
    memory_bytes: int | None = None
    memory_free_bytes: int | None = None
    accelerator_memory_bytes: int | None = None
    accelerator_memory_used_bytes: int | None = None
    accelerator_temperature_c: int | None = None
    accelerator_throttled: tuple[str, ...] = ()
    driver: str = ""


class EngineFacts(Record):
    """What the engine says of itself (its log or API). None means that it did not say."""

    engine: str
    version: str = ""
    image: str = ""
    model: str = ""
    model_sha256: str = ""
    parameters: int | None = None
    weights_bytes: int | None = None
    quantization: str = ""
    kv_cache_bytes: int | None = None
    kv_cache_tokens: int | None = None
    kv_cache_dtype: str = ""
    context_tokens: int | None = None
    max_concurrency: float | None = None
    slots: int | None = None
    threads: int | None = None
    load_seconds: float | None = None
    settings: Mapping[str, Setting] = {}


class Phase(Record):
    """One stretch of a start-up, as it was seen: "loading weights", 2.4 s."""

    name: str
    seconds: float


class Endpoint(Record):
    """One endpoint as it is now: our one word for its state, the cloud's own beside it, and what bills.

    `created` and `expires` are ISO 8601 in UTC. `deployment` is the ledger's id, empty for what is not ours.
    """

    ref: str
    state: State
    cloud_status: str
    billing: bool | None
    model: str = ""
    reason: str = ""
    url: str = ""
    created: str = ""
    expires: str = ""
    deployment: str = ""
    account: str = ""
    engine: EngineFacts | None = None
    hardware: Hardware | None = None
    price: Price | None = None
    phases: tuple[Phase, ...] = ()
    key_file: str = ""
    """Where its API key is, for a person's own editor; the key itself is in no record."""
