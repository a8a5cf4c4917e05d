"""Any exception as a plain record, and the sentence a person reads: what was tried, what was answered, what to do next.

Kept in the ledger for long work and shown by every tool, so it is bounded and holds no secret.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clouds.errors import Cancelled, CloudError, InvalidInput, NotInstalled
from tools import environment
from tools.secrecy import clean

ROOT = Path(__file__).resolve().parent.parent
ANSWER_LIMIT = 600
"""Characters that are kept of what a cloud answered."""

_LEADS = {
    "not_signed_in": "Not signed in",
    "credential_expired": "The login has expired",
    "permission_missing": "Permission missing",
    "api_disabled": "Not enabled in this account",
    "not_offered": "Not offered there",
    "quota_too_small": "Quota too small",
    "no_capacity": "No capacity",
    "conflict": "Conflict",
    "not_found": "Not found",
    "invalid_input": "",
    "throttled": "Asked too often",
    "unreachable": "No answer",
    "not_installed": "Not installed",
    "not_recorded": "Not recorded",
    "forbidden": "Refused by the read-only guard",
    "unexpected": "Unexpected answer",
    "disk_full": "The disk is full",
    "cancelled": "Stopped as asked",
    "bug": "A fault in modelrig itself",
}


def fault(error: BaseException) -> dict[str, Any]:
    """{kind, what, next, sent} and, where there are any, answered, code, field, allowed, retry_after (seconds).

    An exception that is none of ours is kind "bug": its type and our own file and line, never its text.
    """
    if isinstance(error, Cancelled):
        return {
            "kind": "cancelled",
            "what": "",
            "next": _line(error.left) or "Nothing half-made was left; call it again to start over.",
            "sent": True,
        }
    if isinstance(error, ModuleNotFoundError) and error.name:
        error = environment.lacking(error.name) or error
    if not isinstance(error, CloudError):
        return {
            "kind": "bug",
            "what": f"{type(error).__name__} at {_where(error)}",
            "next": "Please report this line; `list_endpoints` shows what is there.",
            "sent": True,
        }
    found: dict[str, Any] = {
        "kind": error.kind,
        "what": _line(error.tried),
        "next": _line(error.fix),
        "sent": error.sent,
    }
    if error.answered:
        found["answered"] = _line(error.answered)
    if error.code:
        found["code"] = _line(error.code)[:100]
    if isinstance(error, NotInstalled) and (pending := environment.pending()):
        found["next"] = f"{_full_stop(found['next'])} {pending}"
    if isinstance(error, InvalidInput):
        found["what"] = _line(str(error))
        found["field"] = _line(error.field)[:100]
        if error.allowed:
            found["allowed"] = [_line(each)[:100] for each in error.allowed[:60]]
    if error.retry_after is not None:
        found["retry_after"] = error.retry_after
    return found


def sentence(fault: Mapping[str, Any]) -> str:
    """As Markdown: what, in bold; the answer, quoted; what to do next; "(Nothing was sent.)" where that is so."""
    lead = _LEADS.get(fault["kind"], "Error")
    what = _first_up(fault["what"]) if not lead else fault["what"]
    parts = [f"**{_full_stop(': '.join(part for part in (lead, what) if part))}**"]
    code, answered = fault.get("code", ""), fault.get("answered", "")
    if code and answered:
        parts.append(f'The answer was `{code}`: "{answered}".')
    elif code or answered:
        parts.append(f"The answer was `{code}`." if code else f'The answer was "{answered}".')
    if fault.get("next"):
        parts.append(_full_stop(fault["next"]))
    allowed = fault.get("allowed") or ()
    if allowed and not all(each in fault["what"] or each in fault.get("next", "") for each in allowed):
        parts.append(f"Allowed: {', '.join(allowed)}.")
    if fault.get("retry_after") is not None and "ask again" not in fault.get("next", "").lower():
        parts.append(f"Ask again in {fault['retry_after']:g} s.")
    if not fault.get("sent", True):
        parts.append("(Nothing was sent.)")
    return " ".join(parts)


def _where(error: BaseException) -> str:
    """The innermost frame that is ours, as file:line from the root of the project."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(ROOT) and ".venv" not in path.parts and "site-packages" not in path.parts:
            return f"{path.relative_to(ROOT).as_posix()}:{frame.lineno}"
    return "an unknown place"


def _line(text: str) -> str:
    """Text as data: one line, control characters made visible, secrets out, bounded."""
    cut = text[: ANSWER_LIMIT * 4]
    line = re.sub(r"\s+", " ", clean(cut)).strip()
    if not line.isprintable():
        line = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
    return line if len(line) <= ANSWER_LIMIT else f"{line[:ANSWER_LIMIT]}… ({len(text):,} characters)"


def _full_stop(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]
