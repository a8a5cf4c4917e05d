"""The ID token that Cloud Run wants: made by whoever can make one, and it is said who did.

A person's own sign-in (`gcloud auth application-default login`) makes none for another audience, so either gcloud
itself is asked, or a service account whose token creator we are (google-auth 2.63.0 and Google's pages, 2026-11-29).
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from shutil import which
from typing import Any

from clouds.errors import NotSignedIn, PermissionMissing
from clouds.gcp.api import GcpApi
from clouds.models import Call, Scope

LASTS = 45 * 60.0
"""Seconds that a token is used; it is good for an hour."""


@dataclass(frozen=True)
class Made:
    """A token, and who made it. The token is in no repr."""

    token: str = field(repr=False)
    how: str = ""


def make(api: GcpApi, audience: str, account: str) -> Made:
    """Raises PermissionMissing or NotSignedIn with the one thing to do. `account` is a service account, or empty."""
    if account:
        return _as_account(api, audience, account)
    source = api.session.source
    if source.kind == "service_account":
        return _own_key(api, audience, dict(source.info))
    program = which("gcloud")
    if program:
        return _gcloud(program, audience)
    raise NotSignedIn(
        f"making an ID token for {audience}", answered="neither gcloud nor a service account is here to make one",
        fix="Deploy with invoke_as=a service account that you may impersonate (roles/iam.serviceAccountTokenCreator).",
        sent=False,
    )  # fmt: skip


def _as_account(api: GcpApi, audience: str, account: str) -> Made:
    name = f"projects/-/serviceAccounts/{account}"
    body = {"audience": audience, "includeEmail": True}
    call = Call("iamcredentials", "projects.serviceAccounts.generateIdToken", {"name": name, "body": body})
    answer = api.send(call, scope=Scope())
    return Made(str(answer["token"]), f"the ID token is {account}'s, by impersonation")


def _own_key(api: GcpApi, audience: str, info: dict[str, Any]) -> Made:
    account = str(info.get("client_email", ""))
    try:
        made = _as_account(api, audience, account)
    except PermissionMissing as error:
        error.fix = f"Let {account} make tokens of itself: roles/iam.serviceAccountTokenCreator on it."
        raise
    return Made(made.token, f"the ID token is {account}'s own")


def _gcloud(program: str, audience: str) -> Made:
    tried = f"making an ID token for {audience} with gcloud"
    command = [program, "auth", "print-identity-token", "--quiet"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotSignedIn(tried, answered=type(error).__name__, fix="Run `gcloud auth login` in a terminal.") from None
    token = ran.stdout.strip()
    if ran.returncode or token.count(".") != 2:
        raise NotSignedIn(tried, answered=ran.stderr.strip()[:200], fix="Run `gcloud auth login` in a terminal.")
    return Made(token, "the ID token is that of gcloud's sign-in")


class Signer:
    """Signs requests to one service; a token is made once and used until it is old."""

    def __init__(self, tokens: Callable[[], Made], clock: Callable[[], float] = time.monotonic) -> None:
        """`tokens` makes one."""
        self._tokens, self._clock = tokens, clock
        self._lock = threading.Lock()
        self._held: tuple[float, Made] | None = None
        self.how = ""

    def __call__(self, method: str, url: str, body: bytes) -> Mapping[str, str]:  # noqa: ARG002 - the wire's own arguments
        """The header for one request. It holds a secret. Raises CloudError."""
        with self._lock:
            if self._held is None or self._clock() - self._held[0] > LASTS:
                self._held = (self._clock(), self._tokens())
            self.how = self._held[1].how
            return {"Authorization": f"Bearer {self._held[1].token}"}
