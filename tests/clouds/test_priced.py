"""What docs/scanning.md says of prices is counted anew from what the recorded scenarios find."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import clouds
from clouds.aws.prices import AwsPrices

ROOT = Path(__file__).resolve().parents[2]
WASTE = {cloud: ROOT / "fixtures" / cloud / "waste" for cloud in ("aws", "gcp", "azure")}
MAIN = (
    "us-east-2", "us-west-2", "ca-central-1", "sa-east-1", "eu-west-1", "eu-west-2", "eu-central-1",
    "ap-south-1", "ap-southeast-1", "ap-southeast-2", "ap-northeast-1",
)  # fmt: skip


def found(cloud: str) -> Iterator[Mapping[str, Any]]:
    """Every finding that is expected of a scenario of a cloud."""
    for path in WASTE[cloud].rglob("expected.json"):
        yield from json.loads(path.read_bytes()).get("findings", ())
    for path in WASTE[cloud].glob("*.scenarios"):
        for scenario in json.loads(path.read_bytes())["scenarios"].values():
            yield from ({"check": path.stem, **each} for each in scenario["expected"]["findings"])


def counted(findings: list[Mapping[str, Any]]) -> tuple[int, int]:
    """How many checks find something that is priced or known to be free, and how many find anything."""
    priced = {each["check"] for each in findings if each["billing"] != "unpriced"}
    return len(priced), len({each["check"] for each in findings})


def said() -> str:
    return " ".join((ROOT / "docs" / "scanning.md").read_text(encoding="utf-8").split())


def test_how_many_checks_find_what_has_a_price_is_what_the_page_says() -> None:
    page = said()
    for cloud, sentence in (
        ("aws", r"the bundled table prices what (\d+) of the (\d+) checks find"),
        ("gcp", r"Of Google Cloud's checks it does so for (\d+) of (\d+)"),
        ("azure", r"of Azure's for (\d+) of (\d+)"),
    ):
        numbers = re.search(sentence, page)
        assert numbers is not None, sentence
        assert (int(numbers[1]), int(numbers[2])) == counted(list(found(cloud))), cloud


def test_the_count_bites() -> None:
    rows = [
        {"check": "a", "billing": "unpriced"},
        {"check": "b", "billing": "free"},
        {"check": "b", "billing": "unpriced"},
    ]
    assert counted(rows) == (1, 2)


@pytest.mark.more
def test_the_share_of_rates_of_other_regions_is_what_the_page_says() -> None:
    book = AwsPrices(None, Path("nowhere"))
    keys = {line["key"] for each in found("aws") for line in each.get("meters", ())}
    shares = [round(100 * sum(book.price(key, region) is not None for key in keys) / len(keys)) for region in MAIN]
    numbers = re.search(r"Eleven other main regions have (\d+) to (\d+) % of the rates", said())
    assert numbers is not None
    assert (int(numbers[1]), int(numbers[2])) == (min(shares), max(shares))


def test_what_no_list_price_holds_has_the_same_words_in_every_cloud(tmp_path: Path) -> None:
    said = [set(clouds.connect(name, tmp_path).waste.excludes) for name in ("aws", "gcp", "azure")]  # type: ignore[union-attr]
    assert {"enterprise and private pricing", "free tier and credits"} <= set.intersection(*said)
    alike = [word for word in set.union(*said) if any(each in word for each in ("credits", "savings plans", "private"))]
    assert len(alike) == 3, "a scan of several clouds would say it twice"
