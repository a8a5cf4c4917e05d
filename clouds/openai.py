"""The OpenAI-shaped endpoint that every service and the local engine speak: one request, one JSON answer.

For questions and health checks. The streaming client that takes timings is `tools/measure/client.py`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from clouds.deadline import Deadline
from clouds.errors import (
    CloudError,
    InvalidInput,
    NotFound,
    PermissionMissing,
    Throttled,
    Unexpected,
    Unreachable,
)

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.request import OpenerDirector

    from clouds.models import Wire

BODY_LIMIT = 2_000_000
"""Bytes of an answer that are read; a longer one is refused."""
QUOTED = 500
"""Characters of an error's own words that are kept."""
LARGEST = 10**12
"""Tokens of one answer above which a count is no count."""
SECRET_LENGTH = 6
"""Characters below which a header's value is a word that an answer may hold by itself."""
NAMED = 120
"""Characters of a name that are kept: a model's, a finish reason."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True)
class Reply:
    """One answer of a model. `text`, `reasoning` and `tool_calls` come from outside: they are data."""

    text: str
    reasoning: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    finish_reason: str = ""
    seconds: float = 0.0
    model: str = ""


def chat(
    wire: Wire,
    messages: Sequence[Mapping[str, Any]],
    *,
    max_tokens: int,
    temperature: float = 0.0,
    timeout: float = 60.0,
    extra: Mapping[str, Any] | None = None,
) -> Reply:
    """Send one chat request and wait for the whole answer, `timeout` seconds at most.

    `usage` holds only token counts that are counts.

    Raises PermissionMissing (401, 403), NotFound (404), Throttled (429), Unexpected (any other status, a body that is
    not a chat answer or larger than 2 MB) and Unreachable (refused, unknown name, no answer in time).
    """
    body: dict[str, Any] = {"messages": list(messages), "max_tokens": max_tokens, "temperature": temperature}
    if wire.model:
        body["model"] = wire.model
    body |= {**wire.extra_body, **(extra or {})}
    began = time.monotonic()
    answer = _exchange(wire, "POST", wire.plain_path or wire.path, json.dumps(body).encode(), timeout)
    seconds = time.monotonic() - began
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        return Reply(
            text=_text(message.get("content")),
            # llama.cpp and DeepSeek say reasoning_content, vLLM 0.11 and later say reasoning (read 2026-11)
            reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
            tool_calls=tuple(message.get("tool_calls") or ()),
            usage=_usage(answer.get("usage")),
            finish_reason=_visible(_text(choice.get("finish_reason")), NAMED),
            seconds=seconds,
            model=_visible(_text(answer.get("model")), NAMED),
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise Unexpected(
            f"a chat request to {wire.url}",
            answered=f"JSON that is no chat completion: {_visible(json.dumps(answer))}",
            fix="Check that the URL is an OpenAI-shaped endpoint: its base, or the path ending in /chat/completions.",
        ) from error


def models(wire: Wire, *, timeout: float = 10.0) -> tuple[Mapping[str, Any], ...]:
    """What the endpoint says it serves, as its own records (`id`, and `meta` on llama.cpp). Raises as `chat`."""
    path = wire.path.removesuffix("/chat/completions") + "/models"
    answer = _exchange(wire, "GET", path, b"", timeout)
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Unexpected(
            f"listing the models of {wire.url}",
            answered=_visible(json.dumps(answer)),
            fix="Check that the URL is an OpenAI-shaped endpoint.",
        )
    return tuple(rows)


def _exchange(wire: Wire, method: str, path: str, body: bytes, timeout: float) -> Any:
    """One request and its JSON. Never follows a redirect: it would carry the key to another host."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request

    url = wire.url.rstrip("/") + path
    tried = f"{method} {url}"
    headers = {"Content-Type": "application/json", "Accept": "application/json", **wire.headers}
    if wire.sign is not None:
        headers |= wire.sign(method, url, body)
    request = Request(url, data=body if method == "POST" else None, headers=headers, method=method)  # noqa: S310 - the scheme is checked in _opener
    deadline = Deadline(timeout)
    try:
        with deadline:
            try:
                with _opener(url, deadline).open(request, timeout=timeout) as response:
                    raw = _read(response, deadline, tried)
            except HTTPError as error:
                with error:
                    said = _words(_read(cast("HTTPResponse", error), deadline, tried), headers)
                raise _refusal(error.code, said, error.headers.get("Retry-After", ""), tried) from None
    except (URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        late = deadline.over or isinstance(reason, TimeoutError)
        raise Unreachable(
            tried,
            answered=f"no answer in {timeout:g} s" if late else _visible(str(reason) or type(reason).__name__),
            fix="Allow more seconds or fewer tokens."
            if late
            else "Check that it is running: get_endpoint, and its URL.",
        ) from None
    except ValueError:
        # http.client quotes the header it refuses, and that is the key: none of its words may get out
        raise InvalidInput(
            "endpoint", "its host name or key has characters that cannot be sent", fix="Correct the URL or the key."
        ) from None
    for secret in _secrets(headers):  # a server that sends back what it was sent
        raw = raw.replace(secret.encode("latin-1", "replace"), b"***")
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise Unexpected(
            tried, answered=f"not JSON: {_words(raw, headers)}", fix="Check that the URL is an OpenAI-shaped endpoint."
        ) from None


def _opener(url: str, deadline: Deadline) -> OpenerDirector:
    from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

    class NoRedirect(HTTPRedirectHandler):
        def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
            return None

    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"}:
        raise InvalidInput(
            "endpoint", f"{url[:80]!r} is not an http(s) URL", fix="Give a URL that starts with https://."
        )
    # a proxy has no business with this machine's own endpoints
    return build_opener(NoRedirect, *deadline.handlers(), *([ProxyHandler({})] if parts.hostname in LOOPBACK else []))


def _read(response: HTTPResponse, deadline: Deadline, tried: str) -> bytes:
    """The body, bounded in bytes; raises TimeoutError when the time was up before it was all there."""
    parts: list[bytes] = []
    size = 0
    while part := response.read1(65_536):
        parts.append(part)
        size += len(part)
        if size > BODY_LIMIT:
            raise Unexpected(
                tried,
                answered=f"more than {BODY_LIMIT:,} bytes",
                fix="Ask for fewer tokens; check what answers.",
            )
        if deadline.over:
            break
    if deadline.over:
        raise TimeoutError
    return b"".join(parts)


def _refusal(status: int, said: str, retry_after: str, tried: str) -> CloudError:
    code = f"HTTP {status}"
    if status in {401, 403}:
        return PermissionMissing(tried, code=code, answered=said, fix="Give the key that this endpoint was made with.")
    if status == 404:
        return NotFound(tried, code=code, answered=said, fix="Check the path and the model's name.")
    if status == 429:
        seconds = float(retry_after) if retry_after.strip().replace(".", "", 1).isdigit() else None
        wait = "in a while" if seconds is None else f"after {seconds:g} s"
        return Throttled(tried, code=code, answered=said, retry_after=seconds, fix=f"Ask again {wait}.")
    fix = {
        400: "Change what its answer names; a prompt may be longer than the context.",
        503: "It may still be loading: ask again in a while; get_endpoint says more of one of ours.",
    }.get(status, "Read its log: get_endpoint_logs; of a bare URL, the server's own.")
    if 300 <= status < 400:
        fix = "Give the URL it points to; redirects are not followed, so that no key goes to another host."
    return Unexpected(tried, code=code, answered=said, fix=fix)


def _words(raw: bytes, headers: Mapping[str, str]) -> str:
    """An error body's own message: bounded, one line, without the secrets that we sent."""
    text = raw[: 16 * QUOTED].decode("utf-8", "replace")
    try:
        found = json.loads(raw)
        found = found.get("error", found) if isinstance(found, dict) else found
        text = str(found.get("message") or found.get("detail") or text) if isinstance(found, dict) else str(found)
    except (ValueError, RecursionError):
        pass
    for secret in _secrets(headers):
        text = text.replace(secret, "***")
    return _visible(text)


def _secrets(headers: Mapping[str, str]) -> list[str]:
    """What was sent in a header of its own, whole and without its scheme; the longest first."""
    own = [value for name, value in headers.items() if name.lower() not in {"content-type", "accept"}]
    found = {part for value in own for part in (value, value.rpartition(" ")[2]) if len(part) >= SECRET_LENGTH}
    return sorted(found, key=len, reverse=True)


def _visible(text: str, limit: int = QUOTED) -> str:
    line = text[: limit + 1]
    if not line.isprintable():
        line = "".join(char if char.isprintable() else " " for char in line)
    return f"{line[:limit]}…" if len(line) > limit else line


def _usage(value: Any) -> dict[str, Any]:
    """The token counts as sent; one that is no count (NaN, negative, a word) is left out: unknown, never guessed."""
    return {name: each for name, each in dict(value or {}).items() if not name.endswith("_tokens") or _is_count(each)}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST


def _text(value: Any) -> str:
    """A string field, whatever came: a list of parts is joined, null is empty."""
    if isinstance(value, list):
        value = "".join(str(part.get("text", "")) for part in value if isinstance(part, dict))
    # half of a surrogate pair, which JSON can carry and UTF-8 cannot
    return "" if value is None else re.sub("[\ud800-\udfff]", "\ufffd", str(value))
