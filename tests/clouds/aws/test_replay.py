"""The tools over the recorded account, as a person without an account meets it: `--replay fixtures`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.called import called, session_of
from tests.clouds.aws.recorded import FIXTURES
from tests.clouds.aws.simulator.recording import HERE

REF = "aws:sagemaker:us-east-2:gemma-4-e2b"
ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list_endpoints", {"cloud": "aws"}),
    ("get_endpoint", {"ref": REF}),
    ("get_endpoint_logs", {"ref": REF}),
    ("check_quota", {"cloud": "aws", "accelerator": "L4"}),
    ("check_capacity", {"cloud": "aws", "accelerator": "L4"}),
    ("plan_deployment", {"cloud": "aws", "service": "sagemaker", "model": "google/gemma-4-E2B-it",
                         "accelerator": "L4", "regions": ["us-east-1", "us-west-2"]}),
)  # fmt: skip


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each tool says, as with `--replay fixtures`."""
    with pytest.MonkeyPatch.context() as patch, session_of(tmp_path_factory.mktemp("home"), "aws") as session:
        patch.setenv("MODELRIG_REPLAY", str(FIXTURES.parent))
        return {tool: dict(called(session, tool, arguments, worker=False).structured) for tool, arguments in ASKED}


def test_the_account_lists_one_endpoint_that_bills_and_everything_was_read(said: dict[str, dict[str, Any]]) -> None:
    listed = said["list_endpoints"]
    assert (listed["count"], listed["billing"], listed["complete"]) == (1, 1, True)
    assert (listed["rows"][0]["endpoint"], listed["rows"][0]["usd_per_hour"]) == (REF, 1.1267)


def test_the_endpoint_is_ready_with_what_its_log_says(said: dict[str, dict[str, Any]]) -> None:
    about = said["get_endpoint"]
    assert about["state"] == "ready"
    assert (about["engine"]["kv_cache_tokens"], about["engine"]["weights_bytes"]) == (723484, 10468982784)
    lines = said["get_endpoint_logs"]["lines"]
    assert any("GPU KV cache size: 723,484 tokens" in line for line in lines)


def test_quota_says_what_the_endpoint_holds(said: dict[str, dict[str, Any]]) -> None:
    assert said["check_quota"]["complete"] is True
    held = next(row for row in said["check_quota"]["rows"] if row["quota"] == "ml.g6.xlarge for endpoint usage")
    assert held["where"] == {"us-east-1": "1 of 1", "us-east-2": "0 of 1", "us-west-2": "1 of 1"}
    nowhere = next(row for row in said["check_quota"]["rows"] if row["quota"] == "ml.g6.8xlarge for endpoint usage")
    assert nowhere["elsewhere"] == "not offered in 3"
    assert "left_total" not in nowhere


def test_capacity_answers_for_every_enabled_region(said: dict[str, dict[str, Any]]) -> None:
    rows = said["check_capacity"]
    assert rows["complete"] is True
    assert {row["scope"]: row["answer"] for row in rows["rows"]} == {
        "us-east-1": "score 9",
        "us-east-2": "score 9",
        "us-west-2": "score 9",
    }


def test_a_plan_is_made_where_quota_is_left(said: dict[str, dict[str, Any]]) -> None:
    plan = said["plan_deployment"]
    assert plan["endpoint"] == "aws:sagemaker:us-east-1:gemma-4-e2b-it"
    assert plan["usd_per_hour"] == 1.1267


def test_the_scan_that_the_readme_shows_reads_everything_whenever_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--replay fixtures call scan_waste cloud=aws`" in (FIXTURES.parents[1] / "README.md").read_text("utf-8")
    monkeypatch.setenv("MODELRIG_REPLAY", str(FIXTURES.parent))
    with session_of(tmp_path, "aws") as session:
        session.book.clock = lambda: datetime(2027, 12, 1, tzinfo=UTC)
        found = called(session, "scan_waste", {"cloud": ["aws"]}, worker=False).structured
    assert found.get("not_read", []) == []
    assert found["complete"]
    assert found["findings"] > 30


def test_nobody_real_stands_in_the_recorded_account() -> None:
    text = "".join(path.read_text("utf-8") for path in sorted(HERE.glob("*.json")))
    assert '"emulator"' in text
    assert [word for word in ("AKIA", "not-a-secret", str(Path.home()), "123456789012") if word in text] == []
