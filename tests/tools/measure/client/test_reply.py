from __future__ import annotations

import pytest

from tools.measure.client import Reply


def test_time_per_token_is_last_minus_first_over_n_minus_one() -> None:
    reply = Reply("", sent=1.0, first=1.5, last=2.5, chunks=11, tokens=11)
    assert (reply.ttft, reply.seconds, reply.tokens_between) == (0.5, 1.5, 10.0)
    assert reply.tpot == pytest.approx(0.1)


def test_an_end_token_without_a_chunk_is_not_between_the_stamps() -> None:
    stopped = Reply("", first=1.0, last=2.0, chunks=11, tokens=12, finish="stop")
    at_the_limit = Reply("", first=1.0, last=2.0, chunks=11, tokens=12, finish="length")
    assert stopped.tokens_between == 10.0
    assert at_the_limit.tokens_between == pytest.approx(12 - 12 / 11)


def test_the_first_chunk_of_a_drafter_has_its_share_of_the_tokens() -> None:
    reply = Reply("", first=1.0, last=1.9, chunks=10, tokens=40)
    assert (reply.tokens_per_chunk, reply.tokens_between) == (4.0, 36.0)
    assert reply.tpot == pytest.approx(0.025)


def test_one_token_has_no_time_per_token_and_no_reply_has_none() -> None:
    assert Reply("", first=1.0, last=1.0, chunks=1, tokens=1).tpot is None
    assert Reply("").tpot is None
    assert Reply("").tokens_per_chunk == 0


def test_without_an_answer_there_is_no_time_to_one() -> None:
    assert Reply("", sent=1.0, first=2.0).ttfa is None
    assert Reply("", sent=1.0, first=2.0, first_answer=3.0).ttfa == 2.0
