"""Answers where the SDK has none that helps.

A line that is no message of the protocol it drops, and whoever asked would wait for ever; a request before `initialize`
it answers as if its parameters were wrong.
"""

from __future__ import annotations

import json
from typing import Any

from mcp.types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError


def answer(error: Exception) -> JSONRPCError | None:
    """What to send for a line that the SDK could not read; None for a blank one and for what expects no answer."""
    if not isinstance(error, ValidationError):
        return None
    first = error.errors(include_url=False, include_context=False)[0]
    line = first["input"]
    parsed: Any = line
    if first["type"] == "json_invalid":
        if not str(line).strip():
            return None
        try:
            parsed = json.loads(line)
        except (ValueError, RecursionError):
            parsed = None
    if isinstance(parsed, dict) and ("method" not in parsed or "id" not in parsed):
        return None
    given = parsed.get("id") if isinstance(parsed, dict) else None
    known = given if isinstance(given, int | str) and not isinstance(given, bool) else None
    return JSONRPCError(
        jsonrpc="2.0",
        id=known,
        error=ErrorData(
            code=PARSE_ERROR if first["type"] == "json_invalid" else INVALID_REQUEST,
            message=f"This line is no message of the protocol and nothing was done: {first['msg']}.",
        ),
    )


def unopened(error: JSONRPCError, method: str) -> JSONRPCError:
    """What to say to a request that came before `initialize` was answered; any other error stays as it is."""
    if error.error.code != INVALID_PARAMS or error.error.data or not method or method == "initialize":
        return error
    words = (
        f"{error.error.message}: {method} came before `initialize`. Send initialize (protocol 2025-11-25) and "
        "notifications/initialized first, or name the protocol 2026-07-28 in the request's own _meta."
    )
    return JSONRPCError(jsonrpc="2.0", id=error.id, error=ErrorData(code=INVALID_PARAMS, message=words))
