"""Passphrases in long prompts against a server that reads, forgets or refuses, and counts its tokens."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.tools.measure.scripted import Said, run_of, speaking, value
from tools.measure import longcontext
from tools.measure.client import Reply
from tools.measure.haystack import buried, filler, passphrase
from tools.measure.longcontext import plan
from tools.measure.measurement import Ask
from tools.measure.options import Options
from tools.measure.profiles import QUICK

LIMIT = 4096


def reader(body: dict[str, Any]) -> Said:
    """Reads everything within the limit; a word is a token."""
    prompt = body["messages"][-1]["content"]
    count = len(prompt.split())
    if count > LIMIT:
        return Said("This model's maximum context length is 4096 tokens.", status=400)
    found = re.search(r"passphrase is (\S+)\.\n", prompt)
    return Said(
        found[1].upper() if found else "word " * body["max_tokens"], prompt_tokens=count, tokens=body["max_tokens"]
    )


def test_every_passphrase_is_found_and_a_prompt_past_the_limit_is_refused(tmp_path: Path) -> None:
    with speaking(reader, context=LIMIT) as server:
        run = run_of(server, tmp_path, "longcontext")
    assert (run.state, run.missing) == ("complete", ())
    assert value(run, "longcontext.found") == 6
    assert value(run, "longcontext.past_limit_refused") == 1
    part = run.part("longcontext")
    assert part is not None
    assert part.settings["lengths"] == "1000, 3600"
    assert part.settings["depths_percent"] == "10, 50, 90"
    assert part.errors == {}  # a refusal of what is too long is no failed request
    item = part.items[-2]
    assert (item.id, item.expected, item.right, item.outcome) == ("3600-90", passphrase(3600, 90), True, "ok")
    # the filler has a few words more or less than the sample that tokens per sentence were learnt from
    assert abs(float(item.facts["prompt_tokens"] or 0) - 3600) < 110
    assert item.facts["kv_cache_share"] is None
    assert float(item.facts["prompt_tokens_per_second"] or 0) > 0
    assert (value(run, "longcontext.3600.prompt_tokens_per_second") or 0) > 0


def test_the_share_of_the_kv_cache_is_kept_where_the_engine_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(longcontext, "POLL", 0.005)
    polls = threading.Semaphore(0)

    def told(_: Any) -> str:
        polls.release()
        return 'vllm:kv_cache_usage_perc{model="x"} 0.385\n'

    def waits(body: dict[str, Any]) -> Said:
        if "The passphrase is" in body["messages"][-1]["content"]:
            for _ in range(2):  # the second look comes after the answer to the first has arrived
                assert polls.acquire(timeout=5)
        return reader(body)

    with speaking(waits, paths={"/metrics": told}) as server:
        run = run_of(server, tmp_path, "longcontext", "longcontext.lengths=300", "longcontext.depths=50")
    part = run.part("longcontext")
    assert part is not None
    assert part.items[0].facts["kv_cache_share"] == 0.385


def test_no_two_prompts_begin_alike_and_the_passphrase_stands_at_its_depth(tmp_path: Path) -> None:
    with speaking(reader) as server:
        run_of(server, tmp_path, "longcontext", "longcontext.lengths=500", "longcontext.depths=0,50,100")
        firsts = [prompt.splitlines()[0] for prompt in server.prompts]
        assert len(set(firsts)) == len(firsts)
        assert all(first.startswith("n0 ") for first in firsts)
        needles = [prompt.splitlines() for prompt in server.prompts if "The passphrase is" in prompt]
    places = [next(i for i, line in enumerate(lines) if line.startswith("The passphrase")) for lines in needles]
    total = len(needles[0])
    assert places[0] == 1
    assert abs(places[1] - total // 2) <= 2
    assert places[2] == total - 3


def test_what_is_forgotten_is_not_found_and_stays_among_those_asked(tmp_path: Path) -> None:
    def forgetful(body: dict[str, Any]) -> Said:
        prompt = body["messages"][-1]["content"]
        return reader(body) if prompt.find("The passphrase is") > len(prompt) / 3 else Said("I do not know.")

    with speaking(forgetful) as server:
        run = run_of(server, tmp_path, "longcontext", "longcontext.lengths=600", "longcontext.decode_at=0")
    part = run.part("longcontext")
    assert part is not None
    assert [(item.id, item.right) for item in part.items] == [("600-10", False), ("600-50", True), ("600-90", True)]
    figure = run.figure("longcontext.found")
    assert figure is not None
    assert (figure.value, figure.n, figure.label) == (2, 3, "passphrases found of 3")


def test_an_engine_that_takes_a_prompt_past_its_limit_is_shown_to(tmp_path: Path) -> None:
    def greedy(body: dict[str, Any]) -> Said:
        return Said("word " * body["max_tokens"], prompt_tokens=len(body["messages"][-1]["content"].split()))

    with speaking(greedy, context=1000) as server:
        run = run_of(server, tmp_path, "longcontext", "longcontext.lengths=100", "longcontext.depths=50")
    assert value(run, "longcontext.past_limit_refused") == 0
    assert value(run, "longcontext.found") == 0


def test_a_length_past_the_limit_is_recorded_as_refused_by_the_engine(tmp_path: Path) -> None:
    with speaking(reader) as server:
        run = run_of(server, tmp_path, "longcontext", "longcontext.lengths=9000", "longcontext.decode_at=0")
    part = run.part("longcontext")
    assert part is not None
    assert {item.outcome for item in part.items} == {"refused by the engine"}
    assert "maximum context length" in str(part.items[0].facts["answered"])
    assert value(run, "longcontext.9000.seconds") is None


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"kind": "http_4xx", "status": 400}, True),
        ({"kind": "http_4xx", "status": 424, "detail": "ModelError: prompt exceeds the context"}, True),
        ({"kind": "http_4xx", "status": 424, "detail": "ModelError: out of memory"}, False),
        ({"kind": "told", "status": 200, "detail": "maximum context length is 4096"}, True),
        ({"kind": "told", "status": 200, "detail": "out of memory"}, False),
        ({"kind": "http_5xx", "status": 500, "detail": "maximum context length is 4096"}, False),
        ({"kind": "ok", "status": 200}, False),
    ],
)
def test_a_refusal_is_known_by_its_status_or_its_words(fields: dict[str, Any], refused: bool) -> None:
    assert longcontext.refused_by_engine(Reply("past", **fields)) is refused
    assert longcontext.past_item(Reply("past", **fields)).right is refused


def test_an_answer_that_was_cut_off_before_the_passphrase_says_so(tmp_path: Path) -> None:
    def thinks(body: dict[str, Any]) -> Said:
        if body["max_tokens"] < 100:
            return Said(reasoning="Let me see.", finish="length", tokens=body["max_tokens"])
        return reader(body)

    options = ("longcontext.lengths=300", "longcontext.depths=10,90", "longcontext.decode_at=0")
    with speaking(thinks) as server:
        short = run_of(server, tmp_path, "longcontext", *options)
        long = run_of(server, tmp_path, "longcontext", *options, "longcontext.tokens=200")
    assert (value(short, "longcontext.found"), value(long, "longcontext.found")) == (0, 2)
    assert [each.text for each in short.warnings if each.kind == "cut_off"] == [
        "Passphrases in long prompts: 2 of 2 replies were cut off at 24 tokens; what they would have said is not known."
    ]
    assert not any(each.kind == "cut_off" for each in long.warnings)


def test_decode_is_timed_behind_each_length(tmp_path: Path) -> None:
    with speaking(reader) as server:
        run = run_of(
            server,
            tmp_path,
            "longcontext",
            "longcontext.lengths=200",
            "longcontext.depths=50",
            "longcontext.decode_at=0,1500",
            "longcontext.decode_tokens=16",
        )
        fixed = [body for body in server.bodies if body.get("ignore_eos")]
    assert [body["max_tokens"] for body in fixed] == [16, 16, 16, 16]
    assert (value(run, "longcontext.decode_at.1500") or 0) > 0


def test_lengths_follow_a_known_context_and_are_said_otherwise() -> None:
    assert plan(Ask(QUICK, "n", context_tokens=131_072)).lengths == (32_744, 117_878)
    assert plan(Ask(QUICK, "n")).lengths == (2000, 8000)
    made = plan(Ask(QUICK, "n", context_tokens=131_072, options=Options({"longcontext.decode_at": "0,32768,120000"})))
    assert made.decode_at == (0, 32_768, 120_000)
    assert made.steps == 1 + 6 + 6 + 1


def test_filler_never_repeats_a_line_and_passphrases_are_the_same_in_every_run() -> None:
    lines = filler(3000).split("\n")
    assert len(set(lines)) == len(lines) == 3000
    assert passphrase(8000, 50) == passphrase(8000, 50)
    assert re.fullmatch(r"[a-z]+-[a-z]+-\d{4}", passphrase(8000, 50))
    assert buried("n", 10, 50, "a-b-1", "x").count("a-b-1") == 1


@pytest.mark.parametrize("option", ["lengths=0", "lengths=many", "depths=101", "decode_tokens=2", "lengths="])
def test_wrong_options_are_refused(option: str, tmp_path: Path) -> None:
    from clouds.errors import InvalidInput

    with speaking(reader) as server, pytest.raises(InvalidInput, match="longcontext"):
        run_of(server, tmp_path, "longcontext", f"longcontext.{option}")
