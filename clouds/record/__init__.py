"""Records answers of a real cloud as fixtures: the seam of the replay, writing scrubbed files with their origin."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from clouds.errors import InvalidInput
from clouds.record.scrub import Scrubber
from clouds.replay import Answer, Request, plain

__all__ = ["Recorder", "Scrubber"]

_KEPT_HEADERS = frozenset({"content-type", "retry-after", "location", "azure-asyncoperation", "x-ms-error-code"})


class Recorder:
    """A tap that writes what the network answered. Streams are left out and listed in `skipped`."""

    def __init__(self, directory: Path, *, source: str, on: date, scrubber: Scrubber | None = None) -> None:
        """`source` says whose account of what kind, never its id. Raises InvalidInput for a folder already in use."""
        if directory.exists() and any(directory.iterdir()):
            raise InvalidInput("record", f"{directory} is not empty", fix="Name a new folder for this recording.")
        directory.mkdir(parents=True, exist_ok=True)
        self.skipped: list[str] = []
        self._directory, self._source, self._on = directory, source, on
        self._scrubber = scrubber or Scrubber()
        self._count = 0
        self._lock = Lock()

    def before(self, request: Request) -> Answer | None:
        """Nothing: the request goes on to the network."""

    def after(self, request: Request, answer: Answer) -> None:
        """Write one fixture, and the origin anew with what was taken out so far."""
        with self._lock:
            try:
                body = json.loads(json.dumps(_bare(answer.body), default=_plain))
            except TypeError as error:
                self.skipped.append(f"{request}: {error}")
                return
            self._count += 1
            clean = self._scrubber.clean
            fixture = {
                "location": request.location,
                "parameters": clean(plain(request.parameters)),
                "status": answer.status,
                "headers": clean({k.lower(): v for k, v in answer.headers.items() if k.lower() in _KEPT_HEADERS}),
                "body": clean(body),
            }
            if request.account:
                fixture["account"] = self._scrubber.text(request.account)
            operation = re.sub(r"[^A-Za-z0-9_.-]", "-", request.operation)
            service = request.service.replace("/", "~")
            self._write(f"{self._count:02}_{service}.{operation}.json", fixture)
            origin = {"from": "recorded", "source": self._source, "on": self._on.isoformat()}
            self._write("origin.json", {**origin, "scrubbed": sorted(self._scrubber.kinds)})

    def _write(self, name: str, value: Mapping[str, Any]) -> None:
        path = self._directory / name
        path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _bare(body: Any) -> Any:
    """The body without what the SDK adds to it."""
    return {k: v for k, v in body.items() if k != "ResponseMetadata"} if isinstance(body, dict) else body


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"a {type(value).__name__} is a stream or not data and was not recorded")
