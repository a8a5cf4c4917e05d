"""What a token says of whoever holds it, for display only: nothing is decided by it and it is not verified.

`az account list` shows a personal and a work account of one address as the same user; their tokens tell them apart
(article of 2026-09-24): a personal account signs in through live.com, a guest names its own directory, a work or
school account in its own directory names none, an application carries no `scp`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clouds.azure.words import bounded


@dataclass(frozen=True)
class Who:
    """The holder of a token: what sort of account, its name, its object id and the tenant that issued it."""

    kind: str
    name: str
    object_id: str = ""
    tenant: str = ""


def claims(token: str) -> Mapping[str, Any]:
    """The payload of a token; empty for a text that is none."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        found = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def who(token: str) -> Who:
    """The holder of a token, as far as its payload says."""
    found = claims(token)
    if not found:
        return Who("unknown kind of account", "")
    source = str(found.get("idp") or "")
    if found.get("idtyp") == "app" or "scp" not in found:
        kind = "managed identity" if found.get("xms_mirid") else "service principal"
        name = found.get("app_displayname") or found.get("appid") or found.get("oid")
    else:
        kind = _kind(source)
        name = found.get("upn") or found.get("unique_name") or found.get("email") or found.get("oid")
    name = re.sub(r"^[a-z.]+#", "", str(name or ""))  # live.com#me@example.com
    return Who(kind, bounded(name, 120), str(found.get("oid") or ""), str(found.get("tid") or "").lower())


def _kind(source: str) -> str:
    if "live.com" in source:
        return "personal Microsoft account"
    return "guest account of another directory" if source else "work or school account"
