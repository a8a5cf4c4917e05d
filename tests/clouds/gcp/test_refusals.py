"""What creates were answered is kept with its date, forgotten in time, and never in the way."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from clouds.errors import Conflict, NoCapacity, NotOffered
from clouds.gcp import refusals
from clouds.gcp.refusals import Memory, said
from tests.clouds.gcp.recorded import NOW

KIND, ZONE = "v6e-4", "us-east5-b"
REFUSED = NotOffered("creating", fix="-", answered="not supported")
STOCKOUT = NoCapacity("creating", fix="-", answered="none")


def memory(home: Path, later: timedelta = timedelta()) -> Memory:
    return Memory(home, now=lambda: NOW + later)


def sentences(home: Path, later: timedelta = timedelta(), kind: str = KIND, zone: str = ZONE) -> list[str]:
    return [said(each) for each in memory(home, later).about(kind, zone)]


def test_a_refusal_outlives_the_process_and_a_stockout_the_day_not(tmp_path: Path) -> None:
    memory(tmp_path).refused(KIND, ZONE, "flex-start", REFUSED)
    memory(tmp_path).refused(KIND, ZONE, "spot", STOCKOUT)
    assert sentences(tmp_path) == [
        "flex-start of v6e-4 was refused here at 2026-11-29T15:00:00Z (not supported)",
        "spot of v6e-4 met a stockout here at 2026-11-29T15:00:00Z",
    ]
    assert sentences(tmp_path, timedelta(days=2)) == [
        "flex-start of v6e-4 was refused here at 2026-11-29T15:00:00Z (not supported)"
    ]


def test_a_grant_takes_the_place_of_a_refusal(tmp_path: Path) -> None:
    memory(tmp_path).refused(KIND, ZONE, "flex-start", REFUSED)
    memory(tmp_path, timedelta(hours=1)).granted(KIND, ZONE, "flex-start")
    assert sentences(tmp_path) == ["flex-start of v6e-4 was granted here at 2026-11-29T16:00:00Z"]


def test_other_errors_say_nothing_about_what_is_offered(tmp_path: Path) -> None:
    memory(tmp_path).refused(KIND, ZONE, "spot", Conflict("creating", fix="-"))
    assert sentences(tmp_path) == []
    assert not (tmp_path / "gcp").exists()


def test_what_others_were_answered_is_said_with_its_month_until_we_know_better(tmp_path: Path) -> None:
    where = {"kind": "v6e-1", "zone": "us-central1-b"}
    assert sentences(tmp_path, **where) == [
        "flex-start of v6e-1 was refused here in 2026-08 (gemma4-dev: with quota and a price)"
    ]
    memory(tmp_path).granted("v6e-1", "us-central1-b", "flex-start")
    assert sentences(tmp_path, **where) == ["flex-start of v6e-1 was granted here at 2026-11-29T15:00:00Z"]


def test_a_broken_file_is_no_memory_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "gcp" / "outcomes.json"
    path.parent.mkdir()
    for text in ("{", "[1]", '[{"kind": 1}]', '{"a": 1}'):
        path.write_text(text, "utf-8")
        assert sentences(tmp_path) == []
    memory(tmp_path).granted(KIND, ZONE, "spot")
    assert len(sentences(tmp_path)) == 1


def test_a_folder_that_cannot_be_written_loses_a_hint_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "gcp").write_text("a file", "utf-8")
    memory(tmp_path).granted(KIND, ZONE, "spot")
    assert sentences(tmp_path) == []


def test_the_memory_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "_KEPT", 20)
    kept = memory(tmp_path)
    for n in range(25):
        kept._add(type(kept.about("v6e-1", "us-east5-a")[0])(f"k{n}", ZONE, "spot", "granted", "2026-11-29T15:00:00Z"))
    assert [each.kind for each in kept._read()] == [f"k{n}" for n in range(5, 25)]
