"""Conversations with tools: a scripted model that filters, counts, miscounts, and endpoints that return no calls."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput
from tests.tools.measure.scripted import Said, run_of, speaking, value
from tools.measure.cost import PriceUsed
from tools.measure.toolcalls import calling
from tools.measure.toolcalls.counting import counting_questions

WHERE = {each.text: each.where for each in counting_questions()}
SMALL = ("toolcalls.sizes=11", "toolcalls.at_once=8")


@pytest.fixture
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fifth question: a model that does the same with each shows it on these."""
    monkeypatch.setattr(calling, "counting_questions", lambda *what, **how: counting_questions(*what, **how)[::5])


def question(body: dict[str, Any]) -> str:
    return str(body["messages"][0]["content"]).split(" Use the tool")[0]


def tool(body: dict[str, Any]) -> str:
    return str(body["tools"][0]["function"]["name"])


def counts(body: dict[str, Any], wrong_by: int = 0) -> Said:
    """Sends the right filter, then quotes the count or counts the rows, off by some."""
    last = body["messages"][-1]
    if last["role"] == "user":
        return Said(calls=((tool(body), json.dumps({"where": WHERE[question(body)]})),), tokens=30)
    returned = json.loads(last["content"])
    found = returned["count"] if isinstance(returned, dict) else len(returned)
    return Said(f"I looked.\nAnswer: {found + wrong_by}", tokens=40)


def test_a_model_that_quotes_the_count_has_all_right_in_both_arms(tmp_path: Path) -> None:
    price = PriceUsed(usd_per_million_input=1.0, usd_per_million_output=10.0)
    with speaking(counts) as server:
        run = run_of(server, tmp_path, "toolcalls", *SMALL, price=price)
    assert (run.state, run.missing) == ("complete", ())
    for arm in ("count", "rows"):
        assert value(run, f"toolcalls.{arm}.right") == value(run, f"toolcalls.{arm}.11.right") == 26
        assert value(run, f"toolcalls.{arm}.11.tokens") == 70
        assert value(run, f"toolcalls.{arm}.11.usd") == pytest.approx((70 * 10 + 40 * 1) / 1e6)
    part = run.part("toolcalls")
    assert part is not None
    assert part.settings["max_tokens"] == 8192
    item = part.items[-1]
    assert (item.id, item.expected, item.said, item.facts["miss"]) == ("rows-first-5", "8", "8", "")
    assert json.loads(str(item.facts["filters"])) == ["id >= 10"]
    assert json.loads(str(item.facts["filters_right"])) == [True]


@pytest.mark.usefixtures("fewer")
def test_a_call_and_what_it_returned_are_the_next_turns(tmp_path: Path) -> None:
    with speaking(counts) as server:
        run_of(server, tmp_path, "toolcalls", "toolcalls.arms=count", *SMALL)
        second = next(body for body in server.bodies if len(body["messages"]) == 3)
    assert [each["role"] for each in second["messages"]] == ["user", "assistant", "tool"]
    call = second["messages"][1]["tool_calls"][0]
    assert call["function"]["name"] == "count_ids"
    assert second["messages"][2]["tool_call_id"] == call["id"]
    assert json.loads(second["messages"][2]["content"])["where"] == json.loads(call["function"]["arguments"])["where"]
    assert second["tool_choice"] == "auto"


@pytest.mark.usefixtures("fewer")
def test_a_model_that_miscounts_the_rows_and_misquotes_the_count_is_told_apart(tmp_path: Path) -> None:
    with speaking(lambda body: counts(body, wrong_by=1)) as server:
        run = run_of(server, tmp_path, "toolcalls", *SMALL)
    assert (value(run, "toolcalls.count.right"), value(run, "toolcalls.count.misquoted")) == (0, 6)
    assert (value(run, "toolcalls.rows.right"), value(run, "toolcalls.rows.miscounted")) == (0, 6)


def test_an_endpoint_without_a_parser_is_named_and_not_scored(tmp_path: Path) -> None:
    def raw(body: dict[str, Any]) -> Said:
        return Said(f'<|tool_call>call:{tool(body)}{{where:"id >= 10"}}')

    with speaking(raw) as server:
        run = run_of(server, tmp_path, "toolcalls", *SMALL)
        asked = len(server.bodies)
    figure = run.figure("toolcalls.count.right")
    assert figure is not None
    assert figure.value is None
    assert "has no parser for this model" in figure.why
    assert run.state == "incomplete"
    assert asked == 6  # three of each arm


def test_an_endpoint_that_refuses_tools_is_named_and_not_scored(tmp_path: Path) -> None:
    message = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    with speaking(lambda _: Said(message, status=400)) as server:
        run = run_of(server, tmp_path, "toolcalls", "toolcalls.arms=rows", *SMALL)
    figure = run.figure("toolcalls.rows.right")
    assert figure is not None
    assert (figure.value, "refuses tools" in figure.why) == (None, True)


@pytest.mark.usefixtures("fewer")
def test_python_is_run_on_the_ids_of_the_prompt(tmp_path: Path) -> None:
    def programs(body: dict[str, Any]) -> Said:
        last = body["messages"][-1]
        if last["role"] == "user":
            where = WHERE[question(body)].replace("id", "i")
            code = f"print(sum(1 for i in ids if {where}))"
            return Said(calls=(("run_python", json.dumps({"code": code})),))
        return Said(f"Answer: {last['content'].strip()}")

    with speaking(programs) as server:
        run = run_of(server, tmp_path, "toolcalls", "toolcalls.arms=python", *SMALL)
    assert value(run, "toolcalls.python.right") == 6


@pytest.mark.usefixtures("fewer")
def test_a_model_that_calls_for_ever_is_cut_after_four_replies(tmp_path: Path) -> None:
    def endless(body: dict[str, Any]) -> Said:
        return Said(calls=((tool(body), '{"where": "id > 5"}'),))

    with speaking(endless) as server:
        run = run_of(server, tmp_path, "toolcalls", "toolcalls.arms=count", *SMALL)
        longest = max(len(body["messages"]) for body in server.bodies)
    assert longest == 1 + 2 * 3
    assert value(run, "toolcalls.count.right") == 0
    assert value(run, "toolcalls.count.unreadable") == 6


def test_larger_lists_and_other_arithmetic_are_asked_for_by_option(tmp_path: Path) -> None:
    with speaking(lambda _: Said("Answer: 1")) as server:
        run = run_of(
            server, tmp_path, "toolcalls", "toolcalls.arms=rows", "toolcalls.sizes=110,330", "toolcalls.what=sum",
            "toolcalls.harder=on", "toolcalls.at_once=16",
        )  # fmt: skip
        assert all(re.match("What is the sum", prompt) for prompt in server.prompts)
    assert value(run, "toolcalls.rows.no_call") == 54


@pytest.mark.parametrize("option", ["toolcalls.arms=hands", "toolcalls.what=median", "toolcalls.sizes=5"])
def test_wrong_options_are_refused(option: str, tmp_path: Path) -> None:
    with speaking(counts) as server, pytest.raises(InvalidInput, match="toolcalls"):
        run_of(server, tmp_path, "toolcalls", option)
