from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from clouds.replay import Answer, Fixture, NotRecorded, Origin, Replay, Request, Scenario

ORIGIN = Origin("documentation", "a test", date(2026, 11, 29))


def replay(*answers: tuple[str, dict[str, Any]]) -> Replay:
    fixtures = tuple(
        Fixture(f"{n:02}_ec2.DescribeVolumes.json", "ec2", "DescribeVolumes", Answer(body=body), **conditions)
        for n, (body, conditions) in enumerate(answers, 1)
    )
    return Replay([Scenario(Path("s"), ORIGIN, fixtures)])


def ask(player: Replay, location: str = "us-east-1", **parameters: Any) -> Any:
    return player.before(Request("ec2", "DescribeVolumes", location, parameters=parameters)).body


def test_one_fixture_answers_as_often_as_it_is_asked() -> None:
    player = replay(("same", {}))
    assert [ask(player) for _ in range(3)] == ["same", "same", "same"]


def test_fixtures_with_the_same_conditions_are_a_sequence_whose_last_stays() -> None:
    player = replay(("creating", {}), ("creating still", {}), ("in service", {}))
    assert [ask(player) for _ in range(4)] == ["creating", "creating still", "in service", "in service"]


def test_times_holds_a_place_in_a_sequence_and_ends_it() -> None:
    player = replay(("throttled", {"times": 2}), ("ok", {"times": 1}))
    assert [ask(player) for _ in range(3)] == ["throttled", "throttled", "ok"]
    with pytest.raises(NotRecorded) as refused:
        ask(player)
    assert refused.value.answered.endswith("was served 1 times and no more")


def test_pages_are_told_apart_by_their_tokens_in_any_order() -> None:
    player = replay(("first", {"parameters": {}}), ("second", {"parameters": {"NextToken": "2"}}))
    assert [ask(player, NextToken="2"), ask(player), ask(player, NextToken="2")] == ["second", "first", "second"]


def test_the_more_particular_fixture_answers() -> None:
    player = replay(
        ("any", {}),
        ("wild", {"parameters": {"Id": "*"}}),
        ("exact", {"parameters": {"Id": "x"}}),
        ("west", {"location": "us-west-2"}),
    )
    answers = [ask(player, Id="x"), ask(player, Id="y"), ask(player), ask(player, "us-west-2")]
    assert answers == ["exact", "wild", "any", "west"]


def test_an_unmatched_request_names_itself_and_the_nearest_fixture_and_is_kept() -> None:
    player = replay(("east", {"location": "us-east-1", "parameters": {}}))
    with pytest.raises(NotRecorded) as refused:
        ask(player, "us-east-2", MaxResults=5)
    assert str(refused.value) == "ec2.DescribeVolumes in us-east-2: not recorded"
    assert refused.value.tried == "ec2.DescribeVolumes in us-east-2"
    assert refused.value.answered == (
        'nobody recorded it with {"MaxResults": 5}; nearest: 01_ec2.DescribeVolumes.json: '
        "location is 'us-east-1', asked 'us-east-2', parameter MaxResults is null, asked 5"
    )
    assert (refused.value.sent, player.missed) == (False, player.sent)


def test_an_operation_that_nobody_recorded_gets_the_names_that_are_alike() -> None:
    with pytest.raises(NotRecorded) as refused:
        replay(("x", {})).before(Request("ec2", "DescribeVolume"))
    assert "no DescribeVolume was recorded; nearest: ec2.DescribeVolumes" in refused.value.answered


def test_long_parameters_are_cut_where_it_shows() -> None:
    with pytest.raises(NotRecorded) as refused:
        replay(("x", {})).before(Request("ec2", "DescribeVolume", parameters={"Ids": ["vol-1"] * 100}))
    assert "…; no DescribeVolume" in refused.value.answered
    assert len(refused.value.answered) < 300


def test_a_test_can_say_what_was_not_sent() -> None:
    player = replay(("x", {}))
    ask(player)
    assert player.operations == ["ec2.DescribeVolumes"]
    assert "ec2.DeleteVolume" not in player.operations


def test_threads_share_a_sequence_without_serving_one_answer_twice() -> None:
    player = replay(*((str(n), {"times": 1}) for n in range(64)))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(player), range(64)))
    assert sorted(answers, key=int) == [str(n) for n in range(64)]


def test_what_one_place_or_one_question_is_answered_does_not_depend_on_what_others_ask_meanwhile() -> None:
    player = replay(*((body, {"parameters": {"Ids": "*"}}) for body in ("first", "second")))
    asked = [("us-east-1", "x"), ("us-west-2", "x"), ("us-east-1", "y"), ("us-east-1", "x"), ("us-west-2", "x")]
    assert [ask(player, place, Ids=word) for place, word in asked] == ["first", "first", "first", "second", "second"]


def test_a_sequence_without_parameters_is_the_answers_of_an_operation_in_their_order_in_each_place() -> None:
    player = replay(("first", {}), ("second", {}))
    assert [ask(player, Id="x"), ask(player, "us-west-2", Id="x"), ask(player, Id="y")] == ["first", "first", "second"]
