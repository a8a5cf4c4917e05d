"""What explain_finding says of a price that is not known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds.models.waste import Row, Seen, Waste
from tests.tools.waste import toy
from tests.tools.waste.test_tools import Desk, many
from tools.waste.explaining import explain_finding


def _unmetered(row: Row, _seen: Seen) -> Waste:
    return Waste(f"{row['id']} keeps what nobody reads")


@pytest.mark.parametrize(
    ("meter", "words"),
    [
        ("storage; how much it holds is in no reading", "unknown: storage; how much it holds is in no reading"),
        ("", "unknown: no rate is known for it there"),
    ],
)
def test_where_nothing_is_counted_the_check_says_what_would_be(tmp_path: Path, meter: str, words: str) -> None:
    check = replace(toy.FREE_DISK, judge=_unmetered, meter=meter)
    desk = Desk(tmp_path, many(1), pack=replace(toy.PACK, checks=(check,)))
    desk.scan()
    assert explain_finding(desk.clouds, desk.book, "d0000").price_is == words


def test_where_something_is_counted_without_a_rate_its_line_says_why(tmp_path: Path) -> None:
    check = replace(toy.FREE_DISK, meter="GiB-month")
    pack = replace(toy.PACK, checks=(check,), without_rate=lambda key: f"nothing fetches {key}")
    desk = Desk(tmp_path, many(1), pack=pack, rates={})
    desk.scan()
    told = explain_finding(desk.clouds, desk.book, "d0000")
    assert told.price_is == "unknown: no rate is known for it there"
    assert [line.source for line in told.price] == ["nothing fetches disk"]
