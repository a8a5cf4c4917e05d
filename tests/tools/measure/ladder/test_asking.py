"""A rung asked of a scripted server: graded, resumed where it stopped, asked twice, and refused questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput
from tests.tools.measure.scripted import Said, run_of, speaking, value
from tools.measure.ladder.own import EXAMPLES, own_questions

ANSWERS = {each.text: each.answer for each in own_questions().questions}


def knows(body: dict[str, Any]) -> Said:
    """Every capital and nothing else."""
    asked = body["messages"][-1]["content"].splitlines()[0]
    return Said(f"Answer: {ANSWERS[asked]}" if "capital" in asked else "Answer: no idea")


def write(folder: Path, count: int) -> str:
    lines = [json.dumps({"id": f"q{n}", "question": f"What is {n} + {n}?", "answer": str(2 * n)}) for n in range(count)]
    (folder / "set.jsonl").write_text("\n".join(lines))
    return "ladder.questions=" + str(folder / "set.jsonl")


def doubles(body: dict[str, Any]) -> Said:
    number = int(body["messages"][-1]["content"].split()[2])
    return Said(f"It is {2 * number}.\nAnswer: {2 * number}")


def test_the_own_questions_are_asked_with_their_examples_and_graded(tmp_path: Path) -> None:
    with speaking(knows) as server:
        run = run_of(server, tmp_path, "ladder", "ladder.at_once=8")
    assert (run.state, run.missing) == ("complete", ())
    assert value(run, "ladder.right") == value(run, "ladder.right.capital") == 8
    assert value(run, "ladder.right.opposite") == 0
    assert (value(run, "ladder.repeat"), value(run, "ladder.cut_off")) == (10, 0)
    part = run.part("ladder")
    assert part is not None
    assert (part.settings["set"], part.settings["questions"], part.settings["examples"]) == ("own-72", 72, 4)
    assert part.settings["sha256"] == own_questions().sha256
    assert len(part.items) == 82
    first = server.bodies[0]
    assert [each["role"] for each in first["messages"]] == ["user", "assistant"] * len(EXAMPLES) + ["user"]
    assert (first["temperature"], first["max_tokens"]) == (0, 24)
    assert "chat_template_kwargs" not in first


def test_a_file_of_questions_is_asked_and_thinking_is_sent_and_recorded(tmp_path: Path) -> None:
    def thinks(body: dict[str, Any]) -> Said:
        said = doubles(body)
        return Said(said.text, reasoning="let me see", finish="stop")

    with speaking(thinks) as server:
        run = run_of(server, tmp_path, "ladder", write(tmp_path, 5), "ladder.thinking=on", "ladder.repeat=0")
    part = run.part("ladder")
    assert part is not None
    assert value(run, "ladder.right") == 5
    assert (part.settings["thinking"], part.settings["max_tokens"]) == ("on", 1024)
    assert part.items[0].reasoning == "let me see"
    assert server.bodies[0]["chat_template_kwargs"] == {"enable_thinking": True}


def test_a_request_that_the_server_refuses_is_wrong_and_stays(tmp_path: Path) -> None:
    def broken(body: dict[str, Any]) -> Said:
        number = int(body["messages"][-1]["content"].split()[2])
        return Said("output does not match the expected format", status=500) if number == 2 else doubles(body)

    with speaking(broken) as server:
        run = run_of(server, tmp_path, "ladder", write(tmp_path, 4), "ladder.repeat=0")
    figure = run.figure("ladder.right")
    assert figure is not None
    assert (figure.value, figure.n) == (3, 4)
    part = run.part("ladder")
    assert part is not None
    assert (part.items[2].outcome, part.items[2].right) == ("http_5xx", False)
    assert "expected format" in str(part.items[2].facts["detail"])
    assert part.errors == {"http_5xx": 1}


def test_a_reply_that_is_cut_off_and_one_that_loops_are_counted(tmp_path: Path) -> None:
    def fails(body: dict[str, Any]) -> Said:
        number = int(body["messages"][-1]["content"].split()[2])
        return Said("and again\n" * 6, finish="length") if number == 1 else doubles(body)

    with speaking(fails) as server:
        run = run_of(server, tmp_path, "ladder", write(tmp_path, 3), "ladder.repeat=0")
    assert (value(run, "ladder.cut_off"), value(run, "ladder.looped"), value(run, "ladder.right")) == (1, 1, 2)


def test_an_engine_that_wavers_is_found_out_by_the_repeat(tmp_path: Path) -> None:
    seen: list[str] = []

    def wavers(body: dict[str, Any]) -> Said:
        asked = body["messages"][-1]["content"]
        seen.append(asked)
        return Said(f"{doubles(body).text}{' ' * seen.count(asked)}!")

    with speaking(wavers) as server:
        run = run_of(server, tmp_path, "ladder", write(tmp_path, 6), "ladder.repeat=4")
    figure = run.figure("ladder.repeat")
    assert figure is not None
    assert (figure.value, figure.n) == (0, 4)


def test_a_rung_goes_on_where_it_stopped(tmp_path: Path) -> None:
    asked: list[int] = []

    def stops(body: dict[str, Any]) -> Said:
        number = int(body["messages"][-1]["content"].split()[2])
        asked.append(number)
        return Said("gone", status=503) if number >= 3 and len(asked) < 10 else doubles(body)

    option = write(tmp_path, 6)
    with speaking(stops) as server:
        first = run_of(server, tmp_path, "ladder", option, "ladder.repeat=0")
        assert value(first, "ladder.right") == 3
        asked[:] = [99] * 10
        second = run_of(server, tmp_path, "ladder", option, "ladder.repeat=0", f"ladder.resume={tmp_path / 'run.json'}")
    assert asked[10:] == [3, 4, 5]
    assert value(second, "ladder.right") == 6
    part = second.part("ladder")
    assert part is not None
    assert sorted(item.id for item in part.items) == [f"q{n}" for n in range(6)]


def test_a_rung_asked_in_another_way_is_not_gone_on_with(tmp_path: Path) -> None:
    option = write(tmp_path, 2)
    with speaking(doubles) as server:
        run_of(server, tmp_path, "ladder", option, "ladder.repeat=0")
        with pytest.raises(InvalidInput, match="another max_tokens"):
            run_of(server, tmp_path, "ladder", option, "ladder.tokens=99", f"ladder.resume={tmp_path / 'run.json'}")
        with pytest.raises(InvalidInput, match="names no run with a ladder"):
            run_of(server, tmp_path, "ladder", option, f"ladder.resume={tmp_path / 'set.jsonl'}")


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("ladder.questions=/etc/passwd", "inside|project|outside"),
        ("ladder.questions=", "is empty"),
        ("ladder.limit=0", "ladder.limit=0"),
        ("ladder.thinking=maybe", "ladder.thinking=maybe"),
        ("ladder.colour=red", "is not an option here"),
        ("decisions.limit=3", "is not an option here"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_asked(option: str, problem: str, tmp_path: Path) -> None:
    with speaking(doubles) as server:
        with pytest.raises(InvalidInput, match=problem):
            run_of(server, tmp_path, "ladder", option)
        assert server.bodies == []


def test_a_file_that_changed_since_its_plan_is_refused(tmp_path: Path) -> None:
    with speaking(doubles) as server, pytest.raises(InvalidInput, match="sha256 is"):
        run_of(server, tmp_path, "ladder", write(tmp_path, 2), "ladder.sha256=" + "0" * 64)
