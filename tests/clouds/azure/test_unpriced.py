"""A line without a rate says what would give it one, or why nothing does."""

from __future__ import annotations

import json

import pytest

from clouds.azure.meters import ALL
from clouds.azure.unpriced import UNMETERED, without_rate
from tests.clouds.azure.checks.stage import FIXTURES

UNPRICED = {
    meter["key"]
    for path in FIXTURES.rglob("expected.json")
    for finding in json.loads(path.read_text("utf-8")).get("findings", ())
    for meter in finding.get("meters", ())
    if meter["usd_per_unit"] is None
}
ASK = "not in the bundled table for this place; `server.py refresh-prices azure` asks Azure for it"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("vm/Standard_NC24ads_A100_v4/spot", ASK),
        ("disk-iops/UltraSSD_LRS", ASK),
        ("postgres-flexible/storage", ASK),
        ("blob/old-versions", "not priced: how much old versions hold is in no reading"),
        ("fine-tuned-hosting/regional", "not priced: Azure lists it by model; no meter of it stands in a source"),
        ("anything/else", "not priced: no source with a date lists it"),
    ],
)
def test_a_key_without_a_rate_says_what_would_give_it_one_or_why_nothing_does(key: str, words: str) -> None:
    assert without_rate(key).startswith(words)


def test_every_unpriced_line_of_every_scenario_has_a_reason() -> None:
    assert len(UNPRICED) > 10
    assert {key for key in UNPRICED if without_rate(key) == without_rate("anything/else")} == set()


def test_what_is_named_as_not_fetched_is_not() -> None:
    assert [start for start in UNMETERED if any(rate.key.startswith(start) for rate in ALL)] == []
