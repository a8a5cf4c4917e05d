"""Sends one Call to Google over REST: pages joined, errors in our tree, one seam for replay, record and guard.

The calls that create and delete nodes and instances go through Google's own packages (`sdk.py`), under the same seam.
google-auth and the HTTP client are imported when the first call is sent; one client is shared by all threads.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

from clouds.errors import (
    CloudError,
    CredentialExpired,
    InvalidInput,
    NotSignedIn,
    Throttled,
    Unexpected,
    Unreachable,
)
from clouds.gcp import methods, pages, wire
from clouds.gcp import session as sessions
from clouds.gcp.methods import Method
from clouds.gcp.pace import Pace
from clouds.gcp.words import SIGN_IN
from clouds.models import Call, Scope
from clouds.readonly import ReadOnly
from clouds.replay import Request, Tap

if TYPE_CHECKING:
    import httpx2

    from clouds.gcp.session import Session

ATTEMPTS = 4
LONGEST_WAIT = 30.0
"""Seconds. Who is told to wait longer hears of it instead of waiting here."""
_BILLED_TO = frozenset({"cloudquotas", "cloudasset", "recommender", "cloudbilling"})
"""APIs that refuse a person's sign-in unless a project is named that the request counts for (facts, 2026-11-29)."""


class GcpApi:
    """The port to Google. Cheap to make: nothing is read or imported before the first use."""

    def __init__(
        self,
        *,
        build: Callable[[], Session] = sessions.build,
        taps: Sequence[Tap] = (),
        attempts: int = ATTEMPTS,
        base: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`base` is an address that speaks for every host of Google's: the host is then told in the Host header."""
        self.taps, self.base = tuple(taps), base.rstrip("/")
        self._build, self._attempts, self._sleep = build, max(1, attempts), sleep
        self.at_once = build is sessions.recorded
        self._session: Session | None = None
        self._client: httpx2.Client | None = None
        self._plain: httpx2.Client | None = None
        self._paces: dict[tuple[str, str], Pace] = {}
        self._lock = RLock()

    @property
    def session(self) -> Session:
        """Who signs, and for which project. Raises NotSignedIn, NotInstalled."""
        with self._lock:
            if self._session is None:
                self._session = self._build()
            return self._session

    def signed_out(self) -> NotSignedIn | None:
        """Whether plainly nothing could sign in: some looks at the file system, no package."""
        if self._session is not None or self._build is not sessions.build:
            return None
        try:
            return None if sessions.find() is not None else sessions.nobody()
        except NotSignedIn as error:
            return error

    @property
    def project(self) -> str:
        """The project where nothing else is said. Raises InvalidInput when nobody says one."""
        session = self.session
        if not session.project and session.source.kind == "metadata":
            session.project = self.metadata("project/project-id")
        if not session.project:
            raise InvalidInput(
                "project",
                "no project is named on this machine",
                fix="Run `gcloud config set project PROJECT` in a terminal, or set GOOGLE_CLOUD_PROJECT.",
            )
        return session.project

    @property
    def location(self) -> str:
        """The zone or region where nothing else is said."""
        return self.session.location

    def send(self, call: Call, *, scope: Scope, once: bool = False) -> Any:
        """The answer with all its pages joined, `unreachable` and warnings kept (`clouds.gcp.pages.gaps` reads them).

        Project, zone, region and `parent` are taken from the scope where the call does not say them. Raises CloudError.
        `once` sends a single attempt.
        """
        whole: dict[str, Any] = {}
        for page in self.pages(call, scope=scope, once=once):
            if not isinstance(page, dict):
                return page
            whole = pages.joined(whole, page) if whole else page
        whole.pop("nextPageToken", None)
        return whole

    def pages(self, call: Call, *, scope: Scope, once: bool = False) -> Iterator[Any]:
        """Page after page, for who may stop early. Raises CloudError."""
        method = methods.method(call)
        parameters: Mapping[str, Any] = call.parameters
        seen: set[str] = set()
        while True:
            project = scope.account or (self.project if method.in_path.keys() - parameters.keys() else "")
            filled = method.filled(parameters, Scope(scope.location, project))
            page = self._sent(method, filled, scope, once)
            yield page
            token = page.get("nextPageToken") if isinstance(page, dict) and method.pages else None
            if not token:
                return
            if token in seen or len(seen) >= pages.MOST:
                words = "the same page twice" if token in seen else "no last page"
                raise Unexpected(f"reading {call} ({len(seen)} pages so far)", answered=words, fix="Repeat this call.")
            seen.add(token)
            if method.pages == "body":
                parameters = {**parameters, "body": {**(parameters.get("body") or {}), "pageToken": token}}
            else:
                parameters = {**parameters, "pageToken": token}

    def fresh_headers(self) -> dict[str, str]:
        """What signs a request that does not go through `send` (a tunnel, an upload). They hold a secret."""
        return self._headers()[1]

    def request_of(self, method: Method, filled: Mapping[str, Any], scope: Scope) -> Request:
        """How a request is named for the taps: an SDK's requests are named by the same words."""
        place = scope.location or str(filled.get("zone") or filled.get("region") or methods.location_of(filled))
        account = scope.account or str(filled.get("project") or "") or self.session.project
        return Request(method.service, method.operation, place, account, dict(filled))

    def _sent(self, method: Method, filled: Mapping[str, Any], scope: Scope, once: bool) -> Any:
        from clouds.gcp import sdk

        request = self.request_of(method, filled, scope)
        if sdk.carries(request) and not any(isinstance(tap, ReadOnly) for tap in self.taps):
            return self.sdk.carry(request)
        return self.rest(request, once=once)  # behind a guard a write is refused there, and no package is loaded for it

    def rest(self, request: Request, marks: Mapping[str, str] | None = None, *, once: bool = False) -> Any:
        """Send one request, at a pace and again where that does no harm; `marks` are further headers of an SDK."""
        method = methods.table(request.service)[request.operation]
        pace = self._pace(method.service, request.account)
        attempts = 1 if once else self._attempts
        for attempt in range(1, attempts + 1):
            try:
                with pace.turn():
                    return self._signed(method, request, marks or {})
            except (Throttled, Unreachable) as error:
                wait = error.retry_after or min(8.0, 2.0 ** (attempt - 1)) * random.uniform(0.8, 1.2)  # noqa: S311 - spreads retries, guards nothing
                if attempt == attempts or wait > LONGEST_WAIT or not _again(error, method):
                    raise
                if isinstance(error, Throttled):
                    pace.slow_down(wait)
                else:
                    self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _signed(self, method: Method, request: Request, marks: Mapping[str, str]) -> Any:
        """Send with the credential; when it is refused, renew it or take the one that is there now, and send again."""
        session, headers = self._headers()
        if method.service in _BILLED_TO and session.source.kind == "authorized_user" and request.account:
            marks = {"x-goog-user-project": request.account, **marks}
        try:
            return self._exchanged(method, request, {**marks, **headers})
        except CredentialExpired:
            renewed = self._renewed(session, headers)
            if renewed is None:
                raise
        return self._exchanged(method, request, {**marks, **renewed})

    def _exchanged(self, method: Method, request: Request, headers: Mapping[str, str]) -> Any:
        return wire.exchanged(lambda: self.client, self.taps, method, request, headers, self.addressed)

    def _headers(self) -> tuple[Session, dict[str, str]]:
        """What signs a request now; a sign-in that was made after ours had ended is taken."""
        session = self.session
        try:
            return session, session.headers(self._refresher())
        except (CredentialExpired, NotSignedIn):
            if not self._another(session):
                raise
        session = self.session
        return session, session.headers(self._refresher())

    def _another(self, session: Session) -> bool:
        """Whether another sign-in is on this machine than that one; it is then the one in use."""
        with self._lock:
            if self._session is session and self._build is sessions.build and session.stamp != sessions.stamp():
                self._session = None
            return self._session is not session

    def _renewed(self, session: Session, refused: Mapping[str, str]) -> dict[str, str] | None:
        if session.credentials is None:
            return None
        self._another(session)
        try:
            token = refused.get("Authorization", "").removeprefix("Bearer ")
            return self.session.headers(self._refresher(), renew=token)
        except CloudError:
            return None

    @property
    def sdk(self) -> Any:
        """Google's own packages for nodes and instances, made when first used."""
        from clouds.gcp.sdk import Sdk

        with self._lock:
            if self._sdk is None:
                self._sdk = Sdk(self)
            return self._sdk

    _sdk: Any = None

    @property
    def client(self) -> httpx2.Client:
        """The one HTTP client; every request through it must be named for the taps."""
        with self._lock:
            if self._client is None:
                self._client = wire.client(self.taps, proxy=None if self.base else wire.proxy())
            return self._client

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            for each in (self._client, self._plain):
                if each is not None:
                    each.close()
            self._client = self._plain = None

    def addressed(self, url: str) -> tuple[str, str]:
        """An address of Google's as it is to be asked, and the host to tell where another machine speaks for it."""
        if not self.base:
            return url, ""
        host, _, path = url.split("://", 1)[1].partition("/")
        return f"{self.base}/{path}", host

    def _pace(self, service: str, account: str) -> Pace:
        """Google counts by service and project: one project's crowd does not hold up another's."""
        with self._lock:
            if (service, account) not in self._paces:
                self._paces[service, account] = Pace(sleep=self._sleep)
            return self._paces[service, account]

    def metadata(self, path: str) -> str:
        """What the metadata service of this machine says; empty when it does not. Raises Unreachable."""
        from google.auth.exceptions import TransportError

        where = f"http://metadata.google.internal/computeMetadata/v1/{path}"
        try:
            answer = self._refresher()(where, headers={"Metadata-Flavor": "Google"})
        except TransportError as error:
            raise Unreachable(
                "asking this machine's metadata service", answered=str(error), fix=SIGN_IN, sent=False
            ) from None
        return str(answer.data.decode().strip()) if answer.status == 200 else ""

    def _refresher(self) -> Callable[..., Any]:
        """What google-auth renews a token with: a request outside the taps, never recorded and never replayed."""
        from clouds.gcp.renewing import refresher

        with self._lock:
            if self._plain is None:
                import httpx2

                self._plain = httpx2.Client(
                    verify=wire.tls(), timeout=httpx2.Timeout(20, connect=5), trust_env=not self.base
                )
        return refresher(self._plain, self.addressed)


def _again(error: CloudError, method: Method) -> bool:
    """Whether sending it again does no harm and may help; a server that stalled once holds us for as long again."""
    if isinstance(error, Throttled):
        return True
    return method.reads and error.sent and "Timeout" not in error.code
