"""Puts the network seam under botocore: every client of a private session asks the taps before it sends.

Two events, because each proves something else (measured with botocore 1.44.8, 2026-11-29):
- an answer with a parsed `body` is handed over at `before-call` (0.05 ms a call, no credentials, right with threads and
  paginators). Most services that we use speak query or EC2 XML, for which botocore has no writer: a fixture in JSON is
  readable, and is checked against the same output shape that the real parser fills.
- an answer with `wire` bytes is handed over at `before-send` (0.8 ms), below the retries and the parser. It is for
  throttling, event streams and malformed answers. Each attempt of a retry asks the taps again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from clouds.replay import Answer, Request, Tap, ask, tell

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest, AWSResponse
    from botocore.model import OperationModel, Shape
    from botocore.session import Session

_HEADER = "x-modelrig-replay"
_KEY = "modelrig.request"
# How a credential is renewed is no request of ours: it is neither guarded, replayed nor ever written down.
_CREDENTIALS = frozenset(
    {
        "signin.CreateOAuth2Token",
        "sso-oidc.CreateToken",
        "sso.GetRoleCredentials",
        "sts.AssumeRole",
        "sts.AssumeRoleWithWebIdentity",
    }
)


@dataclass(frozen=True)
class _Http:
    """What botocore reads of an HTTP answer after `before-call`."""

    status_code: int
    headers: Mapping[str, str] = field(default_factory=dict)


def attach(session: Session, taps: Sequence[Tap]) -> None:
    """Register the taps on a private session; clients that it makes from now on ask them."""
    seam = _Seam(tuple(taps))
    events = session.get_component("event_emitter")
    events.register_last("before-parameter-build", seam.note)
    events.register_first("before-call", seam.before_call)
    events.register_first("before-send", seam.before_send)
    events.register_last("after-call", seam.after_call)


class _Seam:
    """The four handlers and what they hand to each other."""

    def __init__(self, taps: Sequence[Tap]) -> None:
        self._taps = taps
        self._wired: dict[str, tuple[Request, Answer | None]] = {}
        self._lock = Lock()

    def note(self, params: Mapping[str, Any], model: OperationModel, context: dict[str, Any], **_: Any) -> None:
        service = model.service_model
        context[_KEY] = Request(
            service=str(service.service_name),
            operation=str(model.name),
            location=str(context.get("client_region") or ""),
            parameters=dict(params),
            alias=str(service.endpoint_prefix),
        )

    def before_call(
        self, model: OperationModel, params: dict[str, Any], context: dict[str, Any], **_: Any
    ) -> tuple[_Http, dict[str, Any]] | None:
        request: Request = context[_KEY]
        if request.name in _CREDENTIALS:
            return None
        answer = ask(self._taps, request)
        if answer is None:
            return None
        context[_KEY] = None
        if answer.wire is not None:
            token = uuid4().hex
            with self._lock:
                self._wired[token] = (request, answer)
            params["headers"][_HEADER] = token
            return None
        return _Http(answer.status, answer.headers), parsed(model, answer)

    def before_send(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse | None:
        token = request.headers.get(_HEADER)
        if token is None:
            return None
        key = token.decode() if isinstance(token, bytes) else token
        with self._lock:
            asked, answer = self._wired[key]
            self._wired[key] = (asked, None)
        answer = answer or ask(self._taps, asked)
        return _response(str(request.url), answer or Answer(500))

    def after_call(self, http_response: Any, parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        request: Request | None = context.get(_KEY)
        if request is not None and request.name not in _CREDENTIALS:
            tell(self._taps, request, Answer(int(http_response.status_code), parsed, dict(http_response.headers)))


def _response(url: str, answer: Answer) -> AWSResponse:
    from botocore.awsrequest import AWSResponse
    from botocore.compat import HTTPHeaders

    class Raw(BytesIO):
        """What urllib3 gives botocore: a body that can be streamed."""

        def stream(self, amount: int = 65536, **_: Any) -> Any:
            while piece := self.read(amount):
                yield piece

    headers = HTTPHeaders()
    for key, value in answer.headers.items():
        headers[key] = value
    return AWSResponse(url, answer.status, headers, Raw(answer.wire or b""))


def parsed(model: OperationModel, answer: Answer) -> dict[str, Any]:
    """The body as botocore's parser would have made it: times as datetimes, blobs as bytes, metadata beside."""
    from botocore.response import StreamingBody

    shape = model.output_shape
    body = dict(answer.body or {})
    if shape is not None and answer.status < 300:
        payload = shape.serialization.get("payload") if model.has_streaming_output else None
        stream = body.pop(payload, None) if payload else None
        body = typed(shape, body)
        if payload and stream is not None:
            content = stream.encode() if isinstance(stream, str) else stream
            body[payload] = StreamingBody(BytesIO(content), len(content))
    about = {"HTTPStatusCode": answer.status, "HTTPHeaders": dict(answer.headers), "RetryAttempts": 0}
    return {**body, "ResponseMetadata": {"RequestId": "replayed", **about}}


def typed(shape: Shape, value: Any) -> Any:
    """Plain JSON in the types of an output shape; members that the shape does not know stay as they are."""
    if value is None:
        return None
    match shape.type_name:
        case "structure" if isinstance(value, dict):
            members: Mapping[str, Shape] = shape.members  # type: ignore[attr-defined]
            return {key: typed(members[key], item) if key in members else item for key, item in value.items()}
        case "list" if isinstance(value, list):
            return [typed(shape.member, item) for item in value]  # type: ignore[attr-defined]
        case "map" if isinstance(value, dict):
            return {key: typed(shape.value, item) for key, item in value.items()}  # type: ignore[attr-defined]
        case "timestamp" if isinstance(value, str):
            return _time(value)
        case "timestamp" if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
        case "blob" if isinstance(value, str):
            return base64.b64decode(value)
        case "string" if isinstance(value, dict | list):
            return quote(
                json.dumps(value)
            )  # IAM's policies: botocore opens them after the parser, so they are recorded open
        case _:
            return value


def _time(text: str) -> datetime:
    """A recorded time: ISO 8601, or the other spellings that botocore reads (RFC 822, epoch seconds as text)."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        from botocore.utils import parse_timestamp

        at = parse_timestamp(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
