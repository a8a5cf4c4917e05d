"""Talking to a SageMaker endpoint: our own signed requests over a real socket, plain and streamed, whole and broken."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import botocore.session
import pytest
from botocore.credentials import RefreshableCredentials

from clouds.aws.api import AwsApi
from clouds.aws.endpoints.sagemaker import invoke
from clouds.errors import NotFound, NotSignedIn, PermissionMissing
from clouds.models import EndpointRef, Wire
from clouds.openai import chat
from tests.clouds.aws.rig import Rig
from tests.clouds.aws.simulator.http import KEY, SECRET, RuntimeServer
from tests.clouds.aws.simulator.runtime import Script
from tools.measure.client import ModelClient
from tools.measure.client.request import ChatRequest

IMAGE = {"Environment": {"SM_VLLM_MODEL": "google/gemma-4-E2B-it"}}
QUESTION = [{"role": "user", "content": "Why is the sky blue?"}]


@cache
def api(key: str = KEY, secret: str = SECRET) -> AwsApi:
    def build() -> botocore.session.Session:
        session = botocore.session.Session()
        session.set_credentials(key, secret)
        return session

    return AwsApi(build=build, attempts=1)


def at(server: RuntimeServer, account: AwsApi | None = None) -> Wire:
    """The wire of an endpoint, led to the loopback server: the host is signed, so it is the server's."""
    wire = invoke.wire(account or api(), "us-east-2", "gemma-4-e2b", IMAGE)
    return replace(wire, url=f"http://127.0.0.1:{server.port}")


def streamed(server: RuntimeServer, count: int = 1, **extra: Any) -> list[Any]:
    async def run() -> list[Any]:
        async with ModelClient(at(server)) as client:
            request = ChatRequest("Why is the sky blue?", max_tokens=16, extra=extra)
            return list((await client.together([request] * count)).replies)

    return asyncio.run(run())


def test_the_wire_is_the_region_s_runtime_with_a_path_for_each_kind_of_answer() -> None:
    wire = invoke.wire(api(), "us-east-2", "gemma-4-e2b", IMAGE)
    assert (wire.url, wire.frames) == ("https://runtime.sagemaker.us-east-2.amazonaws.com", "aws-event-stream")
    assert wire.path == "/endpoints/gemma-4-e2b/invocations-response-stream"
    assert (wire.plain_path, wire.model) == ("/endpoints/gemma-4-e2b/invocations", "google/gemma-4-E2B-it")
    assert SECRET not in repr(wire)


def test_connecting_reads_the_served_name_and_refuses_what_is_gone(rig: Rig) -> None:
    rig.deploy()
    ref = EndpointRef("aws", "sagemaker", "us-east-2", "gemma-4-e2b")
    assert rig.sagemaker.connect(ref).model == "google/gemma-4-E2B-it"
    with pytest.raises(NotFound):
        rig.sagemaker.connect(replace(ref, name="another"))


def test_a_plain_question_is_signed_and_answered_in_one_json() -> None:
    with RuntimeServer(Script(words=("Ray", "leigh"))) as server:
        reply = chat(at(server), QUESTION, max_tokens=16)
        assert (reply.text, reply.usage["completion_tokens"]) == ("Rayleigh", 2)
        (asked,) = server.asked
    assert asked["path"] == "/endpoints/gemma-4-e2b/invocations"
    assert (asked["type"], asked["body"]["model"]) == ("application/json", "google/gemma-4-E2B-it")


@pytest.mark.parametrize("cut", [1, 9, 37, 4000])
def test_a_streamed_answer_is_whole_however_its_lines_are_cut(cut: int) -> None:
    with RuntimeServer(Script(words=("Ray", "leigh ", "scattering"), cut=cut)) as server:
        (reply,) = streamed(server)
    assert (reply.kind, reply.text, reply.tokens, reply.tokens_from) == ("ok", "Rayleigh scattering", 3, "usage")


def test_the_server_of_these_tests_ends_with_no_connection_open() -> None:
    """What it left open would be found by the collector in some later test, and fail that."""
    with RuntimeServer() as server:
        held = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        held.sendall(b"POST /endpoints/gemma-4-e2b/invocations HTTP/1.1\r\n")
        chat(at(server), QUESTION, max_tokens=16)  # by now the one that is held has been accepted
    with held:
        assert held.recv(1) == b""


def test_sixteen_at_once_are_each_signed_for_themselves() -> None:
    with RuntimeServer() as server:
        replies = streamed(server, 16)
        assert len(server.asked) == 16
    assert [reply.kind for reply in replies] == ["ok"] * 16


def test_a_request_that_waits_for_its_turn_is_signed_when_it_comes() -> None:
    """AWS takes a signature for some minutes only; a long set of questions takes longer."""
    signed_after: list[int] = []

    async def run(wire: Wire) -> list[Any]:
        async with ModelClient(wire) as client:
            requests = [ChatRequest(f"Question {number}", max_tokens=4) for number in range(4)]
            return list((await client.in_flight(requests, 1)).replies)

    with RuntimeServer() as server:
        wire = at(server)

        def sign(method: str, url: str, body: bytes) -> Any:
            signed_after.append(len(server.asked))
            assert wire.sign is not None
            return wire.sign(method, url, body)

        replies = asyncio.run(run(replace(wire, sign=sign)))
    assert [reply.kind for reply in replies] == ["ok"] * 4
    assert signed_after == [0, 1, 2, 3]


@pytest.mark.parametrize("breaks_after", [0, 3])
def test_an_error_in_mid_stream_is_an_error_and_never_a_shorter_answer(breaks_after: int) -> None:
    with RuntimeServer(Script(words=("a",) * 20, cut=200, breaks_after=breaks_after)) as server:
        (reply,) = streamed(server)
    assert not reply.ok
    assert (reply.kind, "ModelStreamError" in reply.detail) == ("told", True)


def test_a_refusal_before_the_stream_keeps_aws_s_words_and_is_not_tried_again() -> None:
    refusal = {"OriginalStatusCode": 500, "OriginalMessage": "boom", "Message": "Received server error (500)"}
    with RuntimeServer(status=424, refusal=refusal) as server:
        (reply,) = streamed(server)
        assert len(server.asked) == 1
    assert reply.kind == "http_4xx"
    assert "HTTP 424" in reply.detail


def test_a_wrong_key_is_refused_by_its_signature() -> None:
    """The failing twin: the server does check."""
    with RuntimeServer() as server, pytest.raises(PermissionMissing, match="does not match"):
        chat(at(server, api(secret="another")), QUESTION, max_tokens=1)


def test_a_credential_that_is_about_to_end_is_renewed_before_it_signs() -> None:
    made: list[str] = []

    def fresh() -> dict[str, str]:
        made.append(f"token-{len(made)}")
        soon = (datetime.now(UTC) + timedelta(minutes=2)).isoformat()
        return {"access_key": KEY, "secret_key": SECRET, "token": made[-1], "expiry_time": soon}

    account = api()
    credentials = RefreshableCredentials.create_from_metadata(fresh(), refresh_using=fresh, method="login")
    account.session._credentials = credentials  # type: ignore[attr-defined]
    with RuntimeServer() as server:
        wire = at(server, account)
        chat(wire, QUESTION, max_tokens=1)
        chat(wire, QUESTION, max_tokens=1)
        assert [asked["token"] for asked in server.asked] == ["token-1", "token-2"]


def test_no_credential_is_one_sentence_and_nothing_is_sent() -> None:
    session = botocore.session.Session()
    session.get_component("credential_provider").providers.clear()
    with pytest.raises(NotSignedIn) as told:
        invoke.signer(AwsApi(build=lambda: session), "us-east-2")("POST", "https://x/", b"")
    assert "aws login" in told.value.fix


TOKENS = [
    ("as counted", b'{"choices": [{"message": {"content": "ok"}}], "usage": {"completion_tokens": 2}}', 2),
    ("not counted, with text", b'{"choices": [{"message": {"content": "ok"}}]}', 1),
    ("an empty answer", b'{"choices": [{"message": {"content": ""}}]}', 0),
    ("no choices", b'{"choices": []}', 0),
    ("not JSON", b"<html>", 0),
    ("a list", b"[1]", 0),
]


@pytest.mark.parametrize(("why", "body", "count"), TOKENS, ids=[row[0] for row in TOKENS])
def test_a_token_is_counted_and_anything_else_is_none(why: str, body: bytes, count: int) -> None:
    assert invoke.tokens(body) == count
