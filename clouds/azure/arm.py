"""One request to Azure: as many tries as are safe, throttling obeyed, the right tenant's token, errors in our tree."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

from clouds.azure.errors import told
from clouds.azure.pace import Pace, wait_of
from clouds.azure.paths import ARM, Sending
from clouds.azure.tokens import Tokens
from clouds.azure.wire import TENANT, client, trusted
from clouds.azure.words import REMEDIES, bounded
from clouds.errors import Unexpected, Unreachable
from clouds.replay import Request, Tap
from clouds.replay.rest import address, named, replied

if TYPE_CHECKING:
    from httpx2 import BaseTransport, Client

ATTEMPTS = 5
LINE_TRIES = 3
"""How often it is tried where no answer comes at all: a machine without a network says so soon."""
PATIENCE = 40.0
"""Seconds in all after which one request is not sent again: no call of a tool is longer than 45 s."""
_AGAIN = frozenset({408, 429, 500, 502, 503, 504})
_ISSUER = re.compile(
    r"must match the tenant 'https://sts\.windows\.net/([0-9a-fA-F-]{36})"
    r"|authorization(?:_uri)?=\\?\"https://login\.(?:windows\.net|microsoftonline\.com)/([0-9a-fA-F-]{36})"
)


@dataclass(frozen=True)
class Reply:
    """One answer: status, parsed body (text where it is not JSON, None where it is empty), headers."""

    status: int
    body: Any
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Ask:
    """One request: where, with what, under which name, and whether it may be sent again after no or half an answer."""

    request: Request
    method: str
    url: str
    query: Mapping[str, str] | None = None
    body: Any = None
    repeatable: bool = True
    once: bool = False
    tenant: str = ""

    @property
    def bucket(self) -> str:
        """What Azure counts this against: one tenant's reads, writes, or its queries to Resource Graph."""
        kind = "graph" if "ResourceGraph" in self.request.service else "reads" if self.method == "GET" else "writes"
        return f"{kind}/{self.request.account or self.tenant}"


class Learner(Protocol):
    """Hears which tenant a subscription turned out to be in."""

    def learn(self, subscription: str, tenant: str) -> None:
        """Keep it."""


class Arm:
    """The client that all threads share."""

    def __init__(
        self,
        tokens: Tokens,
        taps: Sequence[Tap],
        inner: BaseTransport | None,
        *,
        attempts: int,
        patience: float,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        """Nothing is imported or opened before the first request."""
        self._tokens, self._taps, self._inner = tokens, taps, inner
        self._attempts, self._patience, self.clock, self.sleep = attempts, patience, clock, sleep
        self._client: Client | None = None
        self._pace = Pace(clock)
        self._lock = Lock()

    def answer(self, ask: Ask, learner: Learner) -> Reply:
        """The answer when it is below 300. Raises CloudError."""
        tenant, attempt, refused = ask.tenant, 0, False
        end = self.clock() + self._patience
        while True:
            attempt += 1
            due = self._pace.due(ask.bucket)
            if due and self.clock() + due <= end:
                self.sleep(due)
            outcome = self._tried(ask, tenant)
            if isinstance(outcome, Reply) and outcome.status < 300:
                return _whole(outcome, ask)
            if isinstance(outcome, Reply) and outcome.status == 401 and not refused:
                refused, other = True, self._other_tenant(outcome, tenant)
                if other is not None:
                    learner.learn(ask.request.account, other)
                    tenant = other
                    continue
            wait = wait_of(outcome.headers, self.clock()) if isinstance(outcome, Reply) else None
            pause = float(2 ** (attempt - 1)) if wait is None else wait
            tries = self._attempts if isinstance(outcome, Reply) else min(self._attempts, LINE_TRIES)
            again = _may_repeat(outcome, ask) and not ask.once and attempt < tries
            if not again or self.clock() + pause > end:
                if isinstance(outcome, Unreachable):
                    raise outcome
                raise told(
                    outcome.status,
                    outcome.body,
                    str(ask.request),
                    retry_after=wait,
                    subscription=ask.request.account,
                )
            self.sleep(pause)

    def _tried(self, ask: Ask, tenant: str) -> Reply | Unreachable:
        try:
            reply = self._sent(ask, tenant)
        except Unreachable as error:
            return error
        refused = wait_of(reply.headers, self.clock()) if reply.status == 429 else None
        self._pace.hear(ask.bucket, reply.headers, refused)
        return reply

    def _other_tenant(self, reply: Reply, tenant: str) -> str | None:
        """The tenant to ask instead after a 401: the one that Azure names, or the same with a new token."""
        words = " ".join([str(reply.headers.get("www-authenticate", "")), json.dumps(reply.body)])
        found = _ISSUER.search(words)
        other = (found[1] or found[2]).lower() if found else tenant
        ended = "ExpiredAuthenticationToken" in words
        if ended:
            self._tokens.forget(tenant)
        return other if ended or other != tenant.lower() else None

    def _sent(self, ask: Ask, tenant: str) -> Reply:
        import httpx2

        tried = str(ask.request)
        try:
            reply = replied(self._taps, ask.request)
            if reply is None:
                # parsed once, and not again with its query
                url = f"{ask.url}?{urlencode(ask.query)}" if ask.query else ask.url
                extensions = {**named(ask.request, asked=True), TENANT: tenant}
                response = self._http().request(ask.method, address(url), json=ask.body, extensions=extensions)
                if ask.method == "GET" and response.status_code == 200 and not response.content:
                    words = "status 200 and nothing else"  # no list of Azure is empty so: it says `"value": []`
                    raise Unexpected(tried, answered=words, code="200", fix="Repeat this call; look at the proxy.")
                return Reply(response.status_code, _parsed(response.content), dict(response.headers))
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.PoolTimeout) as error:
            words, name = bounded(str(error), 200), type(error).__name__
            raise Unreachable(tried, answered=words, code=name, fix=REMEDIES["unreachable"], sent=False) from None
        except httpx2.InvalidURL as error:
            fix = "Nothing was sent. Repeat this call; if it stays so, report it as a bug of modelrig."
            raise Unexpected(tried, answered=bounded(str(error), 200), code="InvalidURL", fix=fix, sent=False) from None
        except httpx2.HTTPError as error:
            words, name = bounded(str(error), 200), type(error).__name__
            raise Unreachable(tried, answered=words, code=name, fix=REMEDIES["answer_lost"]) from None
        return Reply(reply.status, _parsed(reply.content), reply.headers)

    def _http(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = client(self._tokens, self._taps, self._inner)
            return self._client


def read_ask(request: Request, what: Sending, *, tenant: str, once: bool = False) -> Ask:
    """The request of a call as its path and the table say."""
    return Ask(
        request=request,
        method=what.method,
        url=f"https://{what.host}{what.path}",
        query=what.query,
        body=what.body,
        repeatable=what.repeatable,
        once=once,
        tenant=tenant,
    )


def refuse_foreign(link: str, what: str, host: str = ARM) -> None:
    """Raises Unexpected for an address that an answer names and that is on another host: no token goes there."""
    if not trusted(link, host):
        raise Unexpected(
            f"following {what}",
            answered=f"the address that was named is not on {host}: {bounded(link.partition('?')[0], 80)}",
            fix="Nothing was sent there. Repeat this call; if it stays so, report it as a bug of modelrig.",
        )


def _whole(reply: Reply, ask: Ask) -> Reply:
    """Raises Unexpected for an answer that looked at the first 10,000 subscriptions only (Resource Graph)."""
    if str(reply.headers.get("x-ms-tenant-subscription-limit-hit", "")).lower() == "true":
        raise Unexpected(
            str(ask.request),
            answered="it looked at the first 10,000 subscriptions of the tenant only",
            fix="Name the subscriptions to look in, at most 300 at a time.",
        )
    return reply


def _may_repeat(outcome: Reply | Unreachable, ask: Ask) -> bool:
    """A write is sent again only where nothing can have happened: it was throttled, or no connection was made."""
    if isinstance(outcome, Unreachable):
        return ask.repeatable or not outcome.sent
    return outcome.status == 429 or (ask.repeatable and outcome.status in _AGAIN)


def _parsed(content: bytes) -> Any:
    if not content:
        return None
    try:
        return json.loads(content)
    except ValueError:
        return content.decode(errors="replace")
