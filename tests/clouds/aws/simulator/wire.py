"""Writes answers as the bytes that AWS sends, so that botocore's own parser reads them: JSON, REST-JSON, query, EC2.

Or as the values that its parser makes of those bytes, where neither they nor the signature are what a test is about.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape

from botocore.awsrequest import AWSResponse, HeadersDict
from botocore.model import OperationModel, Shape

from clouds.aws.taps import parsed
from clouds.replay import Answer

REQUEST_ID = "5f2a1c1e-0000-4000-8000-000000000001"


class Body(BytesIO):
    """What urllib3 hands to botocore: readable, and streamable for event streams."""

    def __init__(self, data: bytes, piece: int = 65536) -> None:
        super().__init__(data)
        self._piece = piece

    def stream(self, *_: Any, **__: Any) -> Any:
        while piece := self.read(self._piece):
            yield piece

    def release_conn(self) -> None:
        self.close()


def response(url: str, status: int, headers: dict[str, str], body: bytes, piece: int = 65536) -> AWSResponse:
    return AWSResponse(url, status, HeadersDict({"x-amzn-RequestId": REQUEST_ID, **headers}), Body(body, piece))


@dataclass(frozen=True)
class Bytes:
    """How an answer leaves the account: as bytes, below botocore's retries and parser."""

    url: str

    def answer(self, model: OperationModel, result: dict[str, Any]) -> Any:
        return answer(self.url, model, result)

    def refusal(
        self, model: OperationModel, status: int, code: str, message: str, more: dict[str, Any] | None = None
    ) -> Any:
        return refusal(self.url, model, status, code, message, more)


@dataclass(frozen=True)
class Values:
    """The same answers as values, above signing, retries and parser: what `before-call` takes."""

    url: str

    def answer(self, model: OperationModel, result: dict[str, Any]) -> Any:
        return _Status(200), parsed(model, Answer(200, given(result)))

    def refusal(
        self, model: OperationModel, status: int, code: str, message: str, more: dict[str, Any] | None = None
    ) -> Any:
        return _Status(status), parsed(
            model, Answer(status, {"Error": {"Code": code, "Message": message}, **(more or {})})
        )


@dataclass(frozen=True)
class _Status:
    status_code: int


def given(value: Any) -> Any:
    """What reaches the asker: nothing for a member that is None."""
    if isinstance(value, dict):
        return {key: given(item) for key, item in value.items() if item is not None}
    return [given(item) for item in value] if isinstance(value, list) else value


def answer(url: str, model: OperationModel, result: dict[str, Any]) -> AWSResponse:
    """A successful answer of this operation."""
    protocol, shape = model.service_model.resolved_protocol, model.output_shape
    if protocol in {"json", "rest-json"}:
        headers, body = {"Content-Type": "application/json"}, dict(result)
        if shape is not None:
            payload = shape.serialization.get("payload")
            for name, member in shape.members.items():
                if member.serialization.get("location") == "header" and name in body:
                    headers[member.serialization["name"]] = str(body.pop(name))
            if payload and isinstance(body.get(payload), bytes):
                return response(url, 200, headers, body[payload], piece=37)
            body = jsoned(shape, body)
        return response(url, 200, headers, json.dumps(body).encode())
    inner = xml(shape, result) if shape is not None else ""
    if protocol == "ec2":
        text = f"<{model.name}Response><requestId>{REQUEST_ID}</requestId>{inner}</{model.name}Response>"
    else:
        wrapper = shape.serialization.get("resultWrapper") if shape is not None else None
        inner = f"<{wrapper}>{inner}</{wrapper}>" if wrapper else inner
        meta = f"<ResponseMetadata><RequestId>{REQUEST_ID}</RequestId></ResponseMetadata>"
        text = f"<{model.name}Response>{inner}{meta}</{model.name}Response>"
    return response(url, 200, {"Content-Type": "text/xml"}, text.encode())


def refusal(
    url: str, model: OperationModel, status: int, code: str, message: str, more: dict[str, Any] | None = None
) -> AWSResponse:
    """An error answer in the shape of this service's protocol."""
    protocol = model.service_model.resolved_protocol
    if protocol in {"json", "rest-json"}:
        body = {"__type": code, "message": message, "Message": message, **(more or {})}
        return response(url, status, {"x-amzn-errortype": code}, json.dumps(body).encode())
    error = f"<Error><Code>{code}</Code><Message>{escape(message)}</Message></Error>"
    if protocol == "ec2":
        text = f"<Response><Errors>{error}</Errors><RequestID>{REQUEST_ID}</RequestID></Response>"
    else:
        text = f"<ErrorResponse>{error}<RequestId>{REQUEST_ID}</RequestId></ErrorResponse>"
    return response(url, status, {"Content-Type": "text/xml"}, text.encode())


def jsoned(shape: Shape, value: Any) -> Any:
    """A Python value as the JSON of its shape: times as seconds, blobs as base64."""
    match shape.type_name:
        case "structure":
            members = shape.members
            named = ((members[key].serialization.get("name", key), members[key], item) for key, item in value.items())
            return {name: jsoned(member, item) for name, member, item in named if item is not None}
        case "list":
            return [jsoned(shape.member, item) for item in value]
        case "map":
            return {key: jsoned(shape.value, item) for key, item in value.items()}
        case "timestamp":
            return value.timestamp() if isinstance(value, datetime) else value
        case "blob":
            return base64.b64encode(value).decode()
        case _:
            return value


def xml(shape: Shape, value: Any) -> str:
    """The children of an element that has this shape."""
    match shape.type_name:
        case "structure":
            parts = []
            for key, item in value.items():
                member = shape.members[key]
                name = member.serialization.get("name", key)
                if item is None:
                    continue
                if member.type_name == "list" and member.serialization.get("flattened"):
                    name = member.member.serialization.get("name", name)
                    parts += [f"<{name}>{xml(member.member, one)}</{name}>" for one in item]
                else:
                    parts.append(f"<{name}>{xml(member, item)}</{name}>")
            return "".join(parts)
        case "list":
            name = shape.member.serialization.get("name", "member")
            return "".join(f"<{name}>{xml(shape.member, item)}</{name}>" for item in value)
        case "map":
            key_name = shape.key.serialization.get("name", "key")
            value_name = shape.value.serialization.get("name", "value")
            return "".join(
                f"<entry><{key_name}>{escape(key)}</{key_name}>"
                f"<{value_name}>{xml(shape.value, item)}</{value_name}></entry>"
                for key, item in value.items()
            )
        case "timestamp":
            return value.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        case "boolean":
            return "true" if value else "false"
        case "blob":
            return base64.b64encode(value).decode()
        case _:
            return escape(str(value))
