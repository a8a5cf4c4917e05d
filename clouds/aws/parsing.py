"""Parsers of botocore that take only an answer of the right form for one.

botocore reads JSON that it cannot parse, and a page of HTML that a proxy answers with status 200, as an answer without
anything in it (botocore 1.44.8: `_parse_body_as_json` gives `{"message": …}`): a listing would be empty, and a scan
call itself complete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

OK = 200
_ROOT = re.compile(rb"<([A-Za-z][\w:.-]*)")


def factory(**defaults: Any) -> Any:
    """What a session makes its parsers with. `defaults` as botocore's `set_parser_defaults`."""
    from botocore.parsers import ResponseParserFactory

    class Factory(ResponseParserFactory):
        """Strict where a protocol can be."""

        def create_parser(self, protocol_name: str) -> Any:
            strict = _strict().get(protocol_name)
            return strict(**self._defaults) if strict is not None else super().create_parser(protocol_name)  # type: ignore[attr-defined]

    made = Factory()
    made.set_parser_defaults(**defaults)
    return made


def _parsed(body: Any) -> Any:
    """A JSON object. Raises ResponseParserError for anything else."""
    try:
        found = json.loads(body)
    except ValueError:
        raise _problem("no JSON", body) from None
    if not isinstance(found, dict):
        raise _problem("no JSON object", body)
    return found


def _problem(what: str, body: Any) -> Exception:
    from botocore.parsers import ResponseParserError

    shown = " ".join(bytes(body[:200]).decode("utf-8", "replace").split())[:100]
    return ResponseParserError(f"the answer is {what}: {shown!r}" if shown else "the answer is empty")


def _root(body: Any) -> str:
    found = _ROOT.search(bytes(body[:1000]))
    return found[1].decode("ascii", "replace").rsplit(":", 1)[-1] if found else ""


@lru_cache(maxsize=1)
def _strict() -> Mapping[str, Any]:
    """Parsers by protocol, made when the SDK is loaded."""
    return {**_of_json(), **_of_xml()}


def _of_json() -> Mapping[str, Any]:
    parsers: Any = import_module("botocore.parsers")

    class Json(parsers.JSONParser):  # type: ignore[misc]  # its stub leaves out what is overridden
        def _handle_json_body(self, raw_body: Any, shape: Any) -> Any:
            if not raw_body and not shape.members:
                return {}
            return self._parse_shape(shape, _parsed(raw_body))

    class RestJson(parsers.RestJSONParser):  # type: ignore[misc]  # as above
        def _initial_body_parse(self, body_contents: Any) -> Any:
            return _parsed(body_contents) if body_contents else {}

        def _parse_payload(self, response: Any, shape: Any, member_shapes: Any, final_parsed: Any) -> None:
            _says_something(response, shape, member_shapes)
            super()._parse_payload(response, shape, member_shapes, final_parsed)

        def _inject_error_code(self, error: Any, response: Any) -> None:
            try:
                super()._inject_error_code(error, response)
            except parsers.ResponseParserError:
                return  # an error page that is no JSON names no code

    return {"json": Json, "rest-json": RestJson}


def _of_xml() -> Mapping[str, Any]:
    parsers: Any = import_module("botocore.parsers")

    class Query(parsers.QueryParser):  # type: ignore[misc]  # as above
        def _do_parse(self, response: Any, shape: Any) -> Any:
            _answers(response["body"])
            return super()._do_parse(response, shape)

    class Ec2(parsers.EC2QueryParser):  # type: ignore[misc]  # as above
        def _do_parse(self, response: Any, shape: Any) -> Any:
            _answers(response["body"])
            return super()._do_parse(response, shape)

    class RestXml(parsers.RestXMLParser):  # type: ignore[misc]  # as above
        def _do_parse(self, response: Any, shape: Any) -> Any:
            body = response["body"]
            payload = shape is not None and "payload" in shape.serialization  # an object may well be a page of HTML
            if not payload and isinstance(body, bytes) and _root(body).lower() == "html":
                raise _problem("no answer of this service", body)
            return super()._do_parse(response, shape)

        def _parse_payload(self, response: Any, shape: Any, member_shapes: Any, final_parsed: Any) -> None:
            _says_something(response, shape, member_shapes)
            super()._parse_payload(response, shape, member_shapes, final_parsed)

    return {"query": Query, "ec2": Ec2, "rest-xml": RestXml}


def _says_something(response: Any, shape: Any, members: Any) -> None:
    """What is to be in the body is in none with status 200; with others (202, 204) that is usual."""
    told = any("location" not in each.serialization for each in members.values())
    whole = told and "payload" not in shape.serialization
    if whole and response["status_code"] == OK and not response["body"]:
        raise _problem("empty", b"")


def _answers(body: Any) -> None:
    """The first element of an answer is named after its operation: `DescribeVolumesResponse`."""
    if not _root(body).endswith("Response"):
        raise _problem("no answer of this service", body)
