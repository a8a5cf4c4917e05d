"""Steps from tokens and drafts, and whose drafts they are."""

from __future__ import annotations

import pytest

from tools.measure.client import Batch, Reply, Share
from tools.measure.drafters.counters import drafts_of, moved, parse
from tools.measure.drafters.steps import Steps, steps_of

VLLM = """# HELP vllm:spec_decode_num_drafts Number of drafts.
vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 12.0
vllm:spec_decode_num_drafts_total{engine="1",model_name="m"} 3.0
vllm:spec_decode_num_draft_tokens_total{engine="0"} 35.0
vllm:spec_decode_num_accepted_tokens_total{engine="0"} 30.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 12.0
vllm:generation_tokens_total{engine="0"} 4.8e+01
"""


def batch(*replies: Reply, **counters: float) -> Batch:
    return Batch(replies, 0.0, 1.0, Share(), counters)


def reply(tokens: int = 48, **engine: float) -> Reply:
    return Reply("", first=1.0, last=1.0 + 0.012 * 12, chunks=tokens, tokens=tokens, engine=engine)


def test_counters_of_both_engines_are_read_and_summed() -> None:
    assert parse(VLLM) == {"drafts": 15, "drafted": 35, "accepted": 30, "generated": 48}
    assert parse(VLLM.replace("vllm:generation", "vllm:other").replace("vllm:", "llamacpp:")) == {
        "drafts": 15,
        "drafted": 35,
        "accepted": 30,
    }
    assert parse("llamacpp:tokens_predicted_total 48") == {"generated": 48}


def test_a_page_without_them_tells_nothing() -> None:
    assert parse("process_cpu_seconds_total 3\nvllm:generation_tokens_total many\n") is None
    assert moved({"drafted": 1.0}, None) == {}
    assert moved({"drafted": 9.0}, {"drafted": 1.0}) == {}, "the engine was started again meanwhile"


def test_a_reply_of_llama_cpp_gives_the_mean_length_that_its_own_log_says() -> None:
    """Measured 2026-11-29: 48 tokens, 35 of 35 guesses kept, "mean len =  3.92" in the log."""
    steps = steps_of([batch(reply(predicted_n=48, draft_n=35, draft_n_accepted=35))])
    assert steps is not None
    assert steps.steps == 12
    assert steps.tokens_per_step == pytest.approx(3.92, abs=0.005)
    assert steps.kept_percent == 100
    assert steps.drafted_per_step == pytest.approx(35 / 12)
    assert steps.step_ms == pytest.approx(12)


def test_without_a_drafter_every_token_is_a_step() -> None:
    steps = steps_of([batch(reply(predicted_n=48))])
    assert steps is not None
    assert (steps.tokens_per_step, steps.kept_percent, steps.drafted_per_step) == (1, None, 0)


def test_counters_serve_where_replies_say_nothing() -> None:
    assert drafts_of(batch(reply(), reply(), generated=96, drafted=70, accepted=60)) == (70, 60)
    assert drafts_of(batch(reply(), generated=48)) == (0, 0)


def test_drafts_of_somebody_else_are_not_ours() -> None:
    assert drafts_of(batch(reply(), generated=480, drafted=70, accepted=60)) is None
    assert steps_of([batch(reply(predicted_n=48)), batch(reply(), generated=480)]) is None


def test_an_engine_that_tells_nothing_is_unknown_and_not_without_a_drafter() -> None:
    assert drafts_of(batch(reply())) is None
    assert steps_of([batch(reply())]) is None


def test_one_silent_reply_of_two_makes_the_own_counts_useless() -> None:
    assert drafts_of(batch(reply(predicted_n=48, draft_n=3, draft_n_accepted=1), reply())) is None


def test_as_many_kept_as_there_were_tokens_is_no_division_by_zero() -> None:
    assert Steps(10, 10, 10, 1.0).tokens_per_step is None
    assert Steps(10, 10, 10, 1.0).step_ms is None
