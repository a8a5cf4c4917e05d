"""Decisions read from scripted servers: top k, exact ids, refused probes, and an endpoint that cannot be read."""

from __future__ import annotations

import json
from math import log
from pathlib import Path
from typing import Any

from tests.tools.measure.scripted import Said, run_of, speaking, value
from tools.measure.cost import PriceUsed
from tools.measure.decisions.comparing import agreement
from tools.measure.decisions.keeping import decisions_of

IDS = {"A": 236776, "B": 236799, "C": 236780}


def right_letter(prompt: str) -> str:
    """The letter of the true option, by reading the prompt as a person would."""
    lines = [line for line in prompt.splitlines() if line[1:3] == ". "]
    numbers = [int(word.strip("?")) for word in prompt.splitlines()[0].split() if word.strip("?").isdigit()]
    if numbers:
        wanted = "yes" if numbers[0] > numbers[1] else "no"
        return next(line[0] for line in lines if line[3:] == wanted)
    return max(lines, key=lambda line: int(line[3:]))[0]


def sure(body: dict[str, Any], most: int = 20) -> Said:
    """Answers right with 0.8 on the right letter and 0.1 on another; returns at most so many."""
    if body.get("top_logprobs", 0) > most:
        return Said(f"top_logprobs must be at most {most}", status=400)
    prompt = body["messages"][-1]["content"]
    letter = right_letter(prompt)
    other = "B" if letter == "A" else "A"
    return Said(letter, top=((letter, log(0.8)), (other, log(0.1)), ("The", log(0.02))))


def test_the_top_twenty_are_read_where_more_are_refused(tmp_path: Path) -> None:
    with speaking(sure) as server:
        run = run_of(server, tmp_path, "decisions", price=PriceUsed(usd_per_hour=2.97))
    assert (run.state, run.missing) == ("complete", ())
    assert value(run, "decisions.right") == 80
    assert 0.4 < (value(run, "decisions.larger of two.majority") or 0) < 0.7
    assert value(run, "decisions.label_mass") == 0.9
    assert (value(run, "decisions.ece_at_bound") or 0) > (value(run, "decisions.ece") or 0)
    assert value(run, "decisions.fallback_share") == 0.5  # the third label of forty items did not come back
    assert value(run, "decisions.top_is_label") == 80
    assert value(run, "decisions.largest of three.changed") == 0
    assert (value(run, "decisions.p90_ms") or 0) >= (value(run, "decisions.p50_ms") or 0) > 0
    rate = value(run, "decisions.per_second") or 0
    assert value(run, "decisions.usd_per_million") is not None
    assert (value(run, "decisions.usd_per_million") or 0) / (2.97 / 3600 / rate * 1e6) == 1
    part = run.part("decisions")
    assert part is not None
    assert len(part.items) == 160
    tried = str(part.items[0].facts["tried"])
    assert "no tokenizer" in tried
    assert "top 500: " in tried
    assert "top_logprobs must be at most 20" in tried
    assert tried.endswith('top 20: 3 log-probabilities ("B" -0.223, "A" -2.303, "The" -3.912)'), "what came is kept"
    assert {item.facts["read"] for item in part.items} == {"top 20"}
    assert part.errors == {}


def test_decisions_come_back_out_of_the_record_as_they_were_read(tmp_path: Path) -> None:
    with speaking(sure) as server:
        run = run_of(server, tmp_path, "decisions", "decisions.limit=50", "decisions.reversed=off")
    part = run.part("decisions")
    assert part is not None
    decisions = decisions_of(part.items)
    assert [decision.right for decision in decisions] == [True] * 50
    three = decisions[-1]
    assert three.read is not None
    assert (three.read.returned, three.read.labels, len(three.item.options)) == (2, ("A", "B", "C"), 3)
    (row, _, _) = agreement(decisions, decisions)
    assert (row.n, row.equal) == (40, 40)


def test_the_labels_own_ids_are_read_where_the_endpoint_takes_them(tmp_path: Path) -> None:
    def exact(body: dict[str, Any]) -> Said:
        ids = body.get("logprob_token_ids")
        if ids is None:
            return Said("exact only", status=400)
        letter = right_letter(body["messages"][-1]["content"])
        top = [(f"token_id:{id_}", log(0.9 if IDS[letter] == id_ else 0.01)) for id_ in ids]
        return Said(letter, top=tuple(sorted(top, key=lambda pair: -pair[1])))

    with speaking(exact, paths={"/tokenize": lambda body: {"tokens": [IDS[body["prompt"]]]}}) as server:
        run = run_of(server, tmp_path, "decisions", "decisions.limit=10", "decisions.reversed=off")
    part = run.part("decisions")
    assert part is not None
    assert {item.facts["read"] for item in part.items} == {"exact"}
    assert (value(run, "decisions.right"), value(run, "decisions.fallback_share")) == (10, 0)


def test_an_endpoint_that_fails_on_ids_is_read_by_its_top_tokens(tmp_path: Path) -> None:
    def tpu(body: dict[str, Any]) -> Said:
        return Said("list index out of range", status=500) if "logprob_token_ids" in body else sure(body, most=32)

    with speaking(tpu, paths={"/tokenize": lambda body: {"tokens": [IDS[body["prompt"]]]}}) as server:
        run = run_of(server, tmp_path, "decisions", "decisions.limit=6", "decisions.reversed=off")
    part = run.part("decisions")
    assert part is not None
    assert part.items[0].facts["read"] == "top 32"
    assert "list index out of range" in str(part.items[0].facts["tried"])


def test_an_endpoint_that_cannot_be_read_is_left_after_the_probe_and_says_why(tmp_path: Path) -> None:
    with speaking(lambda _: Said("A")) as server:
        run = run_of(server, tmp_path, "decisions")
        asked = len(server.bodies)
    assert run.state == "incomplete"
    assert "no log-probabilities came back" in run.missing[0]
    assert asked == 4


def test_labels_that_never_come_back_end_the_run_after_five_items(tmp_path: Path) -> None:
    with speaking(lambda _: Said("The", top=(("The", log(0.9)), ("I", log(0.05))))) as server:
        run = run_of(server, tmp_path, "decisions")
        asked = len(server.bodies)
    assert "no label came back on any item" in run.missing[0]
    assert asked == 1 + 5


def test_a_failed_request_is_wrong_and_stays(tmp_path: Path) -> None:
    seen: list[int] = []

    def breaks(body: dict[str, Any]) -> Said:
        seen.append(1)
        return Said("out of memory", status=500) if len(seen) == 12 else sure(body)

    with speaking(breaks) as server:
        run = run_of(
            server, tmp_path, "decisions", "decisions.limit=10", "decisions.reversed=off", "decisions.at_once=1"
        )
    figure = run.figure("decisions.right")
    assert figure is not None
    assert (figure.value, figure.n) == (9, 10)


def test_a_file_of_items_is_read_with_its_options_reversed(tmp_path: Path) -> None:
    lines = [
        json.dumps(
            {"id": f"i{n}", "question": f"Is {n + 20} larger than 20?", "options": ["yes", "no"], "answer": "yes"}
        )
        for n in range(1, 7)
    ]
    (tmp_path / "items.jsonl").write_text("\n".join(lines))

    def first_letter(_: dict[str, Any]) -> Said:
        return Said("A", top=(("A", log(0.7)), ("B", log(0.2))))

    with speaking(first_letter) as server:
        run = run_of(server, tmp_path, "decisions", f"decisions.items={tmp_path / 'items.jsonl'}")
    assert value(run, "decisions.right") == 6
    assert value(run, "decisions.all.changed") == 6  # it always says the first letter
    assert value(run, "decisions.majority") == 1
