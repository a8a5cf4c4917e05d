"""Sends one Call to AWS through botocore: pages joined, errors in our tree, one seam for replay, record and guard.

botocore is imported when the first call is sent. One private session is shared by all threads: making a client is under
a lock (botocore's session is not safe for threads), using one is not (its clients are).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

from clouds.aws import paging
from clouds.aws import session as sessions
from clouds.errors import CloudError, CredentialExpired, InvalidInput, NotSignedIn
from clouds.models import Call, Scope
from clouds.replay import Tap

if TYPE_CHECKING:
    from botocore.session import Session

ATTEMPTS = 5
READ_TIMEOUT = 75  # a model may take 60 s to answer, and AWS's own advice is 70 (botocore model, InvokeEndpoint)
_REGION = re.compile(r"((?:[a-z]{2,4}-)+[a-z]+-\d+)([a-z])?")
_TOKENS = ("NextToken", "nextToken")
_How = Callable[[Any, Call], dict[str, Any]]


class AwsApi:
    """The port to AWS. Cheap to make: nothing is read or imported before the first use."""

    def __init__(
        self,
        *,
        build: Callable[[], Session] = sessions.build,
        prepare: Callable[[Session], object] | None = None,
        taps: Sequence[Tap] = (),
        attempts: int = ATTEMPTS,
    ) -> None:
        """`build` makes a session, `prepare` is given each one that was made; `attempts` counts all sends of a call."""
        self.taps = tuple(taps)
        self._build, self._prepare, self._attempts = build, prepare, attempts
        self._session: Session | None = None
        self._clients: dict[tuple[str, str, int], Any] = {}
        self._paginators: dict[tuple[Any, str], Any] = {}
        self._generation, self._stamp = 0, ""
        self._lock = RLock()

    @property
    def session(self) -> Session:
        """The private session. Use it to read its configuration and credential, never to change them."""
        with self._lock:
            if self._session is None:
                if (nothing := self.signed_out()) is not None:
                    raise nothing
                self._session = self._made()
            return self._session

    def signed_out(self) -> NotSignedIn | None:
        """Whether plainly nothing could sign in: some looks at the file system, no SDK."""
        if self._session is not None or self._build is not sessions.build or not sessions.nothing_to_sign_in_with():
            return None
        return NotSignedIn(
            "signing in to AWS",
            answered="no credential is set up on this machine",
            fix="Run `aws login` in a terminal, then repeat this call.",
            sent=False,
        )

    @property
    def region(self) -> str:
        """The region where nothing else is said."""
        from clouds.aws.errors import told

        session = self.session
        try:
            return sessions.region(session)
        except _botocore_errors() as error:
            raise told(error, "reading the AWS configuration", "") from error

    def client(self, service: str, region: str | None = None, *, measuring: int = 0) -> Any:
        """A botocore client, shared by threads. `measuring` is how many requests run at once: then nothing is retried.

        Its methods raise botocore's own errors; wrap them with `clouds.aws.errors.told`, or use `send`.
        """
        return self._client(service, region or self.region, measuring)

    def send(self, call: Call, *, scope: Scope, once: bool = False) -> Any:
        """The answer with all its pages joined. Raises CloudError. `once` sends a single attempt, for creating calls.

        A `PaginationConfig` among the parameters (`{"MaxItems": n}`) bounds what is joined.
        """
        return self._careful(call, scope, once, self._whole)

    def pages(self, call: Call, *, scope: Scope) -> Iterator[dict[str, Any]]:
        """Page after page, for who may stop early; for operations that page by `NextToken`. Raises CloudError."""
        parameters, token = dict(call.parameters), ""
        while True:
            page = self._careful(Call(call.service, call.operation, parameters), scope, False, _page)
            yield page
            token = next((name for name in _TOKENS if page.get(name)), "")
            if not token or parameters.get(token) == page[token]:
                return
            parameters = {**parameters, token: page[token]}

    def _careful(self, call: Call, scope: Scope, once: bool, how: _How) -> dict[str, Any]:
        """Send; when the credential was refused and another one is on this machine now, send once more."""
        from clouds.aws.errors import told

        _ = self.session  # without anything to sign in with this says so, before the SDK is loaded
        region, generation = region_of(scope.location) or self.region, self._generation
        try:
            return self._sent(call, region, once, how)
        except _botocore_errors() as error:
            first = told(error, f"{call} in {region}", region)
            if not isinstance(first, CredentialExpired | NotSignedIn) or not self._renewed(generation, first.sent):
                raise first from error
        try:
            return self._sent(call, region, once, how)
        except _botocore_errors() as error:
            raise told(error, f"{call} in {region}", region) from error

    def _sent(self, call: Call, region: str, once: bool, how: _How) -> dict[str, Any]:
        client = self._client(call.service, region, 1 if once else 0)
        if call.operation not in client.meta.service_model.operation_names:
            raise InvalidInput("call", f"AWS has no {call}", fix="Report this as a bug of modelrig.")
        return how(client, call)

    def _client(self, service: str, region: str, measuring: int) -> Any:
        key = (service, region, measuring)
        client = self._clients.get(key)
        if client is None:
            with self._lock:
                client = self._clients.get(key)
                if client is None:
                    client = self._clients[key] = self._made_client(service, region, measuring)
        return client

    def _whole(self, client: Any, call: Call) -> dict[str, Any]:
        """All pages, by botocore's paginator, else by the token; a page may be empty and have a next."""
        from botocore import xform_name

        method = xform_name(call.operation)
        if not client.can_paginate(method) or any(token in call.parameters for token in _TOKENS):
            return _joined(client, call, method)
        paginator = self._paginators.get((client, method))
        if paginator is None:  # botocore makes a class for each: a twentieth of a call's time
            paginator = self._paginators[client, method] = client.get_paginator(method)
            paginator.PAGE_ITERATOR_CLS = paging.iterator()
        pages = paginator.paginate(**call.parameters)
        pages.watch = paging.Watch(call)
        return dict(pages.build_full_result())

    def _made_client(self, service: str, region: str, measuring: int) -> Any:
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, UnknownServiceError

        from clouds.aws.errors import told

        retries: Any = (
            {"total_max_attempts": 1}
            if measuring or self._attempts == 1
            else {"mode": "adaptive", "total_max_attempts": self._attempts}
        )
        config = Config(
            retries=retries,
            connect_timeout=5,
            read_timeout=READ_TIMEOUT,
            max_pool_connections=max(32, measuring),
            user_agent_extra="modelrig",
        )
        try:
            return self.session.create_client(service, region_name=region, config=config)
        except UnknownServiceError as error:
            raise InvalidInput("call", f"AWS has no service {service}", fix="Report this as a bug.") from error
        except (BotoCoreError, ValueError) as error:
            self._session = None  # a sign-in that happens now is in files that this session has already read
            raise told(error, f"preparing {service} in {region}", region) from error

    def _made(self) -> Session:
        from botocore.exceptions import BotoCoreError

        from clouds.aws.errors import told
        from clouds.aws.taps import attach

        self._stamp = sessions.stamp()
        try:
            session = sessions.frugal(self._build())
        except BotoCoreError as error:
            raise told(error, "reading the AWS configuration", "") from error
        if self.taps:
            attach(session, self.taps)
        if self._prepare is not None:
            self._prepare(session)
        return session

    def _renewed(self, generation: int, refused: bool) -> bool:
        """Whether another credential is on this machine now than the one that was refused, or any where none was."""
        with self._lock:
            if self._generation != generation:
                return True
            if not refused and sessions.stamp() == self._stamp:
                return False  # looking again would ask the machine's metadata service again, for seconds
            try:
                fresh = self._made()
            except CloudError:
                return False
            found = sessions.fingerprint(fresh)
            if found is None or (refused and found == sessions.fingerprint(self.session)):
                return False
            self._session, self._clients, self._paginators = fresh, {}, {}
            self._generation = generation + 1
            return True


def region_of(location: str | None) -> str:
    """The region of a region or zone name; empty for None. Raises InvalidInput for anything else."""
    if not location:
        return ""
    found = _REGION.fullmatch(location)
    if not found:
        raise InvalidInput(
            "region", f"{location[:40]!r} is not an AWS region or zone", fix="Name one like us-east-2 or us-east-2a."
        )
    return found[1]


def _page(client: Any, call: Call) -> dict[str, Any]:
    from botocore import xform_name

    return _bare(getattr(client, xform_name(call.operation))(**call.parameters))


def _joined(client: Any, call: Call, method: str) -> dict[str, Any]:
    """All pages by the token, of an operation for which botocore has no paginator."""
    parameters = dict(call.parameters)
    parameters.pop("PaginationConfig", None)
    takes = client.meta.service_model.operation_model(call.operation).input_shape
    token = next((name for name in _TOKENS if takes is not None and name in takes.members), "")
    answer = _bare(getattr(client, method)(**parameters))
    watch = paging.Watch(call)
    watch.page(answer.values())
    seen: set[str] = set()
    while token and token not in parameters and (mark := answer.pop(token, None)):
        if mark in seen:
            raise watch.unexpected("the same page twice")
        seen.add(mark)
        page = _bare(getattr(client, method)(**{**parameters, token: mark}))
        watch.page(page.values())
        for key, value in page.items():
            old = answer.get(key)
            answer[key] = old + value if isinstance(old, list) and isinstance(value, list) else value
    return answer


def _bare(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "ResponseMetadata"}


def _botocore_errors() -> tuple[type[Exception], ...]:
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    return (BotoCoreError, ClientError, ResponseParserError)
