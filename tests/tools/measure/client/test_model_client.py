from __future__ import annotations

import asyncio
import gc
import socket
from functools import partial
from typing import Any

import pytest

from clouds.errors import InvalidInput
from clouds.models import Wire
from tests.tools.measure.truth import Truth
from tools.measure.client import Batch, ChatRequest, Limits, ModelClient, Reply


def fixed(count: int, tokens: int = 12) -> list[ChatRequest]:
    return [ChatRequest(f"say {n}", tokens, label=str(n), fixed_length=True) for n in range(count)]


def test_a_reply_has_the_servers_timing_its_tokens_and_its_text(serve: Any, with_client: Any) -> None:
    truth = serve(ttft=0.02, itl=0.004)
    reply: Reply = with_client(truth, lambda client: client.one(fixed(1)[0]))
    assert (reply.kind, reply.tokens, reply.tokens_from, reply.chunks, reply.text) == (
        "ok",
        12,
        "usage",
        12,
        "tok " * 12,
    )
    assert reply.ttft >= 0.019  # the timers of a loop count whole milliseconds
    assert reply.seconds >= 0.019 + 11 * 0.004
    assert reply.tpot == pytest.approx((reply.seconds - reply.ttft) / 11)
    assert reply.ttfa == reply.ttft
    assert len(reply.gaps) == 11


def test_all_requests_of_a_batch_are_in_flight_together_and_none_is_lost(serve: Any, with_client: Any) -> None:
    truth = serve(ttft=0.1)
    batch: Batch = with_client(truth, lambda client: client.together(fixed(40)))
    assert [reply.kind for reply in batch.replies] == ["ok"] * 40
    assert truth.most_together == 40
    assert batch.wall >= 0.099 + 11 * 0.0005


def test_in_flight_never_has_more_streams_than_asked_and_keeps_the_order(serve: Any, with_client: Any) -> None:
    truth = serve()
    batch: Batch = with_client(truth, lambda client: client.in_flight(fixed(15), 4))
    assert [reply.label for reply in batch.replies] == [str(n) for n in range(15)]
    assert truth.most_together == 4


FAULTS = {
    "429": "http_429",
    "400": "http_4xx",
    "500": "http_5xx",
    "302": "http_other",
    "cut": "cut",
    "stall": "stalled",
    "junk": "malformed",
    "told": "told",
    "short": "short",
}


@pytest.mark.usefixtures("short_stalls")
def test_every_fault_has_its_kind_and_leaves_the_others_alone(serve: Any, with_client: Any) -> None:
    faults = ["", *FAULTS, "nousage", "slow"]
    truth = serve(fault=lambda _n, body: faults[int(body["messages"][0]["content"].split()[1])])
    batch: Batch = with_client(truth, lambda client: client.together(fixed(len(faults))))
    kinds = {fault: reply.kind for fault, reply in zip(faults, batch.replies, strict=True)}
    assert kinds == {"": "ok", **FAULTS, "nousage": "ok", "slow": "ok"}
    assert [reply.label for reply in batch.good] == ["0", "10", "11"]
    ends = {reply.label: reply.ended for reply in batch.replies}
    assert batch.started + batch.wall < ends["6"]  # the stalled reply ended last and is in no timing


@pytest.mark.parametrize("per_chunk", [1, 4])
def test_a_reply_of_fixed_length_without_usage_has_its_limit_and_another_its_chunks(
    serve: Any, with_client: Any, per_chunk: int
) -> None:
    truth = serve(fault=lambda *_: "nousage", per_chunk=per_chunk)
    reply: Reply = with_client(truth, lambda client: client.one(fixed(1)[0]))
    assert (reply.kind, reply.tokens, reply.tokens_from) == ("ok", 12, "limit")
    reply = with_client(truth, lambda client: client.one(ChatRequest("say", 12)))
    assert (reply.kind, reply.tokens, reply.tokens_from) == ("ok", 12 // per_chunk, "chunks")


def test_a_retry_after_is_kept_and_nothing_is_tried_again(serve: Any, with_client: Any) -> None:
    truth = serve(fault=lambda *_: "429")
    reply: Reply = with_client(truth, lambda client: client.one(fixed(1)[0]))
    assert (reply.kind, reply.status, reply.retry_after) == ("http_429", 429, 7.0)
    assert len(truth.bodies) == 1


def test_silence_from_the_start_is_a_timeout_and_silence_later_a_stall(serve: Any, with_client: Any) -> None:
    silent, hanging = serve(fault=lambda *_: "silent"), serve(fault=lambda *_: "hang")
    ask = lambda client: client.one(fixed(1)[0])  # noqa: E731 - said twice
    assert with_client(silent, ask, Limits(first=0.05, gap=0.05)).kind == "timeout"
    assert with_client(hanging, ask, Limits(first=2, gap=0.05)).kind == "stalled"


def test_where_nothing_listens_the_request_is_refused(with_client: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = Truth(url=f"http://127.0.0.1:{taken.getsockname()[1]}")
        batch: Batch = with_client(nobody, lambda client: client.together(fixed(3)))
    assert [reply.kind for reply in batch.replies] == ["refused"] * 3
    assert batch.wall == 0


def test_events_that_the_network_splits_anywhere_are_read_whole(serve: Any, with_client: Any) -> None:
    truth = serve(writes=lambda data: [data[:1], data[1:9], data[9:-1], data[-1:]])
    batch: Batch = with_client(truth, lambda client: client.together(fixed(4)))
    assert {(reply.kind, reply.chunks, reply.text) for reply in batch.replies} == {("ok", 12, "tok " * 12)}


@pytest.mark.parametrize("delta", ["reasoning", "reasoning_content", "tool_calls"])
def test_the_first_delta_of_any_kind_counts_and_the_first_answer_is_a_figure_of_its_own(
    serve: Any, with_client: Any, delta: str
) -> None:
    truth = serve(ttft=0.02, itl=0.004, delta=delta)
    reply: Reply = with_client(truth, lambda client: client.one(fixed(1)[0]))
    assert reply.ttfa is not None
    assert reply.ttfa > 0.02 + 5 * 0.004  # six gaps; a timer may be some microseconds early
    assert reply.ttft < reply.ttfa
    assert reply.text == "tok " * 6
    assert (reply.chunks, reply.tokens) == (12, 12)


def test_chunks_of_several_tokens_say_so_and_the_time_per_token_is_still_right(serve: Any, with_client: Any) -> None:
    truth = serve(ttft=0.02, itl=0.005, per_chunk=4)
    reply: Reply = with_client(truth, lambda client: client.one(fixed(1, 40)[0]))
    assert (reply.chunks, reply.tokens, reply.tokens_per_chunk, reply.tokens_between) == (10, 40, 4.0, 36.0)
    assert reply.tpot == pytest.approx((reply.last - reply.first) / 36)


def test_an_engine_that_closes_without_saying_so_costs_no_reply(serve: Any, with_client: Any) -> None:
    truth = serve(keep_alive=False)

    async def both(client: ModelClient) -> tuple[Batch, Batch]:
        return await client.in_flight(fixed(9), 2), await client.together(fixed(5))

    first, second = with_client(truth, both)
    assert [reply.kind for reply in (*first.replies, *second.replies)] == ["ok"] * 14


def test_connections_are_used_again_between_questions_unless_the_wire_wants_fresh_ones(
    serve: Any, with_client: Any
) -> None:
    kept, fresh = serve(), serve()
    with_client(kept, lambda client: client.in_flight(fixed(6), 1))
    with_client(fresh, lambda client: client.in_flight(fixed(6), 1), fresh_connection=True)
    assert (kept.connections, fresh.connections) == (1, 6)


def test_each_request_is_signed_by_itself_over_its_own_bytes(serve: Any, with_client: Any) -> None:
    truth = serve()
    signed: list[tuple[str, str, bytes]] = []

    def sign(method: str, url: str, body: bytes) -> dict[str, str]:
        signed.append((method, url, body))
        return {"X-Signature": str(len(signed))}

    with_client(truth, lambda client: client.together(fixed(2)), sign=sign, extra_body={"top_k": 1})
    assert [(method, url) for method, url, _ in signed] == [("POST", f"{truth.url}/v1/chat/completions")] * 2
    assert signed[0][2] != signed[1][2]
    assert all(b'"top_k":1' in body for _, _, body in signed)
    assert sorted(head.lower().count("x-signature") for head in truth.heads) == [1, 1]


def test_a_key_that_the_server_repeats_in_its_refusal_is_withheld(serve: Any, with_client: Any) -> None:
    truth = serve(key="right-key-1234")
    reply: Reply = with_client(
        truth, lambda client: client.one(fixed(1)[0]), headers={"Authorization": "Bearer right-key-9999"}
    )
    assert (reply.kind, reply.status) == ("http_4xx", 401)
    assert "9999" not in reply.detail


def test_a_header_with_a_line_break_is_refused_before_anything_is_sent(serve: Any, with_client: Any) -> None:
    truth = serve()
    with pytest.raises(InvalidInput, match="line break"):
        with_client(truth, lambda client: client.one(fixed(1)[0]), headers={"X": "a\r\nY: b"})
    assert truth.connections == 0


@pytest.mark.parametrize("url", ["ftp://127.0.0.1:1", "http://", "127.0.0.1:80", "http://127.0.0.1:99999"])
def test_an_address_that_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="not an http"):
        ModelClient(Wire(url=url))


def test_the_client_measures_its_own_share(serve: Any, with_client: Any) -> None:
    truth = serve(ttft=0.05)
    batch: Batch = with_client(truth, lambda client: client.together(fixed(2)))
    assert 0 < batch.share.cpu < 1
    assert batch.share.lag_p99 is not None


def test_cancelling_ends_every_connection(serve: Any, with_client: Any) -> None:
    truth = serve(ttft=20.0)

    async def give_up(client: ModelClient) -> int:
        task = asyncio.create_task(client.together(fixed(3)))
        while truth.together < 3:
            await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return len(truth.bodies)

    assert with_client(truth, give_up) == 3


def test_cancelling_while_connections_are_being_opened_ends_those_too(serve: Any, with_client: Any) -> None:
    """A transport that is left open is a ResourceWarning, which fails the test."""
    truth = serve(ttft=20.0)

    async def give_up(turns: int, client: ModelClient) -> bool:
        task = asyncio.create_task(client.together(fixed(8)))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    for turns in range(12):
        assert with_client(truth, partial(give_up, turns))
    gc.collect()
