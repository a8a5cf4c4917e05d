"""Sends one Call to Azure Resource Manager: pages joined, errors in our tree, one seam for replay, record and guard.

httpx2 is imported when the first call is sent, azure-identity when the first token is needed. One client is shared by
all threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from clouds.azure import lro, pages, session, tenants
from clouds.azure.arm import ATTEMPTS, PATIENCE, Arm, Ask, Reply, read_ask, refuse_foreign
from clouds.azure.errors import told
from clouds.azure.lro import Begun, Look
from clouds.azure.pace import wait_of
from clouds.azure.paths import Sending, sending, type_of
from clouds.azure.tenants import EVERY, Directory
from clouds.azure.tokens import Credential, Tokens
from clouds.azure.versions import row
from clouds.azure.words import REMEDIES, bounded
from clouds.errors import ApiDisabled, CloudError, NotFound, NotSignedIn, Unexpected, Unreachable
from clouds.models import Call, Scope
from clouds.replay import Request, Tap

if TYPE_CHECKING:
    from httpx2 import BaseTransport

    from clouds.base import Progress

PROVIDERS = Call("providers", "list", {"query": {"$select": "namespace,registrationState"}})
OWN_READS = frozenset({"providers.list", "subscriptions.list", "tenants.list"})
"""What this api reads of its own accord: whether a provider is registered, and which tenant a subscription is in."""
FRESH = 60.0
"""Seconds for which a list of registered providers is believed: somebody may register one between two calls."""


class AzureApi:
    """The port to Azure. Cheap to make: nothing is read or imported before the first use."""

    def __init__(
        self,
        *,
        credential: Callable[[], Credential] = session.build,
        inner: BaseTransport | None = None,
        taps: Sequence[Tap] = (),
        attempts: int = ATTEMPTS,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        signed_in: Callable[[], Sequence[Mapping[str, Any]]] = session.signed_in,
        recorded: bool = False,
        tokens: Tokens | None = None,
    ) -> None:
        """`credential` makes one at the first need; `inner` takes the network's place; `attempts` counts all sends,
        and `patience` is how many seconds one request may wait to be taken.

        `signed_in` lists the subscriptions that the Azure CLI knows of, over all of its identities. With `recorded`
        answers nobody is signed in and this machine's sign-in is not looked at. `tokens` are those of another api of
        the same sign-in: each is a process of seconds.
        """
        self.taps, self.recorded, self.at_once = tuple(taps), recorded, recorded
        self._credential = credential
        self.tokens = tokens or Tokens(credential, clock)
        self._arm = Arm(self.tokens, self.taps, inner, attempts=attempts, patience=patience, clock=clock, sleep=sleep)
        self.clock, self._sleep = clock, sleep
        self._providers: dict[str, tuple[float, Mapping[str, str]]] = {}
        self._reading = Lock()
        self.directory = Directory(self, (lambda: ()) if recorded else signed_in)

    def signed_out(self) -> NotSignedIn | None:
        """Whether plainly nothing could sign in: some looks at the environment and the path, no SDK and no process."""
        if self.recorded or self._credential is not session.build or not session.nothing_to_sign_in_with():
            return None
        return session.no_sign_in()

    def send(self, call: Call, *, scope: Scope, once: bool = False) -> Any:
        """The answer with all its pages joined. Raises CloudError. `once` sends a single attempt, for creating calls.

        An empty listing is believed only where the subscription says that its provider is registered; else ApiDisabled.
        """
        if call.service == "subscriptions" and call.parameters.get("tenant") == EVERY:
            return self.directory.listing()
        scope = self._placed(call, scope)
        answer: Any = None
        for page in self.pages(call, scope=scope, once=once):
            if answer is None:
                answer = pages.own(page)
            else:
                pages.join(answer, page)
        if call.operation in ("list", "list_in"):
            answer = self._listing(call, answer, scope)
        return pages.without_link(answer)

    def pages(self, call: Call, *, scope: Scope, once: bool = False) -> Iterator[Any]:
        """Page after page, for who may stop early; a page may be empty and have a next. Raises CloudError."""
        what, request = self._meant(call, self._placed(call, scope))
        tenant = str(
            call.parameters.get("tenant") or self.directory.tenant_of(what.subscription or scope.account or "")
        )
        ask = read_ask(request, what, tenant=tenant, once=once)
        seen: set[str] = set()
        while True:
            reply = self._arm.answer(ask, self.directory)
            yield reply.body
            link, body = pages.following(reply.body, what, ask.body)
            if not link:
                return
            if link in seen or len(seen) >= pages.MOST:
                words = "the same page twice" if link in seen else "no last page"
                raise Unexpected(f"reading {request} ({len(seen)} pages so far)", answered=words, fix="Repeat it.")
            seen.add(link)
            if link.startswith(pages.TOKEN):
                named = replace(request, parameters={**call.parameters, "body": body})
                ask = replace(ask, request=named, body=body)
                continue
            refuse_foreign(link, f"the next page of {request}", what.host)
            # a link carries its own query: httpx replaces the whole of it when it is given another (run 2026-11-29)
            named = replace(request, parameters={**call.parameters, "nextLink": link})
            ask = replace(ask, request=named, url=link, query=None)

    def begin(self, call: Call, *, scope: Scope, once: bool = False) -> Begun:
        """Send a write and say where its end can be seen. Raises CloudError, also for a 200 that says Failed.

        A DELETE of what is not there is a success (`gone`). A write is repeated only where nothing can have happened.
        """
        what, request = self._meant(call, self._placed(call, scope))
        tried = f"{call} of {bounded(what.path, 200)}"
        ask = read_ask(request, what, tenant=self.directory.tenant_of(what.subscription), once=once)
        try:
            reply = self._arm.answer(ask, self.directory)
        except NotFound:
            if what.method != "DELETE":
                raise
            reply = Reply(404, None, {})
        resource = str(call.parameters.get("id") or "")
        how, link = lro.follow(reply.status, reply.headers, reply.body, own=ask.url, resource=resource)
        if link:
            refuse_foreign(link, f"the operation of {tried}")
        if how == "done" and lro.judged(lro.word_of(reply.body)) == "failed":
            raise self._failed(reply.body, tried, what.subscription)
        wait = wait_of(reply.headers, self.clock())
        return Begun(
            method=what.method,
            status=reply.status,
            body=reply.body,
            how=how,
            tried=tried,
            resource=resource,
            url=link,
            wait=lro.WAIT if wait is None else wait,
            subscription=what.subscription,
        )

    def look(self, begun: Begun) -> Look:
        """One look at an operation that was begun. Raises CloudError when the look fails, never for a failed end."""
        if begun.how == "done":
            return Look("succeeded", f"HTTP {begun.status}", begun.body, 0.0)
        tenant = self.directory.tenant_of(begun.subscription)
        if begun.how == "resource":
            what, request = self._meant(Call(type_of(begun.resource), "get", {"id": begun.resource}), Scope())
            ask = read_ask(request, what, tenant=tenant)
        else:
            request = Request("operations", "get", "", begun.subscription, parameters={"operation": begun.url})
            ask = Ask(request, "GET", begun.url, tenant=tenant)
        try:
            reply = self._arm.answer(ask, self.directory)
        except NotFound:
            if begun.method != "DELETE":
                raise
            return Look("succeeded", "gone", None, 0.0)
        wait = wait_of(reply.headers, self.clock())
        look = lro.looked(begun.how, reply.status, reply.body, begun.wait if wait is None else wait)
        if begun.method == "DELETE" and begun.how == "resource" and look.state == "succeeded":
            return replace(look, state="running")  # it is still there: whatever it says of itself, it is not deleted
        return look

    def poll(self, begun: Begun, *, progress: Progress | None = None, timeout: float = 1800.0) -> Any:
        """Wait for the end of an operation; its last answer. Raises CloudError with the deepest code of a failure."""
        end = self.clock() + timeout
        while True:
            look = self.look(begun)
            if look.state == "succeeded":
                return look.body
            if look.state == "failed":
                raise self._failed(look.body, begun.tried, begun.subscription)
            if self.clock() + look.wait > end:
                words = f"still {look.word} after {timeout:.0f} s"
                raise Unreachable(begun.tried, answered=words, fix="Look again later: it goes on without us.")
            if progress is None:
                self._sleep(look.wait)
            else:
                progress.report(f"{begun.tried}: {look.word}")
                progress.sleep(look.wait)

    def registration(self, provider: str, account: str) -> str:
        """The registration state of a provider in a subscription; "NotRegistered" where it is not listed."""
        with self._reading:
            at, known = self._providers.get(account, (-FRESH, {}))
            if self.clock() - at >= FRESH:
                answer = self.send(PROVIDERS, scope=Scope(account=account))
                rows = tenants.told(answer["value"], "namespace", "registrationState")
                known = {str(each["namespace"]).lower(): str(each["registrationState"]) for each in rows}
                self._providers[account] = (self.clock(), known)
        return known.get(provider.lower(), "NotRegistered")

    def _listing(self, call: Call, answer: Any, scope: Scope) -> Any:
        """A listing as it can be believed. Raises Unexpected for an answer that lists nothing and is not empty."""
        if answer is None:
            answer = {"value": []}
        if row(call.service).shape != "retail" and not isinstance(pages.listed(answer), list):
            words = f"an answer without a list: {bounded(str(answer), 80)}"
            raise Unexpected(str(call), answered=words, fix=REMEDIES["unexpected"])
        if pages.listed(answer) == []:
            self._believe(call, sending(call, scope))
        return answer

    def _believe(self, call: Call, what: Sending) -> None:
        if what.row.shape not in ("subscription", "location", "extension") or not what.subscription:
            return
        state = self.registration(what.row.provider, what.subscription)
        if state.lower() in ("notregistered", "unregistered"):
            raise ApiDisabled(
                str(call),
                answered=f"the subscription says that {what.row.provider} is {state}",
                code=state,
                fix=REMEDIES["api_disabled"].format(provider=what.row.provider, subscription=what.subscription),
            )

    def _meant(self, call: Call, scope: Scope) -> tuple[Sending, Request]:
        what = sending(call, scope)
        named = dict(call.parameters)
        return what, Request(what.row.type, call.operation, scope.location or "", what.subscription, parameters=named)

    def _placed(self, call: Call, scope: Scope) -> Scope:
        """The scope with the subscription that is used where none is named."""
        own = "id" not in call.parameters and "parent" not in call.parameters
        if scope.account or not own or row(call.service).shape not in ("subscription", "location", "bare"):
            return scope
        return Scope(scope.location, self.directory.default())

    def _failed(self, body: Any, tried: str, subscription: str) -> CloudError:
        error = told(200, body, tried, subscription=subscription)
        if error.code == "HTTP 200":
            words = f"it ended as {lro.word_of(body) or 'failed'}"
            return Unexpected(tried, answered=words, code="Failed", fix=REMEDIES["unexpected"])
        return error
