"""The drafter measurement against a server that says what it drafted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput
from tests.tools.measure.scripted import Said, Scripted, run_of, speaking, value
from tools.measure.client.batch import Batch
from tools.measure.client.connection import Connection, Exchange
from tools.measure.client.reply import Reply
from tools.measure.client.share import Share
from tools.measure.drafters.drafting import DraftersPlan, figures, plan
from tools.measure.drafters.prompts import KINDS
from tools.measure.measurement import Ask, Taken
from tools.measure.options import Options
from tools.measure.profiles import QUICK, STANDARD
from tools.measure.record import Run

TOKENS = 13
OPTIONS = ("drafters.kinds=code,story", "drafters.repeats=2", "drafters.tokens=13")


def drafting(folder: Path, *, kept: int, drafted: int, **more: Any) -> Run:
    """Replies of 13 tokens; the metrics count as many drafts a reply."""

    def metrics(_body: object) -> str:
        replies = len(server.bodies)
        lines = [f"vllm:generation_tokens_total {TOKENS * replies}"]
        if drafted:
            lines.append(f"vllm:spec_decode_num_draft_tokens_total {drafted * replies}")
            lines.append(f"vllm:spec_decode_num_accepted_tokens_total {kept * replies}")
        return "\n".join(lines) + "\n"

    server: Scripted
    with speaking(lambda _: Said("word " * 60, finish="length", tokens=TOKENS), paths={"/metrics": metrics}) as server:
        return run_of(server, folder, "drafters", *OPTIONS, levels=(1, 4), **more)


def test_tokens_a_step_and_guesses_kept_come_from_what_the_counters_moved_by(tmp_path: Path) -> None:
    run = drafting(tmp_path, kept=8, drafted=12)
    assert run.state == "complete"
    for key in ("drafters", "drafters.at_4"):
        assert value(run, f"{key}.tokens_per_step") == 3, "12 tokens after the first in 4 steps"
        assert value(run, f"{key}.kept_percent") == pytest.approx(100 * 8 / 12)
        assert value(run, f"{key}.drafted_per_step") == 3
    assert value(run, "drafters.story.tokens_per_step") == 3
    assert (value(run, "drafters.tokens_per_second") or 0) > 0
    part = run.part("drafters")
    assert part is not None
    assert [batch.label for batch in part.batches] == ["warm-up", *2 * ["kind code", "kind story", "at 4"]]
    assert part.batches[3].counters == {"generated": 52, "drafted": 48, "accepted": 32}


def alone(kind: str, tokens_per_second: float | None) -> tuple[str, int, Batch]:
    """A batch of one reply of three tokens; without a rate both ends of it came at once."""
    last = 1.0 + 2 / tokens_per_second if tokens_per_second else 1.0
    reply = Reply("", sent=0.9, first=1.0, last=last, ended=last, chunks=3, tokens=3)
    return f"kind {kind}", 1, Batch((reply,), 0.9, last - 0.9, Share())


def test_the_geometric_mean_is_that_of_the_kinds_round_by_round() -> None:
    rounds = (("code", 40.0), ("story", 10.0), ("code", 90.0), ("story", None), ("code", 160.0), ("story", 40.0))
    shape = DraftersPlan(kinds=("code", "story"), repeats=3, tokens=3, levels=())
    found = {each.key: each for each in figures(shape, Taken([alone(kind, rate) for kind, rate in rounds]))}
    mean = found["drafters.tokens_per_second"]
    assert mean.samples == pytest.approx([20.0, 80.0]), "a round in which a kind has no rate has no mean"
    assert mean.value == pytest.approx(50.0)
    assert found["drafters.code.tokens_per_second"].samples == pytest.approx([40.0, 90.0, 160.0])
    assert found["drafters.story.tokens_per_second"].samples == pytest.approx([10.0, 40.0])


def test_where_nothing_is_drafted_each_step_is_a_token_and_no_share_is_kept(tmp_path: Path) -> None:
    run = drafting(tmp_path, kept=0, drafted=0)
    assert value(run, "drafters.tokens_per_step") == 1
    kept = run.figure("drafters.kept_percent")
    assert kept is not None
    assert (kept.value, kept.why) == (None, "nothing was drafted")


def test_an_engine_that_tells_nothing_still_has_its_speeds(tmp_path: Path) -> None:
    with speaking(lambda _: Said("word " * 60, finish="length", tokens=TOKENS)) as server:
        run = run_of(server, tmp_path, "drafters", *OPTIONS, levels=(1,))
    step = run.figure("drafters.tokens_per_step")
    assert step is not None
    assert (step.value, step.why.startswith("the engine does not report")) == (None, True)
    assert (value(run, "drafters.tokens_per_second") or 0) > 0
    assert run.state == "complete"


def test_every_run_sends_the_same_words_and_no_level_of_one() -> None:
    first, second = plan(Ask(STANDARD, "a")), plan(Ask(STANDARD, "b"))
    assert first == second
    assert (first.kinds, first.repeats, first.tokens, first.levels) == (tuple(KINDS), 3, 256, (4, 16))
    assert first.steps == 1 + 3 * (6 + 2)
    assert plan(Ask(QUICK, "a")).tokens == 48


def test_a_kind_that_there_is_not_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(InvalidInput, match=r"drafters\.kinds=poem"):
        plan(Ask(QUICK, "a", options=Options({"drafters.kinds": "code,poem"})))


def test_a_client_whose_turn_came_late_still_has_a_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    send = Connection.send

    def late(connection: Connection, request: bytes, exchange: Exchange) -> None:
        send(connection, request, exchange)
        time.sleep(0.02)

    monkeypatch.setattr(Connection, "send", late)
    with speaking(lambda _: Said("word " * 60, finish="length", tokens=TOKENS)) as server:
        run = run_of(server, tmp_path, "drafters", *OPTIONS, levels=(1,))
    assert run.state == "complete"
