"""Sends one Call to AWS through botocore: pages joined, errors in our tree, one seam for replay, record and guard.

botocore is imported when the first call is sent. One private session is shared by all threads: making a client is under
a lock (botocore's session is not safe for threads), using one is not (its clients are).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

from clouds.aws import session as sessions
from clouds.errors import CloudError, CredentialExpired, InvalidInput, NotSignedIn, Unexpected
from clouds.models import Call, Scope
from clouds.replay import Tap

if TYPE_CHECKING:
    from botocore.session import Session

ATTEMPTS = 5
READ_TIMEOUT = 75  # a model may take 60 s to answer, and AWS's own advice is 70 (botocore model, InvokeEndpoint)
_REGION = re.compile(r"((?:[a-z]{2,4}-)+[a-z]+-\d+)([a-z])?")
_TOKENS = ("NextToken", "nextToken")


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
        self._generation = 0
        self._lock = RLock()

    @property
    def session(self) -> Session:
        """The private session. Use it to read its configuration and credential, never to change them."""
        with self._lock:
            if self._session is None:
                self._session = self._made()
            return self._session

    @property
    def region(self) -> str:
        """The region where nothing else is said."""
        from clouds.aws.errors import told

        try:
            return sessions.region(self.session)
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
        region = region_of(scope.location) or self.region
        from clouds.aws.errors import told

        generation = self._generation
        try:
            return self._sent(call, region, once)
        except _botocore_errors() as error:
            first = told(error, f"{call} in {region}", region)
            if not isinstance(first, CredentialExpired | NotSignedIn) or not self._renewed(generation):
                raise first from error
        try:
            return self._sent(call, region, once)
        except _botocore_errors() as error:
            raise told(error, f"{call} in {region}", region) from error

    def _sent(self, call: Call, region: str, once: bool) -> dict[str, Any]:
        from botocore import xform_name

        client = self._client(call.service, region, 1 if once else 0)
        method, parameters = xform_name(call.operation), dict(call.parameters)
        if call.operation not in client.meta.service_model.operation_names:
            raise InvalidInput("call", f"AWS has no {call}", fix="Report this as a bug of modelrig.")
        if client.can_paginate(method) and not any(token in parameters for token in _TOKENS):
            return dict(client.get_paginator(method).paginate(**parameters).build_full_result())
        parameters.pop("PaginationConfig", None)
        takes = client.meta.service_model.operation_model(call.operation).input_shape
        token = next((name for name in _TOKENS if takes is not None and name in takes.members), "")
        return _joined(getattr(client, method), parameters, token)

    def _client(self, service: str, region: str, measuring: int) -> Any:
        key = (service, region, measuring)
        client = self._clients.get(key)
        if client is None:
            with self._lock:
                client = self._clients.get(key)
                if client is None:
                    client = self._clients[key] = self._made_client(service, region, measuring)
        return client

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

        try:
            session = self._build()
        except BotoCoreError as error:
            raise told(error, "reading the AWS configuration", "") from error
        if self.taps:
            attach(session, self.taps)
        if self._prepare is not None:
            self._prepare(session)
        return session

    def _renewed(self, generation: int) -> bool:
        """Whether another credential is on this machine now than the one that was refused."""
        with self._lock:
            if self._generation != generation:
                return True
            try:
                fresh = self._made()
            except CloudError:
                return False
            found = sessions.fingerprint(fresh)
            if found is None or found == sessions.fingerprint(self.session):
                return False
            self._session, self._clients, self._generation = fresh, {}, generation + 1
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


def _joined(method: Callable[..., dict[str, Any]], parameters: dict[str, Any], token: str) -> dict[str, Any]:
    """All pages of an operation for which botocore ships no paginator; a page may be empty and have a next."""
    answer = _bare(method(**parameters))
    if not token or token in parameters:
        return answer
    seen: set[str] = set()
    while mark := answer.pop(token, None):
        if mark in seen:
            raise Unexpected(
                f"reading pages ({len(seen)} so far)", answered="the same page token twice", fix="Repeat this call."
            )
        seen.add(mark)
        for key, value in _bare(method(**{**parameters, token: mark})).items():
            old = answer.get(key)
            answer[key] = old + value if isinstance(old, list) and isinstance(value, list) else value
    return answer


def _bare(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "ResponseMetadata"}


def _botocore_errors() -> tuple[type[Exception], ...]:
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    return (BotoCoreError, ClientError, ResponseParserError)
