from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from clouds.record import Recorder
from clouds.replay import Answer, Replay, Request, load

VOLUMES = Request(
    "ec2", "DescribeVolumes", "us-east-2", parameters={"Filters": [{"Name": "owner", "Values": ["644160558196"]}]}
)
ANSWER = Answer(
    200,
    {
        "Volumes": [
            {
                "VolumeId": "vol-1",
                "CreateTime": datetime(2026, 11, 1, tzinfo=UTC),
                "Arn": "arn:aws:ec2:us-east-2:644160558196:volume/vol-1",
            }
        ],
        "ResponseMetadata": {"RequestId": "x", "HTTPHeaders": {"x-amz-id-2": "trace"}},
    },
    {"Content-Type": "text/xml", "x-amz-id-2": "trace"},
)


def test_what_was_recorded_is_a_scrubbed_fixture_that_the_loader_reads(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "one", source="an account of our own", on=date(2026, 11, 29))
    recorder.after(VOLUMES, ANSWER)
    parameters = {"Filters": [{"Name": "owner", "Values": ["111122223333"]}]}
    volume = {
        "VolumeId": "vol-1",
        "CreateTime": "2026-11-01T00:00:00+00:00",
        "Arn": "arn:aws:ec2:us-east-2:111122223333:volume/vol-1",
    }
    assert json.loads((tmp_path / "one/01_ec2.DescribeVolumes.json").read_text()) == {
        "location": "us-east-2",
        "parameters": parameters,
        "status": 200,
        "headers": {"content-type": "text/xml"},
        "body": {"Volumes": [volume]},
    }
    assert json.loads((tmp_path / "one/origin.json").read_text()) == {
        "from": "recorded",
        "source": "an account of our own",
        "on": "2026-11-29",
        "scrubbed": ["account ids"],
    }
    player = Replay([load(tmp_path / "one")])
    asked = Request("ec2", "DescribeVolumes", "us-east-2", parameters=parameters)
    assert player.before(asked).body == {"Volumes": [volume]}


def test_a_stream_is_left_out_and_listed(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "two", source="a test", on=date(2026, 11, 29))
    recorder.after(Request("sagemaker-runtime", "InvokeEndpoint", "us-east-2"), Answer(200, {"Body": object()}))
    assert recorder.skipped == [
        "sagemaker-runtime.InvokeEndpoint in us-east-2: a object is a stream or not data and was not recorded"
    ]
    assert list((tmp_path / "two").iterdir()) == []


def test_a_recording_never_mixes_with_another(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("{}")
    with pytest.raises(InvalidInput, match="is not empty"):
        Recorder(tmp_path, source="a test", on=date(2026, 11, 29))
