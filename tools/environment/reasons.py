"""Why an installation failed, in a person's words: what happened and the one thing to do. No address gets through."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>)]+", re.IGNORECASE)
_HOST = re.compile(
    r"(host=|resolve |lookup address information for |for name |connect to |Host: )"
    r"(['\"`]?)[\w.-]+\.[a-z]{2,}\2(:\d+)?",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b[\w.-]+\.[a-z]{2,}:\d{2,5}\b", re.IGNORECASE)
_INDEX = re.compile(r"Looking in (?:indexes|links):.*", re.IGNORECASE)
_NOISE = ("notice", "hint:", "warning", "looking in")


@dataclass(frozen=True)
class Problem:
    """One failure. `kind` is for us; `reason` and `fix` are sentences."""

    kind: str
    reason: str
    fix: str


AGAIN = "start the server again (/mcp in Claude Code)"


def _any(*words: str) -> str:
    return "|".join(words)


_TABLE = (
    (
        "disk",
        _any("no space left", "disk quota exceeded", "enospc"),
        "the disk is full",
        f"Free about 1 GB and {AGAIN}.",
    ),
    (
        "ensurepip",
        _any("ensurepip is not available", r"no module named '?(ensurepip|venv|pip)\b"),
        "this Python has no venv or pip",
        f"Install it (Debian and Ubuntu: apt install python3-venv) or install uv, and {AGAIN}.",
    ),
    (
        "hashes",
        _any("do not match the hashes", "hash mismatch", "hashes are required"),
        "a downloaded file is not the one that this version was tested with",
        f"Check your package index or proxy: it serves other files than the public one. Then {AGAIN}.",
    ),
    (
        "certificate",
        _any("certificate.verify.failed", "self.signed certificate", "unknownissuer", "invalid peer certificate"),
        "the package index's certificate was not accepted",
        f"Tell pip or uv your company's certificates (PIP_CERT, SSL_CERT_FILE), and {AGAIN}.",
    ),
    (
        "credentials",
        _any(r"\b40[13]\b.{0,40}(error|unauthori|forbidden|client)", r"(unauthori[sz]ed|forbidden).{0,40}\b40[13]\b"),
        "the package index refused us",
        f"Check the credentials of your package index or proxy, and {AGAIN}.",
    ),
    (
        "network",
        _any(
            *("name resolution", "name or service not known", "nodename nor servname", "no address associated"),
            *("dns error", "failed to lookup address", "failed to establish", "connection refused", "connection reset"),
            *("connection aborted", "remotedisconnected", "network is unreachable", "no route to host", "timed out"),
            *("proxyerror", "tunnel connection failed", "max retries exceeded", "error sending request"),
            *("failed to fetch", "network connectivity is disabled"),
        ),
        "the package index could not be reached",
        f"Check the network or the proxy (HTTPS_PROXY), and {AGAIN}.",
    ),
    (
        "platform",
        _any(
            *("no matching distribution", "not a supported wheel", "no compatible wheel", "no solution found"),
            *("has no wheels", "no wheels with a matching", "no usable wheels"),
        ),
        "a package has no build for this Python or this machine",
        f"Use Python 3.11, 3.12 or 3.13 on Linux or macOS, and {AGAIN}.",
    ),
    (
        "permission",
        _any("permission denied", "read-only file system", "operation not permitted"),
        "a folder cannot be written",
        f"Make it writable or set MODELRIG_ENV_DIR to a folder that is, and {AGAIN}.",
    ),
)
"""kind, what its output says, the reason, the fix; `no matching distribution` also follows a network that is down."""


def explain(output: str, log: str = "") -> Problem:
    """The problem behind what an installer printed; the first that matches in the order of the table."""
    lowered = output.lower()
    for kind, pattern, reason, fix in _TABLE:
        if re.search(pattern, lowered):
            detail = _telling(output, pattern, whole=False)
            return Problem(kind, f"{reason} ({detail})" if detail else reason, fix)
    detail = _telling(output, r"error|fail", whole=True) or "it printed nothing"
    where = f" The whole output is in {log}." if log else ""
    return Problem("unknown", f"the installer failed: {detail}", f"Mend what it names, and {AGAIN}.{where}")


def too_old(found: str) -> Problem:
    """No Python that is new enough."""
    return Problem(
        "python",
        f"modelrig needs Python 3.11 or newer; this is {found}, and no newer one was found on the PATH",
        f"Install Python 3.13 or uv, and {AGAIN}.",
    )


def unwritable(folder: str, error: OSError) -> Problem:
    """The folder for environments cannot be made or written."""
    if error.errno == 28:
        return explain("No space left on device")
    return Problem(
        "permission",
        f"the folder for packages, {folder}, cannot be written ({error.strerror or type(error).__name__})",
        f"Make it writable or set MODELRIG_ENV_DIR to a folder that is, and {AGAIN}.",
    )


def not_entered(prefix: str) -> Problem:
    """An environment is there and does not work: nothing that we would do again could mend it."""
    return Problem(
        "environment",
        f"the environment {prefix} was made and its packages are not found in it",
        f"Unset PYTHONHOME and PYTHONPATH, or remove that folder, and {AGAIN}.",
    )


def interrupted(step: str) -> Problem:
    """The builder is gone and left no word."""
    at = f" while it was at: {step}" if step else ""
    return Problem(
        "interrupted", f"the installation was stopped from outside{at}", f"Do nothing but {AGAIN}: it goes on."
    )


def clean(text: str) -> str:
    """Installer output without addresses, hosts, credentials and control characters."""
    text = _INDEX.sub("", text)
    text = _ADDRESS.sub("(address)", text)
    text = _HOST.sub(r"\1(host)", text)
    text = _PLACE.sub("(host)", text)
    return "".join(sign if sign.isprintable() or sign in "\n\t" else " " for sign in text)


def _telling(output: str, pattern: str, *, whole: bool) -> str:
    """The last place that matches, from there on or as a whole line; else the last line. Cleaned and short."""
    lines = [clean(line).strip() for line in output.splitlines()]
    said = ""
    for line in lines:
        match = re.search(pattern, line, re.IGNORECASE)
        if match:
            said = line if whole else line[match.start() :]
    said = said.partition("')")[0]  # what follows is the installer's own wrapping
    said = said or next((line for line in reversed(lines) if line and not line.lower().startswith(_NOISE)), "")
    return said if len(said) <= 160 else f"{said[:160]}…"
