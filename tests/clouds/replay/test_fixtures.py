from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput
from clouds.replay import Answer, Origin, Request, load, load_tree
from clouds.replay.fixtures import Fixture

ORIGIN = {"from": "documentation", "source": "the API reference", "on": "2026-11-29", "scrubbed": []}
VOLUMES = {"location": "us-east-1", "parameters": {}, "body": {"Volumes": []}}


def write(folder: Path, **files: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name.replace('__', '.')}.json").write_text(text, "utf-8")
    return folder


def test_a_scenario_is_its_answers_its_origin_and_what_is_expected(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "none_there", **{"01_ec2__DescribeVolumes": VOLUMES}, origin=ORIGIN, expected={"found": []}
    )
    scenario = load(folder)
    assert scenario.origin == Origin("documentation", "the API reference", date(2026, 11, 29), ())
    assert scenario.fixtures == (
        Fixture(
            name="01_ec2.DescribeVolumes.json",
            service="ec2",
            operation="DescribeVolumes",
            answer=Answer(200, {"Volumes": []}),
            location="us-east-1",
            parameters={},
        ),
    )
    assert scenario.expected == {"found": []}


def test_a_slash_in_a_service_is_a_tilde_in_the_name_of_its_file(tmp_path: Path) -> None:
    names = ("01_Microsoft.App~containerApps.list", "02_Microsoft.Compute~locations~usages.list")
    for name in names:
        write(tmp_path, origin=ORIGIN)
        (tmp_path / f"{name}.json").write_text(json.dumps({"body": {}}), "utf-8")
    assert [(each.service, each.operation) for each in load(tmp_path).fixtures] == [
        ("Microsoft.App/containerApps", "list"),
        ("Microsoft.Compute/locations/usages", "list"),
    ]


def test_a_scenario_without_its_expected_result_says_so_when_it_is_asked(tmp_path: Path) -> None:
    scenario = load(write(tmp_path, **{"01_ec2__DescribeVolumes": VOLUMES}, origin=ORIGIN))
    with pytest.raises(InvalidInput, match=r"expected\.json is missing"):
        _ = scenario.expected


@pytest.mark.parametrize(
    ("origin", "problem"),
    [
        ({key: ORIGIN[key] for key in ("from", "source", "on")}, "does not say exactly"),
        ({**ORIGIN, "by": "me"}, "does not say exactly"),
        ({**ORIGIN, "from": "memory"}, "comes from 'memory'"),
        ({**ORIGIN, "source": " "}, "names no source"),
        ({**ORIGIN, "on": "yesterday"}, "has the date 'yesterday'"),
        ({**ORIGIN, "scrubbed": "all"}, "has no list of what was scrubbed"),
        ("{", "is not JSON"),
    ],
)
def test_a_wrong_origin_is_an_error(tmp_path: Path, origin: Any, problem: str) -> None:
    write(tmp_path, **{"01_ec2__DescribeVolumes": VOLUMES}, origin=origin)
    with pytest.raises(InvalidInput, match=problem):
        load(tmp_path)


def test_a_missing_origin_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, **{"01_ec2__DescribeVolumes": VOLUMES})
    with pytest.raises(InvalidInput, match=r"origin\.json is missing"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("ec2__DescribeVolumes", VOLUMES, "has a wrong name"),
        ("01_DescribeVolumes", VOLUMES, "has a wrong name"),
        ("01_ec2__DescribeVolumes", {"body": {}, "statuscode": 200}, r"has unknown keys \['statuscode'\]"),
        ("01_ec2__DescribeVolumes", {"status": 200}, "needs a body or a wire"),
        ("01_ec2__DescribeVolumes", {"body": {}, "wire": {"text": ""}}, "needs a body or a wire"),
        ("01_ec2__DescribeVolumes", {"body": {}, "status": "ok"}, "has status 'ok'"),
        ("01_ec2__DescribeVolumes", {"body": {}, "times": 0}, "has times 0"),
        ("01_ec2__DescribeVolumes", {"body": {}, "parameters": []}, "parameters that are not an object"),
        ("01_ec2__DescribeVolumes", {"wire": {"base64": "?"}}, "not base64"),
        ("01_ec2__DescribeVolumes", {"wire": "bytes"}, "wire of another form"),
    ],
)
def test_a_wrong_answer_file_is_an_error(tmp_path: Path, name: str, content: Any, problem: str) -> None:
    write(tmp_path, **{name: content}, origin=ORIGIN)
    with pytest.raises(InvalidInput, match=problem):
        load(tmp_path)


def test_a_tree_is_all_its_scenarios_in_the_order_of_their_paths(tmp_path: Path) -> None:
    for name in ("b/two", "a/one"):
        write(tmp_path / name, **{"01_ec2__DescribeVolumes": VOLUMES}, origin=ORIGIN)
    assert [scenario.directory.name for scenario in load_tree(tmp_path)] == ["one", "two"]


def test_a_tree_with_nothing_in_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no recorded answers"):
        load_tree(tmp_path)
    with pytest.raises(InvalidInput, match="is not a folder"):
        load_tree(tmp_path / "nowhere")


def fixture(**conditions: Any) -> Fixture:
    return Fixture("01", "ec2", "DescribeVolumes", Answer(), **conditions)


@pytest.mark.parametrize(
    ("conditions", "asked"),
    [
        ({}, {"location": "eu-west-1", "parameters": {"MaxResults": 5}}),
        (
            {"parameters": {"Filters": [{"Name": "status", "Values": "*"}]}},
            {"parameters": {"Filters": [{"Name": "status", "Values": ["x"]}]}},
        ),
        ({"parameters": {"Ids": ["a"]}}, {"parameters": {"Ids": ("a",)}}),
        ({"location": "us-east-1"}, {"location": "us-east-1"}),
    ],
)
def test_a_fixture_answers_what_its_conditions_allow(conditions: dict[str, Any], asked: dict[str, Any]) -> None:
    assert fixture(**conditions).misses(Request("ec2", "DescribeVolumes", **asked)) == []


@pytest.mark.parametrize(
    ("conditions", "asked", "why"),
    [
        ({"location": "us-east-1"}, {"location": "us-east-2"}, "location is 'us-east-1', asked 'us-east-2'"),
        ({"account": "a"}, {"account": "b"}, "account is 'a', asked 'b'"),
        ({"parameters": {}}, {"parameters": {"MaxResults": 5}}, "parameter MaxResults is null, asked 5"),
        ({"parameters": {"Start": "*"}}, {"parameters": {}}, 'parameter Start is "*", asked null'),
        (
            {"parameters": {"Ids": ["a"]}},
            {"parameters": {"Ids": ["a", "b"]}},
            'parameter Ids is ["a"], asked ["a", "b"]',
        ),
    ],
)
def test_a_fixture_says_why_it_does_not_answer(conditions: dict[str, Any], asked: dict[str, Any], why: str) -> None:
    assert fixture(**conditions).misses(Request("ec2", "DescribeVolumes", **asked)) == [why]


def test_the_spelling_of_an_operation_is_part_of_its_name() -> None:
    assert fixture().misses(Request("ec2", "describe_volumes")) == ["is for ec2.DescribeVolumes"]
