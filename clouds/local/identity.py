"""Who uses this machine. There is no credential, so there is nothing that could expire."""

from __future__ import annotations

import getpass
import os
import platform

from clouds.models import Identity

LOCATION = "this-machine"
SERVICE = "llama"


class User:
    """The IdentityReader of the local cloud."""

    def read(self) -> Identity:
        """User and host as the system names them; they are data."""
        return Identity(
            principal=_word(_user()),
            account=host(),
            kind="this machine",
            renews="nothing to renew: no credential is used",
            location=LOCATION,
            details={"system": _word(platform.platform(terse=True)), "python": platform.python_version()},
        )


def host() -> str:
    """The machine's name."""
    return _word(platform.node()) or "unnamed"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"


def _word(text: str) -> str:
    return "".join(char for char in text if char.isprintable())[:90]
