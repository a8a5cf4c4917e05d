"""Takes out of an answer what must not be published, and puts in what still matches: the same in, the same out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

_PUBLIC_ACCOUNTS = frozenset({"763104351884"})  # AWS's own registry of Deep Learning Containers (seed, 2026-09-26)
_ACCOUNTS = ("111122223333", "444455556666", "777788889999", "123456789012")  # the ones that AWS's own docs use
_SECRET_KEY = re.compile(
    r"(secret|password|passwd|authorization|credential|api[-_]?key|private[-_]?key|signature|session[-_]?token"
    r"|access[-_]?token|refresh[-_]?token|id[-_]?token|security[-_]?token|access[-_]?key|cookie|shared[-_]?key|(primary|secondary)\w*key|user[-_]?data)",
    re.IGNORECASE,
)
# Names of things, limits and lists that carry such a word and no secret.
_HARMLESS_KEY = re.compile(
    r"(name|names|arn|id|ids|list|count|type|status|version|date|time|used|enabled)$", re.IGNORECASE
)
_PAGE_KEY = re.compile(r"^(next|page|continuation|pagination)?_?-?(token|marker)$|^nextLink$|token$", re.IGNORECASE)
_LINK_KEY = re.compile(r"link$|^(azure-asyncoperation|location|operation)$", re.IGNORECASE)
"""Where a cloud says which address to ask next: the query of such an address is a page token or a signature."""

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("private keys", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL)),
    ("tokens", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")),
    ("tokens", re.compile(r"\b(?:hf_|ghp_|gho_|github_pat_|sk-|ya29\.|AIza|xox[a-z]-|nvapi-)[A-Za-z0-9_\-.]{16,}")),
    ("tokens", re.compile(r"(?<=Bearer )[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)),
    ("tokens", re.compile(r"(?<=[?&]X-Amz-Security-Token=)[^&\s\"']+|(?<=[?&]access_token=)[^&\s\"']+")),
    ("signatures", re.compile(r"(?<=[?&]X-Amz-Signature=)[^&\s\"']+|(?<=[?&]X-Amz-Credential=)[^&\s\"']+")),
    ("signatures", re.compile(r"(?<=[?&]sig=)[^&\s\"']+|(?<=[?&]Signature=)[^&\s\"']+|(?<=Signature=)[0-9a-f]{64}")),
    ("key ids", re.compile(r"\bA(?:KIA|SIA|IDA|ROA|GPA|NPA|IPA)[A-Z0-9]{12,32}\b")),
)
_PRINCIPAL = re.compile(r"(arn:aws[a-z-]*:(?:iam|sts)::\d{12}:)(user|assumed-role|federated-user)/([^\s\"',]+)")
_ACCOUNT = re.compile(r"(?<![0-9A-Za-z])(?<!\d\.)\d{12}(?![0-9A-Za-z])")
_GUID = re.compile(r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b")
_EMAIL = re.compile(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b")
_IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_IPV4_NAME = re.compile(r"\b(ec2|ip)-(\d{1,3})-(\d{1,3})-(\d{1,3})-(\d{1,3})\b")
_IPV6 = re.compile(r"(?<![\w:.])(?=[0-9A-Fa-f]*:[0-9A-Fa-f:]*:)[0-9A-Fa-f:]{3,39}(?![\w:.])")


class Scrubber:
    """Replaces account ids, principals, key ids, tokens, signatures, e-mail addresses and IP addresses.

    One value gets one substitute for the whole recording, so that what referred to it still does. `known` holds
    further words to replace (a project, a tenant's name); `keep` those that are public.
    """

    def __init__(self, known: Mapping[str, str] | None = None, keep: frozenset[str] = _PUBLIC_ACCOUNTS) -> None:
        """`known` maps a word to its substitute; longer words are replaced first."""
        self._known = sorted((known or {}).items(), key=lambda item: -len(item[0]))
        self._keep = keep
        self._given: dict[str, dict[str, str]] = {}
        self.kinds: set[str] = set()

    def clean(self, value: Any, key: str = "") -> Any:
        """The value without its secrets; `key` is the name that it stands under."""
        if isinstance(value, Mapping):
            pair = str(value.get("Name") or value.get("name") or value.get("Key") or value.get("key") or "")
            above = key if _secret(key) else ""
            return {
                self.text(str(name)): self.clean(
                    item, above or (pair if str(name).lower() == "value" else "") or str(name)
                )
                for name, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.clean(item, key) for item in value]
        if isinstance(value, str):
            return self._under(key, value)
        if isinstance(value, int) and not isinstance(value, bool) and str(value) in dict(self._known):
            self.kinds.add("known names")
            return dict(self._known)[str(value)]
        return value

    def text(self, text: str) -> str:
        """One text without its secrets."""
        for word, substitute in self._known:
            if word in text:
                self.kinds.add("known names")
                text = text.replace(word, substitute)
        for kind, pattern in _PATTERNS:
            text = self._each(pattern, text, kind, partial(self._new, kind, form="scrubbed-{}"))
        text = self._each(_PRINCIPAL, text, "principals", None)
        text = self._each(_GUID, text, "ids", partial(self._new, "ids", form="00000000-0000-0000-0000-{:0>12}"))
        text = self._each(_ACCOUNT, text, "account ids", self._account)
        text = self._each(_EMAIL, text, "e-mail addresses", partial(self._new, "mail", form="person{}@example.com"))
        text = self._each(_IPV4, text, "IP addresses", self._ipv4)
        text = self._each(_IPV6, text, "IP addresses", self._ipv6)
        return _IPV4_NAME.sub(self._ipv4_name, text)

    def _under(self, key: str, value: str) -> str:
        if not value:
            return value
        if _secret(key):
            return self._marked("secrets", self._new("secrets", value, "scrubbed-secret-{}"))
        if _LINK_KEY.search(key) and value.startswith("https://") and "?" in value:
            where, _, mark = value.partition("?")  # still a link to the same host, so that a replay can follow it
            return self._marked("page tokens", f"{self.text(where)}?{self._new('page tokens', mark, 'page={}')}")
        if _PAGE_KEY.search(key):
            return self._marked("page tokens", self._new("page tokens", value, "page{}"))
        return self.text(value)

    def _each(self, pattern: re.Pattern[str], text: str, kind: str, make: Callable[[str], str] | None) -> str:
        def swap(found: re.Match[str]) -> str:
            new = make(found[0]) if make else f"{found[1]}{found[2]}/{self._new('principals', found[3], 'someone-{}')}"
            if new != found[0]:
                self.kinds.add(kind)
            return new

        return pattern.sub(swap, text)

    def _new(self, kind: str, old: str, form: str) -> str:
        given = self._given.setdefault(kind, {})
        if old in given.values():
            return old
        return given.setdefault(old, form.format(len(given) + 1))

    def _marked(self, kind: str, new: str) -> str:
        self.kinds.add(kind)
        return new

    def _account(self, old: str) -> str:
        if old in self._keep or old.startswith("0000000000"):
            return old  # public, or the end of an id that was replaced before
        given = self._given.setdefault("accounts", {})
        if old in given.values():
            return old
        n = len(given)
        return given.setdefault(old, _ACCOUNTS[n] if n < len(_ACCOUNTS) else f"{100000000000 + n}")

    def _ipv4(self, old: str) -> str:
        try:
            address = IPv4Address(old)
        except ValueError:
            return old
        if address.is_loopback or address.is_unspecified or int(address) & 0xFFFF == 0:
            return old  # 10.0.0.0 and 172.31.0.0 name networks, and nobody
        return self._new("IPv4", old, "192.0.2.{}")

    def _ipv6(self, old: str) -> str:
        try:
            address = ip_address(old)
        except ValueError:
            return old
        if not isinstance(address, IPv6Address) or address.is_loopback or address.is_unspecified:
            return old
        return self._new("IPv6", old, "2001:db8::{}")

    def _ipv4_name(self, found: re.Match[str]) -> str:
        new = self._ipv4(".".join(found.groups()[1:]))
        self.kinds.add("IP addresses")
        return f"{found[1]}-{new.replace('.', '-')}"


def _secret(key: str) -> bool:
    return bool(_SECRET_KEY.search(key)) and not _HARMLESS_KEY.search(key)
