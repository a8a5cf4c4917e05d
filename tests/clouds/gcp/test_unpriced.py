"""A line without a rate says what would give it one, or why nothing does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from clouds.gcp.prices import BUNDLED, WASTE
from clouds.gcp.unpriced import FETCHED, UNMETERED, fetched, without_rate
from clouds.pricetable import rows_of
from tests.clouds.gcp.checks.stage import FIXTURES

ASK = "not in the bundled table for this place; `server.py refresh-prices gcp` asks Google for it"


def unpriced() -> Iterator[str]:
    for path in sorted(Path(FIXTURES).glob("*.scenarios")):
        for scenario in json.loads(path.read_text("utf-8"))["scenarios"].values():
            for finding in (scenario.get("expected") or {}).get("findings", ()):
                yield from (key for key, _, _, usd in finding.get("meters", ()) if usd is None)


@pytest.mark.parametrize(
    "key",
    [
        "gce/n2-standard-8/spot", "gce/n2-standard-8/on-demand", "gce/e2-micro/on-demand", "redis/standard-m2",
        "cloudsql-backup/storage", "static-ip/unused", "tpu/v5p/spot", "gce/g2-standard-4/spot", "disk/pd-ssd",
        "gce/ct6e-standard-4t/spot",
    ],
)  # fmt: skip
def test_what_a_refresh_asks_for_says_so(key: str) -> None:
    assert fetched(key)
    assert without_rate(key) == ASK


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("spanner/standard-node", "not priced: Google lists it by edition"),
        ("vertex/e2-standard-4", "not priced: Vertex AI lists machines and GPUs at rates of its own"),
        ("vertex-gpu/nvidia-l4", "not priced: Vertex AI lists machines and GPUs at rates of its own"),
        ("sole-tenant/my-template", "not priced: the node type stands in its template"),
        ("alloydb/vCPU", "not priced: no source that could be read names its SKU"),
        ("gce/n2-custom-4-8192/on-demand", "not priced: custom machine types have rates of their own"),
        ("gce/n2-standard-8/flex-start", "not priced: no source with a date lists that type flex-start"),
        ("gce/z9-standard-8/on-demand", "not priced: no source with a date lists that type on demand"),
        ("cloudsql/db-perf-optimized-N-8", "not priced: the table knows Cloud SQL by its vCPUs and memory"),
        ("anything/else", "not priced: no source with a date lists it"),
    ],
)
def test_what_nothing_fetches_says_why(key: str, words: str) -> None:
    assert not fetched(key)
    assert without_rate(key).startswith(words)


def test_every_unpriced_line_of_every_scenario_has_a_reason() -> None:
    keys = set(unpriced())
    assert len(keys) > 20
    assert {key for key in keys if without_rate(key) == without_rate("anything/else")} == set()


def test_what_is_named_as_not_fetched_is_not() -> None:
    assert [(start, key) for start in UNMETERED for key in FETCHED if key.startswith(start)] == []


def test_what_is_named_as_not_fetched_is_a_key_of_a_check_or_of_the_tables() -> None:
    known = {*unpriced(), *(row.key for path in (BUNDLED, WASTE) for row in rows_of(path))}
    assert [start for start in UNMETERED if not any(key.startswith(start) for key in known)] == []
