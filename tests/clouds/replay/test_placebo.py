from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from clouds.replay import Answer, Fixture, Origin, read_placebo

ORIGIN = Origin("recorded", "a test", date(2026, 11, 29))


def test_a_placebo_folder_is_a_scenario_in_recorded_order(tmp_path: Path) -> None:
    when = {
        "__class__": "datetime",
        "year": 2025,
        "month": 10,
        "day": 27,
        "hour": 10,
        "minute": 0,
        "second": 5,
        "microsecond": 0,
    }
    for n, name in ((10, "last"), (2, "second"), (1, "first")):
        about = {"RequestId": "r", "HTTPHeaders": {"content-type": "text/xml"}}
        data = {"Volumes": [{"VolumeId": name, "CreateTime": when}], "ResponseMetadata": about}
        (tmp_path / f"ec2.DescribeVolumes_{n}.json").write_text(json.dumps({"status_code": 200, "data": data}))
    (tmp_path / "api.sagemaker.ListModels_1.json").write_text(json.dumps({"status_code": 400, "data": {}}))
    scenario = read_placebo(tmp_path, ORIGIN)
    assert [fixture.name for fixture in scenario.fixtures] == [
        "api.sagemaker.ListModels_1.json",
        "ec2.DescribeVolumes_1.json",
        "ec2.DescribeVolumes_2.json",
        "ec2.DescribeVolumes_10.json",
    ]
    body = {"Volumes": [{"VolumeId": "first", "CreateTime": "2025-10-27T10:00:05+00:00"}]}
    assert scenario.fixtures[:2] == (
        Fixture("api.sagemaker.ListModels_1.json", "api.sagemaker", "ListModels", Answer(400, {})),
        Fixture(
            "ec2.DescribeVolumes_1.json", "ec2", "DescribeVolumes", Answer(200, body, {"content-type": "text/xml"})
        ),
    )


@pytest.mark.parametrize("name", ["ec2.DescribeVolumes.json", "notes_1.json"])
def test_a_file_that_is_no_placebo_answer_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(InvalidInput, match="has a wrong name"):
        read_placebo(tmp_path, ORIGIN)


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no answers"):
        read_placebo(tmp_path, ORIGIN)
