from __future__ import annotations

import json

from clouds.models import Wire
from tools.measure.client import ChatRequest, Dialect
from tools.measure.client.request import Address, encode_chat

ASK = ChatRequest("hi", 8, fixed_length=True, extra={"logprobs": True})


def test_a_request_asks_for_everything_that_a_timing_needs() -> None:
    assert Dialect().body(ASK, "m") == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 8,
        "stream": True,
        "temperature": 0,
        "stream_options": {"include_usage": True},
        "ignore_eos": True,
        "cache_prompt": False,
        "logprobs": True,
    }


def test_a_refused_field_is_left_out_and_named() -> None:
    dialect = Dialect().without("Unrecognized request argument supplied: cache_prompt")
    assert dialect is not None
    assert dialect.left_out == ("cache_prompt",)
    assert "cache_prompt" not in dialect.body(ASK, "")
    assert dialect.without("ignore_eos is not allowed") == Dialect(cache_prompt=False, ignore_eos=False)


def test_another_name_of_the_limit_is_learnt() -> None:
    dialect = Dialect().without("'max_tokens' is not supported. Use 'max_completion_tokens' instead.")
    assert dialect is not None
    assert dialect.body(ASK, "")["max_completion_tokens"] == 8
    assert "max_tokens" not in dialect.body(ASK, "")


def test_a_refusal_that_names_no_field_or_one_left_out_already_changes_nothing() -> None:
    assert Dialect().without("the model is not loaded") is None
    assert Dialect(cache_prompt=False).without("cache_prompt") is None


def test_the_bytes_are_one_http_request() -> None:
    wire = Wire(url="http://localhost:81/base/", headers={"Authorization": "Bearer k"}, extra_body={"top_k": 1})
    head, _, body = encode_chat(wire, Address.of(wire), Dialect(), ASK, "m").partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /base/v1/chat/completions HTTP/1.1"
    assert {"Host: localhost:81", "Authorization: Bearer k", f"Content-Length: {len(body)}"} <= set(lines)
    assert json.loads(body)["top_k"] == 1


def test_the_usual_port_is_not_in_the_host_and_an_ipv6_address_is_in_brackets() -> None:
    plain, six = Wire(url="https://api.example.com"), Wire(url="http://[::1]:81")
    assert b"Host: api.example.com\r\n" in encode_chat(plain, Address.of(plain), Dialect(), ASK, "")
    assert b"Host: [::1]:81\r\n" in encode_chat(six, Address.of(six), Dialect(), ASK, "")


def test_an_engine_that_is_known_not_to_take_a_field_is_never_sent_it() -> None:
    assert Dialect.of(Wire(url="http://x")) == Dialect()
    assert Dialect.of(Wire(url="http://x", accepts=("ignore_eos", "top_k"))) == Dialect(cache_prompt=False)
