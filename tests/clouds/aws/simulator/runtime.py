"""The model behind a SageMaker endpoint: plain answers, event streams that cut lines anywhere, and failures."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from tests.clouds.aws.simulator.account import ID, Account
from tests.clouds.aws.simulator.endpoints import EndpointState
from tests.clouds.aws.simulator.seam import Refused

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Script:
    """What the model says, how the stream is cut (bytes a payload), and after how many payloads it breaks."""

    words: tuple[str, ...] = ("o", "k")
    cut: int = 23
    breaks_after: int | None = None
    broken_by: str = "ModelStreamError"
    refuses: tuple[str, int] | None = None


def _serving(account: Account, region: str, name: str) -> EndpointState:
    endpoint: EndpointState | None = account[region].endpoints.get(name)
    if endpoint is None or not endpoint.serving:
        raise Refused("ValidationError", f"Endpoint {name} of account {ID} not found.")
    script: Script = account.model
    if script.refuses is not None:
        code, status = script.refuses
        raise Refused(
            code, "Received server error (500) from primary.", status, OriginalStatusCode=500, OriginalMessage="boom"
        )
    return endpoint


def invoke(account: Account, region: str, params: Params) -> dict[str, Any]:
    _serving(account, region, params["EndpointName"])
    body = completion(account.model.words, json.loads(params["Body"]))
    return {
        "Body": json.dumps(body).encode(),
        "ContentType": "application/json",
        "InvokedProductionVariant": "AllTraffic",
    }


def completion(words: tuple[str, ...], request: Mapping[str, Any]) -> dict[str, Any]:
    """An OpenAI-shaped chat answer of at most `max_tokens` words."""
    said = words[: request.get("max_tokens", 16)]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": request.get("model", "google/gemma-4-E2B-it"),
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "".join(said)}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 15, "completion_tokens": len(said), "total_tokens": 15 + len(said)},
    }


def sse(words: tuple[str, ...]) -> bytes:
    """The server-sent events that the container writes for a streamed chat answer."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "google/gemma-4-E2B-it"}
    chunks = [{**head, "choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]} for word in words]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    usage = {"prompt_tokens": 15, "completion_tokens": len(words), "total_tokens": 15 + len(words)}
    chunks.append({**head, "choices": [], "usage": usage})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"


def frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One message of `application/vnd.amazon.eventstream`: lengths, CRC of them, headers, payload, CRC of all."""
    head = b""
    for name, value in headers.items():
        raw = value.encode()
        head += bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(raw)) + raw
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    message = prelude + struct.pack(">I", crc32(prelude)) + head + payload
    return message + struct.pack(">I", crc32(message))


def frames(script: Script) -> Iterator[bytes]:
    """The event stream of a whole answer, or of one that breaks in the middle."""
    data = sse(script.words)
    cuts = [data[start : start + script.cut] for start in range(0, len(data), script.cut)]
    for number, part in enumerate(cuts):
        if number == script.breaks_after:
            headers = {
                ":exception-type": script.broken_by,
                ":content-type": "application/json",
                ":message-type": "exception",
            }
            yield frame(headers, b'{"Message":"the model stopped","ErrorCode":"ModelInvocationTimeExceeded"}')
            return
        headers = {":event-type": "PayloadPart", ":content-type": "application/octet-stream", ":message-type": "event"}
        yield frame(headers, part)


def invoke_stream(account: Account, region: str, params: Params) -> dict[str, Any]:
    _serving(account, region, params["EndpointName"])
    return {"Body": b"".join(frames(account.model)), "ContentType": "application/json"}


OPERATIONS = {
    "sagemaker-runtime.InvokeEndpoint": invoke,
    "sagemaker-runtime.InvokeEndpointWithResponseStream": invoke_stream,
}
