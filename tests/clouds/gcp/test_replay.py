"""The tools over the recorded project, as a person without an account meets it: `--replay fixtures`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.called import called, session_of
from tests.clouds.gcp.simulator.recording import HERE

ROOT = HERE.parents[3]
REF = "gcp:gce:us-east5-a:gemma-4-e2b"
GEMMA = {"cloud": "gcp", "model": "google/gemma-4-E2B-it"}
FLEX = {
    "location": "us-east5-a", "instance_types": ["ct6e-standard-1t"], "engine_settings": {"market": "flex-start"},
    "max_usd_per_hour": 3,
}  # fmt: skip
ASKED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("listed", "list_endpoints", {"cloud": "gcp"}),
    ("endpoint", "get_endpoint", {"ref": REF}),
    ("log", "get_endpoint_logs", {"ref": REF}),
    ("quota", "check_quota", {"cloud": "gcp", "accelerator": "v6e"}),
    ("v5e", "check_capacity", {"cloud": "gcp", "accelerator": "v5e"}),
    ("l4", "check_capacity", {"cloud": "gcp", "accelerator": "L4"}),
    ("tpu", "plan_deployment", {**GEMMA, "service": "tpu", "location": "us-west4-a"}),
    ("flex", "plan_deployment", {**GEMMA, "service": "gce", **FLEX}),
    ("run", "plan_deployment", {**GEMMA, "service": "run", "location": "us-central1"}),
    ("scan", "scan_waste", {"cloud": "gcp"}),
    ("husk", "explain_finding", {"finding": "gemma-husk"}),
    ("idle", "explain_finding", {"finding": "llm"}),
    ("cleanup", "plan_cleanup", {"checks": ["tpu-queued-husk", "disk-unattached"]}),
)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each tool says, as with `--replay fixtures`; `text` is what a person reads."""
    found = {}
    with pytest.MonkeyPatch.context() as patch, session_of(tmp_path_factory.mktemp("home"), "gcp") as session:
        patch.setenv("MODELRIG_REPLAY", str(ROOT / "fixtures"))
        for word, tool, arguments in ASKED:
            outcome = called(session, tool, arguments, worker=False)
            found[word] = {**outcome.structured, "text": outcome.text}
    return found


def test_the_project_lists_one_endpoint_that_bills_and_everything_was_read(said: dict[str, dict[str, Any]]) -> None:
    listed = said["listed"]
    assert (listed["count"], listed["billing"], listed["complete"]) == (1, 1, True)
    assert (listed["rows"][0]["endpoint"], listed["rows"][0]["usd_per_hour"]) == (REF, 1.35)


def test_the_endpoint_is_ready_and_ends_by_google_itself(said: dict[str, dict[str, Any]]) -> None:
    about = said["endpoint"]
    assert (about["state"], about["cloud_status"]) == ("ready", "RUNNING (flex-start, us-east5-a)")
    assert (about["engine"]["kv_cache_tokens"], about["expires"]) == (321280, "2026-12-06T15:00:15Z")
    assert any("TPU KV cache size: 321,280 tokens" in line for line in said["log"]["lines"])


def test_quota_says_what_is_held_in_each_pool(said: dict[str, dict[str, Any]]) -> None:
    rows = {row["quota"]: row for row in said["quota"]["rows"]}
    assert said["quota"]["complete"] is True
    assert rows["v6e on Compute Engine, spot and flex-start"]["where"]["us-east5"] == "58 of 64"


def test_capacity_is_told_apart_from_quota(said: dict[str, dict[str, Any]]) -> None:
    v5e = {row["scope"]: row["evidence"] for row in said["v5e"]["rows"]}
    assert "flex-start of v5litepod-1 was granted here" in v5e["us-west4-a"]
    l4 = {row["scope"]: row["answer"] for row in said["l4"]["rows"]}
    assert l4 == {"us-central1-a": "score 0.8", "us-central1-b": "offered", "us-west4-a": "score 0.8"}


@pytest.mark.parametrize(
    ("word", "endpoint", "usd"),
    [
        ("tpu", "gcp:tpu:us-west4-a:gemma-4-e2b-it", 1.2),
        ("flex", "gcp:gce:us-east5-a:gemma-4-e2b-it", 1.35),
        ("run", "gcp:run:us-central1:gemma-4-e2b-it", 1.4209),
    ],
)
def test_a_plan_is_made_for_each_service(said: dict[str, dict[str, Any]], word: str, endpoint: str, usd: float) -> None:
    assert (said[word]["endpoint"], said[word]["usd_per_hour"]) == (endpoint, usd)


@pytest.mark.parametrize("word", ["tpu", "flex", "run"])
def test_what_a_plan_warns_of_is_not_behind_its_commands(said: dict[str, dict[str, Any]], word: str) -> None:
    assert said[word]["notes"]
    assert [note for note in said[word]["notes"] if note not in said[word]["text"]] == []
    assert "more characters)" not in said[word]["text"].rsplit("\n\n", 1)[-1]


def test_a_scan_judges_every_check_and_finds_what_each_is_for(said: dict[str, dict[str, Any]]) -> None:
    scan = said["scan"]
    assert scan["text"].startswith(
        "**$19,578.45 a month, of it $1,352.86 at most and $1,242.08 at least ($234,941.40 a year) in 67 resources "
        "that nothing uses, 4 in use that could cost less and 1 priced with what holds it; "
    )
    assert "77 of 77 pairs of check and place were judged, none failed" in scan["text"]


def test_evidence_is_said_as_a_person_reads_it_and_what_is_not_known_is_left_out(
    said: dict[str, dict[str, Any]],
) -> None:
    husk, idle = said["husk"]["evidence"], said["idle"]["evidence"]
    assert {key: husk[key] for key in husk if key != "age"} == {
        "state": "SUSPENDED",
        "type": "v5litepod-4",
        "nodes": "1",
    }
    assert (idle["accelerators"], idle["bytes sent (B), 3 d"]) == ("1 x L4", "2,000")


def test_a_plan_of_its_cleanup_snapshots_before_it_deletes(said: dict[str, dict[str, Any]]) -> None:
    assert said["cleanup"]["text"].startswith("**Plan c-")
    steps = [
        line.split(". ", 1)[1].split(" ")[0] for line in said["cleanup"]["text"].splitlines() if line[:1].isdigit()
    ]
    assert steps == ["delete", *["snapshot", "delete"] * 3]


def test_nobody_real_stands_in_the_recorded_project() -> None:
    text = "".join(path.read_text("utf-8") for path in sorted(HERE.glob("*.json")))
    assert '"emulator"' in text
    assert [word for word in ("ya29.", "AIza", "PRIVATE KEY", "hf_", "/home/") if word in text] == []
