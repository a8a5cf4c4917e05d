from __future__ import annotations

from tools.measure.client import Reply
from tools.measure.client.stalls import marked


def reply(*gaps: float, sent: float = 0.0, fixed: bool = True) -> Reply:
    first = sent + 0.1
    last = first + sum(gaps)
    return Reply("", sent=sent, first=first, last=last, ended=last, gaps=gaps, chunks=len(gaps) + 1, fixed_length=fixed)


STEADY = (0.03,) * 100
PAUSED = (*(0.03,) * 20, 1.5, *(0.03,) * 20)


def kinds(*replies: Reply) -> list[str]:
    return [each.kind for each in marked(replies)]


def test_a_reply_that_stands_still_while_another_goes_on_has_stalled() -> None:
    assert kinds(reply(*PAUSED), reply(*STEADY)) == ["stalled", "ok"]


def test_a_pause_of_all_replies_in_flight_is_the_engines_speed() -> None:
    assert kinds(reply(*PAUSED), reply(*PAUSED)) == ["ok", "ok"]


def test_a_pause_while_the_others_still_wait_for_their_first_token_is_the_engines_speed() -> None:
    late = Reply("", sent=0.0, first=2.4, last=3.0, ended=3.0, gaps=(0.03,) * 20, chunks=21, fixed_length=True)
    assert kinds(reply(*PAUSED), late) == ["ok", "ok"]


def test_a_pause_that_nothing_explains_is_a_stall_even_when_all_have_it() -> None:
    forever = (*(0.03,) * 20, 4.0, *(0.03,) * 20)
    assert kinds(reply(*forever), reply(*forever)) == ["stalled", "stalled"]


def test_a_reply_alone_has_nothing_to_wait_for() -> None:
    assert kinds(reply(*PAUSED)) == ["stalled"]


def test_a_slow_engine_has_long_gaps_and_no_stall() -> None:
    assert kinds(reply(*(0.9,) * 10, 2.5), reply(*STEADY)) == ["ok", "ok"]


def test_replies_of_free_length_few_chunks_or_another_failure_are_left_alone() -> None:
    failed = Reply("", kind="cut", gaps=PAUSED, fixed_length=True)
    assert kinds(reply(*PAUSED, fixed=False), reply(0.01, 5.0), failed) == ["ok", "ok", "cut"]
