from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from clouds.aws.checks import PACK
from clouds.errors import InvalidInput
from clouds.replay import (
    VARIABLE,
    Answer,
    Fixture,
    NotRecorded,
    Origin,
    Replay,
    Request,
    Scenario,
    replay_of,
    replaying,
)


def test_without_the_variable_the_network_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert (replaying(), replay_of("aws")) == (None, None)


def test_a_folder_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(InvalidInput, match="is not a folder"):
        replaying()


def test_a_cloud_answers_from_its_own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for cloud in ("aws", "gcp"):
        folder = tmp_path / cloud / "who" / "a_user"
        folder.mkdir(parents=True)
        origin = {"from": "documentation", "source": "a test", "on": "2026-11-29", "scrubbed": []}
        (folder / "origin.json").write_text(json.dumps(origin))
        (folder / "01_sts.GetCallerIdentity.json").write_text(json.dumps({"body": {"of": cloud}}))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    player = replay_of("aws")
    assert player is not None
    assert player.before(Request("sts", "GetCallerIdentity")).body == {"of": "aws"}


def test_an_account_folder_answers_before_all_other_scenarios_and_lacks_are_found_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole, other = tmp_path / "aws" / "account" / "one", tmp_path / "aws" / "a_denied_one"
    for folder, names in ((whole, ("ListBuckets",)), (other, ("ListBuckets", "GetCallerIdentity"))):
        folder.mkdir(parents=True)
        origin = {"from": "documentation", "source": "a test", "on": "2026-11-29", "scrubbed": []}
        (folder / "origin.json").write_text(json.dumps(origin))
        for name in names:
            (folder / f"01_s3.{name}.json").write_text(json.dumps({"parameters": {}, "body": {"of": folder.name}}))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    player = replay_of("aws")
    assert player is not None
    assert [player.before(Request("s3", "ListBuckets")).body for _ in range(2)] == [{"of": "one"}] * 2
    assert player.before(Request("s3", "GetCallerIdentity")).body == {"of": "a_denied_one"}


@pytest.mark.parametrize(("status", "answers"), [(403, False), (401, False), (404, True), (200, True)])
def test_what_another_account_was_refused_is_no_answer_for_the_one_that_is_whole(status: int, answers: bool) -> None:
    def scenario(name: str, operation: str, answer: Answer) -> Scenario:
        return Scenario(
            Path(name), Origin("documentation", "a test", date(2026, 11, 29)), (Fixture(name, "s3", operation, answer),)
        )

    others, whole = [scenario("o", "GetBucketTagging", Answer(status))], [scenario("w", "ListBuckets", Answer())]
    assert Replay(others).before(Request("s3", "GetBucketTagging")).status == status
    if answers:
        assert Replay(others, whole).before(Request("s3", "GetBucketTagging")).status == status
    else:
        with pytest.raises(NotRecorded):
            Replay(others, whole).before(Request("s3", "GetBucketTagging"))


def test_the_bundled_scan_of_aws_looks_where_its_answers_were_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(Path(__file__).parents[3] / "fixtures"))
    player, call = replay_of("aws"), PACK.places.call
    assert player is not None
    rows = player.before(Request(call.service, call.operation, PACK.home, parameters=call.parameters)).body["Regions"]
    assert [PACK.place(row) for row in rows] == ["us-east-1"]
