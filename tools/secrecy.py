"""What may never be written down: a guard for what we are about to store, and a brush for what came from outside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from clouds.errors import InvalidInput

WITHHELD = "(withheld: looks like a secret)"

_LAST = {
    "apikey", "authorization", "cookie", "credential", "credentials", "passphrase", "passwd", "password", "secret",
    "token",
}  # fmt: skip
_KEYS = {"access", "account", "api", "auth", "encryption", "private", "secret", "shared", "sas", "subscription"}
"""`key` after one of these is a secret; a plain `key` is a name."""
_PUBLIC_TOKENS = {
    "bos", "client", "continuation", "eos", "first", "idempotency", "image", "last", "mask", "next", "page", "pad",
    "prompt", "request", "sep", "stop", "unk",
}  # fmt: skip
"""`token` after one of these belongs to paging, to idempotency or to a tokenizer."""
_REFERENCE = re.compile(
    r"(?:env:|file:|\$\{?[A-Z_]|\$\{\{keyvault:https://|\*{3}|<|\(withheld|arn:|projects/|https://[^?]*$)"
)
"""A value that only says where the secret is."""
_VALUE = re.compile(
    r"""sk-[A-Za-z0-9_-]{16,} | hf_[A-Za-z0-9]{16,} | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_\w{20,}
      | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b | AIza[\w-]{30,} | ya29\.[\w.-]{20,} | eyJ[\w-]{10,}\.eyJ[\w-]{10,}[\w.-]*
      | (?i:\bbearer\s+)[\w.~+/=-]{8,} | -----BEGIN\s[A-Z\s]*PRIVATE\sKEY-----[^-]*(?:-----END[A-Z\s]*-----)?
      | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)
      | (?i:(?<=[?&]sig=)|(?<=X-Amz-Signature=)|(?<=X-Amz-Security-Token=))[\w%+/=-]{8,}
    """,
    re.VERBOSE,
)
_MARKS = (
    "sk-", "hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "akia", "asia", "aiza", "ya29.", "eyj",
    "bearer", "-----begin", "sig=", "x-amz-s",
)  # fmt: skip
"""One of these, in lower case, stands in whatever `_VALUE` finds in ASCII, or `://` and an `@` do: to look for them
costs a tenth of it."""
SHORTEST = len("://u:p@")
"""Characters of the shortest text that holds a secret by itself."""


@lru_cache(maxsize=4096)
def names_a_secret(name: str) -> bool:
    """True for `api_key`, `HF_TOKEN`, `--api-key`; False for `api_key_env`, `max_tokens`, `ClientToken`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name.lstrip("-"))
    lower = [word.lower() for word in words]
    if not lower:
        return False
    before = lower[-2] if len(lower) > 1 else ""
    if lower[-1] == "token":
        return before not in _PUBLIC_TOKENS
    return lower[-1] in _LAST or (lower[-1] == "key" and before in _KEYS)


def found(value: Any, path: str = "") -> Iterator[str]:
    """The paths of everything in a JSON-like value that looks like a secret."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            here = f"{path}.{key}" if path else str(key)
            if not isinstance(each, str):
                yield from found(each, here)
            elif _is_secret(str(key), each):
                yield here
        name, text = _pair(value)
        if name and _is_secret(name, text):
            yield f"{path}.{name}" if path else name
    elif isinstance(value, list | tuple):
        for position, each in enumerate(value):
            before = value[position - 1] if position else ""
            if (
                isinstance(each, str)
                and isinstance(before, str)
                and before.startswith("-")
                and _is_secret(before, each)
            ):
                yield f"{path}[{position}]"
            else:
                yield from found(each, f"{path}[{position}]")
    elif isinstance(value, str) and _in_text(value):
        yield path


def refuse(value: Any, field: str) -> None:
    """Raises InvalidInput, before anything is written or sent, when `value` holds what looks like a secret."""
    where = next(found(value, field), None)
    if where is not None:
        raise InvalidInput(
            where[:100],
            "looks like a secret, and this would be written to a file",
            fix="Put it into an environment variable or a file of mode 0600, and give that name (env:NAME, file:PATH).",
        )


def withhold(value: Any) -> Any:
    """The same JSON-like value with every secret in it replaced by words that say so."""
    if isinstance(value, Mapping):
        name, text = _pair(value)
        hidden = {"value", "Value"} if name and _is_secret(name, text) else set[str]()
        return {
            str(key): WITHHELD
            if key in hidden or (isinstance(each, str) and _is_secret(str(key), each) and names_a_secret(str(key)))
            else withhold(each)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        kept = []
        for position, each in enumerate(value):
            before = value[position - 1] if position else ""
            flag = isinstance(before, str) and before.startswith("-") and names_a_secret(before)
            kept.append(WITHHELD if flag and isinstance(each, str) and _is_secret(before, each) else withhold(each))
        return kept
    return clean(value) if isinstance(value, str) else value


def clean(text: str) -> str:
    """Text from outside with what looks like a secret replaced."""
    if _marked(text):
        text = _VALUE.sub(WITHHELD, text)
    if text.startswith("-") and "=" in text:
        flag, value = text.split("=", 1)
        if _is_secret(flag, value):
            return f"{flag}={WITHHELD}"
    return text


def _is_secret(name: str, value: str) -> bool:
    return bool(value) and (_in_text(value) or (names_a_secret(name) and not _REFERENCE.match(value)))


def _in_text(text: str) -> bool:
    if len(text) < SHORTEST:
        return False
    return (_marked(text) and bool(_VALUE.search(text))) or (text.startswith("-") and clean(text) != text)


def _marked(text: str) -> bool:
    """False only where `_VALUE` finds nothing."""
    lower = text.lower()
    return not text.isascii() or ("@" in text and "://" in text) or any(map(lower.__contains__, _MARKS))


def _pair(value: Mapping[Any, Any]) -> tuple[str, str]:
    """{"Name": "HF_TOKEN", "Value": "..."}: how several clouds write an environment."""
    for name, content in (("name", "value"), ("Name", "Value")):
        if isinstance(value.get(name), str) and isinstance(value.get(content), str):
            return value[name], value[content]
    return "", ""
