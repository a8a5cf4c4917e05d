"""Answers requests from what Cloud Custodian recorded of Azure: one file a test, requests by their addresses.

`{"version": 1, "interactions": [{"request": {"method", "uri"}, "response": {"status": {"code"}, "headers", "body":
{"data" | "string"}}}]}`. Versions of the API are not compared, and ids of subscriptions neither: they were replaced in
addresses and in answers separately.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from clouds.azure.paths import ARM, sending
from clouds.errors import InvalidInput
from clouds.models import Call, Scope
from clouds.replay import Answer, NotRecorded, Request

_SUBSCRIPTION = re.compile(r"/subscriptions/[^/]+")
_MARKS = ("$skiptoken", "$skipToken", "skiptoken", "page")
_Key = tuple[str, str, str]


class Cassette:
    """A tap that answers from recordings. Answers to one address are one sequence; the last stays.

    `sent` holds every request in order, `missed` those without an answer.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        """Raises InvalidInput for a file that is no such recording."""
        self.sent: list[Request] = []
        self.missed: list[Request] = []
        self._answers: dict[_Key, list[Answer]] = {}
        self._served: Counter[_Key] = Counter()
        self._lock = Lock()
        for path in paths:
            for method, uri, answer in _interactions(path):
                self._answers.setdefault(_key(method, uri), []).append(answer)

    def before(self, request: Request) -> Answer:
        """The recorded answer. Raises NotRecorded, and nothing reaches a network."""
        parameters = dict(request.parameters)
        link = parameters.pop("nextLink", "")
        what = sending(
            Call(request.service, request.operation, parameters),
            Scope(request.location or None, request.account or None),
        )
        key = _key(what.method, link or f"https://{what.host}{what.path}")
        with self._lock:
            self.sent.append(request)
            answers = self._answers.get(key)
            if not answers:
                self.missed.append(request)
                raise NotRecorded(
                    f"{request}",
                    answered=f"nobody recorded {key[0]} {key[1]}",
                    fix="Record it, or ask for something that is recorded; nothing was sent to the network.",
                    sent=False,
                )
            place = min(self._served[key], len(answers) - 1)
            self._served[key] += 1
            return answers[place]

    def after(self, request: Request, answer: Answer) -> None:
        """Nothing: there is no network to hear of."""


def _key(method: str, uri: str) -> _Key:
    parts = urlsplit(uri)
    query = parse_qs(parts.query)
    mark = next((query[name][0] for name in _MARKS if name in query), "")
    return method, _SUBSCRIPTION.sub("/subscriptions/*", unquote(parts.path).rstrip("/").lower()), mark


def _interactions(path: Path) -> Iterable[tuple[str, str, Answer]]:
    try:
        recorded = json.loads(path.read_text("utf-8"))["interactions"]
        for each in recorded:
            request, response = each["request"], each["response"]
            if urlsplit(request["uri"]).hostname != ARM:
                continue  # a data plane, which is not spoken to
            headers = {str(name): str(values[0]) for name, values in response.get("headers", {}).items() if values}
            yield request["method"], request["uri"], Answer(int(response["status"]["code"]), _body(response), headers)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            "recording", f"{path.name} is no recording of this form ({type(error).__name__})", fix="Name another file."
        ) from error


def _body(response: Mapping[str, Any]) -> Any:
    body = response.get("body") or {}
    if "data" in body:
        return body["data"]
    text = body.get("string") or ""
    return json.loads(text) if text else None
