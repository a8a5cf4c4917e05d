"""Sends one Call to Google over REST: pages joined, errors in our tree, one seam for replay, record and guard.

The calls that create and delete nodes and instances go through Google's own packages (`sdk.py`), under the same seam.
google-auth and the HTTP client are imported when the first call is sent; one client is shared by all threads.
"""

from __future__ import annotations

import json
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
from clouds.gcp import errors, methods, pages
from clouds.gcp import session as sessions
from clouds.gcp.methods import Method
from clouds.gcp.pace import Pace
from clouds.gcp.words import REMEDIES
from clouds.models import Call, Scope
from clouds.replay import Request, Tap

if TYPE_CHECKING:
    import httpx2

    from clouds.gcp.session import Session

ATTEMPTS = 4
READ_TIMEOUT = 75
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
        self._session: Session | None = None
        self._client: httpx2.Client | None = None
        self._plain: httpx2.Client | None = None
        self._paces: dict[str, Pace] = {}
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
            filled = method.filled(parameters, Scope(scope.location, scope.account or self.project))
            page = self._sent(method, filled, scope, once)
            yield page
            token = page.get("nextPageToken") if isinstance(page, dict) and method.pages else None
            if not token:
                return
            if token in seen:
                raise Unexpected(
                    f"reading {call} ({len(seen)} pages so far)",
                    answered="the same page twice",
                    fix="Repeat this call.",
                )
            seen.add(token)
            if method.pages == "body":
                parameters = {**parameters, "body": {**(parameters.get("body") or {}), "pageToken": token}}
            else:
                parameters = {**parameters, "pageToken": token}

    def fresh_headers(self) -> dict[str, str]:
        """What signs a request that does not go through `send` (a tunnel, an upload). They hold a secret."""
        return self.session.headers(self._refresher())

    def request_of(self, method: Method, filled: Mapping[str, Any], scope: Scope) -> Request:
        """How a request is named for the taps: an SDK's requests are named by the same words."""
        place = scope.location or str(filled.get("zone") or filled.get("region") or methods.location_of(filled))
        account = scope.account or str(filled.get("project") or "") or self.session.project
        return Request(method.service, method.operation, place, account, dict(filled))

    def _sent(self, method: Method, filled: Mapping[str, Any], scope: Scope, once: bool) -> Any:
        from clouds.gcp import sdk

        request = self.request_of(method, filled, scope)
        return self.sdk.carry(request) if sdk.carries(request) else self.rest(request, once=once)

    def rest(self, request: Request, marks: Mapping[str, str] | None = None, *, once: bool = False) -> Any:
        """Send one request, at a pace and again where that does no harm; `marks` are further headers of an SDK."""
        method = methods.table(request.service)[request.operation]
        pace = self._pace(method.service)
        attempts = 1 if once else self._attempts
        for attempt in range(1, attempts + 1):
            try:
                with pace.turn():
                    return self._signed(method, request, marks or {})
            except (Throttled, Unreachable) as error:
                again = isinstance(error, Throttled) or method.reads
                if attempt == attempts or not again or not error.sent:
                    raise
                wait = error.retry_after or min(16.0, 2.0 ** (attempt - 1)) * random.uniform(0.8, 1.2)  # noqa: S311 - spreads retries, guards nothing
                if isinstance(error, Throttled):
                    pace.slow_down(min(wait, 60.0))
                else:
                    self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _signed(self, method: Method, request: Request, marks: Mapping[str, str]) -> Any:
        """Send with the credential; when it is refused, renew it or take the one that is there now, and send again."""
        session = self.session
        headers = session.headers(self._refresher())
        try:
            return self._exchanged(method, request, {**marks, **headers})
        except CredentialExpired:
            renewed = self._renewed(session, headers)
            if renewed is None:
                raise
        return self._exchanged(method, request, {**marks, **renewed})

    def _renewed(self, session: Session, refused: Mapping[str, str]) -> dict[str, str] | None:
        if session.credentials is None:
            return None
        with self._lock:
            if self._build is sessions.build and session.stamp != sessions.stamp():
                self._session = None
        try:
            token = refused.get("Authorization", "").removeprefix("Bearer ")
            return self.session.headers(self._refresher(), renew=token)
        except CloudError:
            return None

    def _exchanged(self, method: Method, request: Request, headers: Mapping[str, str]) -> Any:
        import httpx2

        from clouds.replay.rest import named

        tried = f"{request}"
        filled = request.parameters
        url, host = self.addressed(method.url(filled))
        sent = {**headers, **({"Host": host} if host else {})}
        if (
            method.service in _BILLED_TO
            and "Authorization" in headers
            and "x-goog-user-project" not in sent
            and request.account
        ):
            sent["x-goog-user-project"] = request.account
        content = json.dumps(filled["body"]).encode() if "body" in filled else b"{}" if method.body else None
        if content is not None:
            sent["Content-Type"] = "application/json"
        try:
            response = self.client.request(
                method.verb, url, params=method.query(filled), content=content, headers=sent, extensions=named(request)
            )
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise Unreachable(
                tried, answered=errors.bounded(str(error)), code=type(error).__name__, fix=REMEDIES["unreachable"],
                sent=False,
            ) from None  # fmt: skip
        except httpx2.HTTPError as error:
            fix = REMEDIES["unreachable"] if method.reads else REMEDIES["answer_lost"]
            raise Unreachable(tried, answered=errors.bounded(str(error)), code=type(error).__name__, fix=fix) from None
        return answered(response.status_code, response.content, response.headers, tried)

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
                import httpx2

                from clouds.replay.rest import transport

                inner = httpx2.HTTPTransport(limits=httpx2.Limits(max_connections=64, max_keepalive_connections=32))
                self._client = httpx2.Client(
                    transport=transport(self.taps, inner), timeout=httpx2.Timeout(READ_TIMEOUT, connect=5),
                    headers={"User-Agent": "modelrig"},
                )  # fmt: skip
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

    def _pace(self, service: str) -> Pace:
        with self._lock:
            return self._paces.setdefault(service, Pace(sleep=self._sleep))

    def metadata(self, path: str) -> str:
        """What the metadata service of this machine says; empty when it does not. Raises Unreachable."""
        answer = self._refresher()(
            f"http://metadata.google.internal/computeMetadata/v1/{path}", headers={"Metadata-Flavor": "Google"}
        )
        return str(answer.data.decode().strip()) if answer.status == 200 else ""

    def _refresher(self) -> Callable[..., Any]:
        """What google-auth renews a token with: a request outside the taps, never recorded and never replayed."""
        from clouds.gcp.renewing import refresher

        with self._lock:
            if self._plain is None:
                import httpx2

                self._plain = httpx2.Client(timeout=httpx2.Timeout(20, connect=5))
        return refresher(self._plain, self.addressed)


def answered(status: int, content: bytes, headers: Mapping[str, str], tried: str) -> Any:
    """The body of an answer. Raises the CloudError that it is."""
    try:
        body = json.loads(content) if content.strip() else {}
    except ValueError:
        body = content.decode(errors="replace")
    if status >= 400:
        raise errors.of_answer(status, body, headers, tried)
    if isinstance(body, str):
        raise Unexpected(
            tried, answered=errors.bounded(body, 200), code=str(status),
            fix="Something between this machine and Google answered; look at the proxy.",
        )  # fmt: skip
    return body
