"""What the supervisor asks its own engine over HTTP. Standard library only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LIMIT = 4_000_000


@dataclass(frozen=True)
class Answer:
    """Status and body; status 0 when there was no answer, with the reason as text."""

    status: int
    text: str

    def json(self) -> Any:
        """The body as JSON; None when it is not."""
        try:
            return json.loads(self.text) if self.status == 200 else None
        except ValueError:
            return None


class Probe:
    """Requests to 127.0.0.1 only, with the endpoint's key, on a connection of their own."""

    def __init__(self, port: int, key: str) -> None:
        self._port, self._key = port, key

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None, *, timeout: float = 5.0) -> Answer:
        """One request; never raises for what the network or the engine does."""
        from http.client import HTTPConnection, HTTPException  # takes 15 ms, while the engine starts

        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        connection = HTTPConnection("127.0.0.1", self._port, timeout=timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return Answer(response.status, response.read(LIMIT).decode("utf-8", "replace"))
        except (OSError, HTTPException) as error:
            return Answer(0, str(error) or type(error).__name__)
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        """The JSON of one path; None when there is none."""
        return self.send("GET", path).json()

    def token(self, model: str, *, timeout: float) -> str:
        """Have the engine generate one token; empty when it did, else why not.

        A model without a chat template is asked for a plain completion.
        """
        chat = {"model": model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1, "temperature": 0}
        answer = self.send("POST", "/v1/chat/completions", chat, timeout=timeout)
        if answer.status in {400, 404, 422}:
            plain = {"model": model, "prompt": "Hi", "max_tokens": 1, "temperature": 0}
            answer = self.send("POST", "/v1/completions", plain, timeout=timeout)
        tokens = ((answer.json() or {}).get("usage") or {}).get("completion_tokens")
        if tokens:
            return ""
        return f"status {answer.status}: {answer.text[:300]}" if answer.status != 200 else "an answer without a token"
