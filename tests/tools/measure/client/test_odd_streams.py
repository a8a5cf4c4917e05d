"""Streams as servers, proxies and engines really send them: each is read as what it is, or failed as what it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from clouds.models import Wire
from tools.measure.client import ChatRequest, ModelClient, Reply, sse
from tools.measure.client import connection as sockets

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
ASKED = 6


def event(delta: Any, **more: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, **more}]}).encode() + b"\n\n"


def usage(tokens: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [], "usage": {"completion_tokens": tokens}}).encode() + b"\n\n"


def plain(body: bytes, status: str = "200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\ncontent-length: %d\r\n\r\n%s" % (status.encode(), len(body), body)


TEXT = [event({"content": "t "})] * ASKED
MUTE = event({"content": ""})
END, DONE = event({}, finish_reason="length"), b"data: [DONE]\n\n"
TAIL = [END, usage(ASKED), DONE]


def asked(sent: Sequence[bytes], *, fixed: bool = True) -> Reply:
    """The reply to one request when the server sends these pieces, each by itself."""

    served = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
        with suppress(ConnectionError):
            for piece in sent:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.001)  # each piece is a read of its own
            writer.close()
            await writer.wait_closed()
        served.set()

    async def main() -> Reply:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server, ModelClient(Wire(url=url, model="m")) as client:
            reply = await client.one(ChatRequest("hi", ASKED, fixed_length=fixed))
            await served.wait()
            return reply

    with asyncio.Runner() as runner:
        return runner.run(main())


WHOLE: dict[str, list[bytes]] = {
    "a role alone first": [HEAD, event({"role": "assistant", "content": None}), *TEXT, *TAIL],
    "an empty text first": [HEAD, event({"role": "assistant", "content": ""}), *TEXT, *TAIL],
    "comments": [HEAD, b": ping\n\n", *TEXT[:3], b": ping\n\n", *TEXT[3:], *TAIL],
    "CRLF": [HEAD, *(each.replace(b"\n", b"\r\n") for each in (*TEXT, *TAIL))],
    "other fields": [HEAD, *(b"event: x\nid: 7\n" + each for each in (*TEXT, *TAIL))],
    "an interim answer": [b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n", HEAD, *TEXT, *TAIL],
    "usage in every chunk": [
        HEAD,
        *(each.replace(b"}]}", b'}], "usage": {"completion_tokens": %d}}' % n) for n, each in enumerate(TEXT, 1)),
        END,
        DONE,
    ],
    "content in parts": [HEAD, *[event({"content": [{"type": "text", "text": "t "}]})] * ASKED, *TAIL],
    "no blank line at the end": [HEAD, *TEXT, END, usage(ASKED), b"data: [DONE]"],
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_the_protocol_allows_is_read_whole(name: str) -> None:
    reply = asked(WHOLE[name])
    found = (reply.kind, reply.tokens, reply.tokens_from, reply.chunks, reply.text)
    assert found == ("ok", ASKED, "usage", ASKED, "t " * ASKED), reply.detail


FAILED: dict[str, tuple[list[bytes], str, str]] = {
    "an error as the body": ([plain(b'{"error": {"message": "overloaded"}}')], "told", "overloaded"),
    "an error object": ([plain(b'{"object": "error", "message": "bad context"}')], "told", "bad context"),
    "an error as a chunk": ([HEAD, b'data: {"object": "error", "message": "bad"}\n\n', DONE], "told", "bad"),
    "an error event": ([HEAD, *TEXT[:2], b'event: error\ndata: {"error": "oom"}\n\n', DONE], "told", "oom"),
    "a page": ([plain(b"<html>sign in</html>")], "malformed", "no event"),
    "nothing": ([plain(b"")], "cut", "ended without"),
    "an interim answer alone": ([b"HTTP/1.1 100 Continue\r\n\r\n"], "cut", "closed before"),
    "closed half-way": ([HEAD, *TEXT[:3]], "cut", "ended without"),
    "429 without a body": ([plain(b"", "429 X")], "http_429", "429"),
    "503 with a page": ([plain(b"<html>", "503 X")], "http_5xx", "503"),
    "no text at all": ([HEAD, *[MUTE] * ASKED, *TAIL], "short", "6 of 6 tokens in 0 chunks"),
    "fewer by its own count": ([HEAD, *TEXT, END, usage(3), DONE], "short", "3 of 6 tokens in 6 chunks"),
    "more by its own count": ([HEAD, *TEXT, END, usage(600), DONE], "long", "600 of 6 tokens in 6 chunks"),
    "a list": ([HEAD, b"data: [1, 2]\n\n", *TEXT, *TAIL], "malformed", "not JSON"),
}


@pytest.mark.parametrize("name", FAILED)
def test_what_is_no_reply_has_the_kind_and_the_words_of_what_it_is(name: str) -> None:
    sent, kind, words = FAILED[name]
    reply = asked(sent)
    assert reply.kind == kind
    assert words in reply.detail


@pytest.mark.parametrize("count", [None, 0, -1, "6", 6.5])
def test_a_count_that_cannot_be_true_is_no_count(count: Any) -> None:
    reply = asked([HEAD, *TEXT, END, usage(count), DONE], fixed=False)
    assert (reply.kind, reply.tokens, reply.tokens_from) == ("ok", ASKED, "chunks")


def test_one_token_more_is_an_end_token_that_some_engines_count() -> None:
    assert asked([HEAD, *TEXT, END, usage(ASKED + 1), DONE]).kind == "ok"


def test_a_reply_that_is_not_streamed_is_one_piece() -> None:
    message = {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}
    reply = asked([plain(json.dumps({**message, "usage": {"completion_tokens": ASKED}}).encode())], fixed=False)
    assert (reply.kind, reply.text, reply.tokens, reply.chunks, reply.finish) == ("ok", "hello", ASKED, 1, "stop")
    assert reply.ttft == reply.seconds > 0


@pytest.mark.parametrize("sent", [[MUTE] * 2, []])
def test_a_reply_without_any_text_took_until_it_ended(sent: list[bytes]) -> None:
    reply = asked([HEAD, *sent, *TAIL], fixed=False)
    assert (reply.kind, reply.chunks, reply.text, reply.ttfa) == ("ok", 0, "", None)
    assert 0 < reply.seconds < 1


def test_tokens_without_text_took_their_time_too() -> None:
    last = event({"content": ""}, finish_reason="length")
    reply = asked([HEAD, *TEXT[:3], MUTE, MUTE, last, usage(ASKED), DONE])
    assert (reply.kind, reply.chunks, len(reply.gaps), reply.text) == ("ok", 6, 5, "t t t ")
    assert reply.tokens_between == 5


def test_an_empty_delta_that_is_no_token_is_none() -> None:
    last = event({"content": ""}, finish_reason="length")
    assert asked([HEAD, *TEXT, MUTE, last, usage(ASKED), DONE]).chunks == ASKED
    assert asked([HEAD, *TEXT[:5], MUTE, last, usage(ASKED), DONE]).chunks == ASKED
    assert asked([HEAD, MUTE, *TEXT, usage(ASKED), END, DONE]).chunks == ASKED


def test_half_of_a_character_does_not_spoil_a_reply() -> None:
    halves = [event({"content": "\ud83d"}), TEXT[0].replace(b"t ", b"\xff")]
    reply = asked([HEAD, *halves, *TEXT[2:], *TAIL])
    assert (reply.kind, reply.text) == ("ok", "\ufffd\ufffd" + "t " * 4)


def test_a_stream_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "LARGEST", 2_000)
    reply = asked([HEAD, *[b": ping\n\n" * 100] * 10, *TEXT, *TAIL])
    assert (reply.kind, reply.detail) == ("malformed", "a reply of more than 2,000 bytes")


def test_an_event_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LARGEST", 2_000)
    reply = asked([HEAD, b"data: " + b"x" * 3_000, *TAIL])
    assert (reply.kind, reply.detail) == ("malformed", '"an event of more than 2,000 bytes"')
