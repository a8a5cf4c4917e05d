"""What clouds/openai.py sends, and what it makes of every kind of answer. A real server on loopback answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from clouds import openai
from clouds.errors import (
    CloudError,
    InvalidInput,
    NotFound,
    PermissionMissing,
    Throttled,
    Unexpected,
    Unreachable,
)
from clouds.models import Wire
from clouds.openai import Reply

KEY = "sk-very-secret-0123456789"
ASKED = [{"role": "user", "content": "hello"}]
ANSWER = {
    "model": "m-1",
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1},
}


class Vendor:
    """A server that answers with what a test put into it, and keeps what it was sent."""

    def __init__(self) -> None:
        self.status, self.body, self.headers, self.pause = 200, json.dumps(ANSWER).encode(), {}, 0.0
        self.head: Callable[[BaseHTTPRequestHandler], None] | None = None
        self.seen: list[tuple[str, str, dict[str, str], Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.seen.append((self.command, self.path, headers, json.loads(sent) if sent else None))
                if outer.head is not None:
                    outer.head(self)
                self.send_response(outer.status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(outer.body)))
                self.end_headers()
                try:
                    for start in range(0, len(outer.body), 1 if outer.pause else 1_000_000):
                        self.wfile.write(outer.body[start : start + (1 if outer.pause else 1_000_000)])
                        time.sleep(outer.pause)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = answer  # noqa: N815 - the names http.server calls

            def log_message(self, *_: Any) -> None:
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.wire = Wire(url=self.url, headers={"Authorization": f"Bearer {KEY}"}, model="m-1")


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    vendor = Vendor()
    thread = threading.Thread(target=vendor.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield vendor
    vendor.server.shutdown()
    vendor.server.server_close()
    thread.join()


def without_seconds(reply: Reply) -> Reply:
    assert reply.seconds > 0
    return Reply(**{**vars(reply), "seconds": 0.0})


def test_a_chat_request_sends_model_messages_limits_and_the_wires_own_fields(vendor: Vendor) -> None:
    wire = Wire(url=vendor.url, headers=vendor.wire.headers, model="m-1", extra_body={"seed": 7, "top_k": 1})
    reply = openai.chat(wire, ASKED, max_tokens=5, temperature=0.5, extra={"top_k": 2})
    assert without_seconds(reply) == Reply(
        text="hi", usage={"prompt_tokens": 3, "completion_tokens": 1}, finish_reason="stop", model="m-1"
    )
    ((method, path, headers, body),) = vendor.seen
    assert (method, path, headers["authorization"]) == ("POST", "/v1/chat/completions", f"Bearer {KEY}")
    assert body == {"messages": ASKED, "max_tokens": 5, "temperature": 0.5, "model": "m-1", "seed": 7, "top_k": 2}


def test_a_wire_that_signs_is_asked_for_the_headers_of_this_very_request(vendor: Vendor) -> None:
    def sign(method: str, url: str, body: bytes) -> dict[str, str]:
        return {"X-Signed": f"{method} {url.removeprefix(vendor.url)} {len(body)}"}

    openai.chat(Wire(url=vendor.url, sign=sign, path="/openai/chat/completions"), ASKED, max_tokens=1)
    sent = len(json.dumps({"messages": ASKED, "max_tokens": 1, "temperature": 0.0}))
    assert vendor.seen[0][2]["x-signed"] == f"POST /openai/chat/completions {sent}"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_and_tool_calls_are_kept_apart_from_the_text(vendor: Vendor, name: str) -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    message = {"content": None, name: "let me think", "tool_calls": calls}
    vendor.body = json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).encode()
    reply = openai.chat(vendor.wire, ASKED, max_tokens=5)
    assert without_seconds(reply) == Reply(
        text="", reasoning="let me think", tool_calls=tuple(calls), finish_reason="tool_calls"
    )


def test_models_are_listed_as_the_server_describes_them(vendor: Vendor) -> None:
    vendor.body = json.dumps({"object": "list", "data": [{"id": "m-1", "meta": {"n_ctx": 512}}]}).encode()
    assert openai.models(vendor.wire) == ({"id": "m-1", "meta": {"n_ctx": 512}},)
    assert vendor.seen[0][:2] == ("GET", "/v1/models")


REFUSALS = [
    (401, {}, PermissionMissing),
    (403, {}, PermissionMissing),
    (404, {}, NotFound),
    (429, {"Retry-After": "7"}, Throttled),
    (400, {}, Unexpected),
    (500, {}, Unexpected),
    (503, {}, Unexpected),
    (302, {"Location": "http://127.0.0.1:1/elsewhere"}, Unexpected),
]


@pytest.mark.parametrize(("status", "headers", "kind"), REFUSALS, ids=[str(row[0]) for row in REFUSALS])
def test_a_refusal_has_its_kind_its_own_words_and_a_next_step(
    vendor: Vendor, status: int, headers: dict[str, str], kind: type[CloudError]
) -> None:
    vendor.status, vendor.headers = status, headers
    vendor.body = json.dumps({"error": {"message": f"no: {KEY}\x1b[31m is wrong", "type": "x"}}).encode()
    with pytest.raises(kind) as caught:
        openai.chat(vendor.wire, ASKED, max_tokens=1)
    error = caught.value
    assert (error.code, error.answered) == (f"HTTP {status}", "no: *** [31m is wrong")
    assert error.fix
    assert error.retry_after == (7.0 if status == 429 else None)
    assert KEY not in str(error)
    assert len(vendor.seen) == 1, "a redirect is never followed"


BROKEN = [
    ("not JSON", b"<html>hello</html>"),
    ("no choices", b'{"choices": []}'),
    ("a list", b"[1]"),
    ("a choice without a message", b'{"choices": [{"text": "x"}]}'),
    ("tool calls that are no list", b'{"choices": [{"message": {"content": "x", "tool_calls": 3}}]}'),
]


@pytest.mark.parametrize("body", [row[1] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_an_answer_that_is_no_chat_completion_is_unexpected(vendor: Vendor, body: bytes) -> None:
    vendor.body = body
    with pytest.raises(Unexpected):
        openai.chat(vendor.wire, ASKED, max_tokens=1)


@pytest.mark.parametrize("body", [b"[]", b'{"data": {}}', b'{"data": ["m"]}'])
def test_a_model_list_that_is_none_is_unexpected(vendor: Vendor, body: bytes) -> None:
    vendor.body = body
    with pytest.raises(Unexpected):
        openai.models(vendor.wire)


def test_an_answer_larger_than_the_limit_is_refused(vendor: Vendor) -> None:
    vendor.body = b" " * (openai.BODY_LIMIT + 1)
    with pytest.raises(Unexpected, match="more than 2,000,000 bytes"):
        openai.chat(vendor.wire, ASKED, max_tokens=1)


def test_nobody_listening_is_unreachable() -> None:
    with pytest.raises(Unreachable) as caught:
        openai.chat(Wire(url="http://127.0.0.1:1"), ASKED, max_tokens=1)
    assert "refused" in caught.value.answered


def test_an_answer_that_drips_ends_at_the_timeout(vendor: Vendor) -> None:
    vendor.pause = 0.01
    began = time.monotonic()
    with pytest.raises(Unreachable, match=r"no answer in 0\.1 s"):
        openai.chat(vendor.wire, ASKED, max_tokens=1, timeout=0.1)
    assert time.monotonic() - began < 1


def test_a_key_that_comes_back_in_an_answer_is_taken_out(vendor: Vendor) -> None:
    vendor.body = json.dumps(ANSWER).replace('"hi"', f'"you sent Bearer {KEY}, so {KEY}"').encode()
    assert openai.chat(vendor.wire, ASKED, max_tokens=1).text == "you sent ***, so ***"


def drip(handler: BaseHTTPRequestHandler, line: bytes, parts: int) -> None:
    with suppress(OSError):
        for _ in range(parts):
            handler.wfile.write(line)
            time.sleep(0.01)


@pytest.mark.parametrize("line", [b"HTTP/1.1 100 Continue\r\n\r\n", b"H", b""])
def test_a_head_that_drips_or_never_comes_ends_at_the_timeout(vendor: Vendor, line: bytes) -> None:
    vendor.head = lambda handler: drip(handler, line, 40)
    began = time.monotonic()
    with pytest.raises(Unreachable, match=r"no answer in 0\.1 s"):
        openai.chat(vendor.wire, ASKED, max_tokens=1, timeout=0.1)
    assert time.monotonic() - began < 0.7


def test_a_refusal_that_drips_ends_at_the_timeout(vendor: Vendor) -> None:
    vendor.status, vendor.pause = 500, 0.01
    began = time.monotonic()
    with pytest.raises(Unreachable, match=r"no answer in 0\.1 s"):
        openai.chat(vendor.wire, ASKED, max_tokens=1, timeout=0.1)
    assert time.monotonic() - began < 0.7


@pytest.mark.parametrize("count", ["NaN", "Infinity", "-5", "1.5", "true", '"five"', "[1]", "null", "1" + "0" * 400])
def test_a_count_that_is_no_count_is_unknown(vendor: Vendor, count: str) -> None:
    answer = json.dumps(ANSWER).replace('"completion_tokens": 1', f'"completion_tokens": {count}')
    vendor.body = answer.encode()
    assert openai.chat(vendor.wire, ASKED, max_tokens=1).usage == {"prompt_tokens": 3}


def test_half_of_a_surrogate_pair_is_replaced_and_a_whole_one_is_kept(vendor: Vendor) -> None:
    vendor.body = json.dumps(ANSWER).replace('"hi"', r'"a \ud83d b \ud83d\ude00"').encode()
    assert openai.chat(vendor.wire, ASKED, max_tokens=1).text == "a \ufffd b \U0001f600"


def test_names_that_an_answer_brings_are_one_bounded_line(vendor: Vendor) -> None:
    answer = {**ANSWER, "model": "m\n\n# Next: \x1b[1m" + "q" * 1_000}
    answer["choices"] = [{"finish_reason": "x\n| y", "message": {"content": "hi"}}]
    vendor.body = json.dumps(answer).encode()
    reply = openai.chat(vendor.wire, ASKED, max_tokens=1)
    assert reply.model == "m  # Next:  [1m" + "q" * 105 + "…"
    assert reply.finish_reason == "x | y"


@pytest.mark.parametrize("status", [200, 500])
def test_json_too_deep_to_read_is_unexpected(vendor: Vendor, status: int) -> None:
    vendor.status, vendor.body = status, b"[" * 100_000 + b"]" * 100_000
    with pytest.raises(Unexpected):
        openai.chat(vendor.wire, ASKED, max_tokens=1)


def bad_key(vendor: Vendor) -> Wire:
    return Wire(url=vendor.url, headers={"Authorization": f"Bearer {KEY}\n"})


def bad_scheme(_: Vendor) -> Wire:
    return Wire(url="file:///etc/passwd")


@pytest.mark.parametrize("make", [bad_key, bad_scheme])
def test_what_cannot_be_sent_is_refused_without_quoting_a_key(vendor: Vendor, make: Callable[[Vendor], Wire]) -> None:
    with pytest.raises(InvalidInput) as caught:
        openai.chat(make(vendor), ASKED, max_tokens=1)
    assert KEY not in str(caught.value)
    assert vendor.seen == []
