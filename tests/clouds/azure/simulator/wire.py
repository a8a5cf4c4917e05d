"""Answers as ARM words them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx2


class Refused(Exception):
    """What a request is answered instead of a result."""

    def __init__(self, status: int, code: str, message: str, target: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.status, self.code, self.message, self.target = status, code, message, target

    def body(self) -> dict[str, Any]:
        error = {"code": self.code, "message": self.message}
        return {"error": {**error, "target": self.target} if self.target else error}


class Drift(BaseException):
    """The simulator was asked what Azure has no answer for. Nothing may swallow it."""


def answer(status: int, body: Any = None, headers: Mapping[str, str] | None = None) -> httpx2.Response:
    content = b"" if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/plain" if isinstance(body, str) else "application/json"
    return httpx2.Response(status, headers={"content-type": kind, **(headers or {})}, content=content)


def refusal(no: Refused, headers: Mapping[str, str] | None = None) -> httpx2.Response:
    return answer(no.status, no.body(), headers)


def not_found(what: str) -> Refused:
    return Refused(404, "ResourceNotFound", f"The Resource '{what}' was not found.")
