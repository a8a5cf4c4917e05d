"""Cloud Run as one way to serve a model: the port that tools speak to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from clouds.base import IdentityReader, Ledger, PriceBook, Progress, QuotaReader
from clouds.errors import Cancelled, Conflict, InvalidInput
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import ending, images, permissions
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.machines import removal
from clouds.gcp.endpoints.making import Maker
from clouds.gcp.endpoints.run import calls, create, idtoken, listing, settings, update, view
from clouds.gcp.endpoints.run.plan import MOST_HOURS, Planner
from clouds.models import (
    Call,
    Change,
    DeletedPart,
    Deletion,
    DeploymentPlan,
    DeploymentSpec,
    Endpoint,
    EndpointRef,
    LogPage,
    Read,
    Scope,
    Wire,
)

Tokens = Callable[[GcpApi, str, str], idtoken.Made]


class CloudRun:
    """One service a deployment, zero to one instances. Nothing is read or imported before the first use."""

    reads: tuple[Call, ...] = view.READS
    writes: tuple[Call, ...] = permissions.RUN

    def __init__(
        self,
        api: GcpApi,
        identity: IdentityReader,
        quotas: QuotaReader,
        prices: PriceBook,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        pause: Callable[[float], None] = time.sleep,
        tokens: Tokens = idtoken.make,
        digest: Callable[[str], str] = images.digest_of,
    ) -> None:
        """`now` and `pause` are the clock; `tokens` and `digest` lead to what is outside Google's API."""
        self._api, self._prices = api, prices
        self._now, self._pause, self._tokens = now, pause, tokens
        self._signer: idtoken.Signer | None = None
        self._planner = Planner(api, identity, quotas, prices, digest)

    @property
    def settings(self) -> Mapping[str, str]:
        """What `plan` takes."""
        return settings.SETTINGS

    def plan(self, spec: DeploymentSpec) -> DeploymentPlan:
        """The regions in order, every call, what an hour of its instance costs. Raises before anything is created."""
        return self._planner.plan(spec, self._now())

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """The dry run first, then the service; carried out until a token came or every region said no."""
        maker = Maker(self._api, ledger, progress, plan.deployment)
        run = create.begin(self._api, plan, maker, self._now, self._pause)
        region = create.carry_out(run)
        try:
            found = create.until_token(run, region, self._prices, self.connect)
        except Cancelled:
            create.stopped(run)
            raise
        signed = self._signer.how if self._signer is not None else ""
        return found.model_copy(update={"reason": "; ".join(word for word in (found.reason, signed) if word)})

    def get(self, ref: EndpointRef) -> Endpoint:
        """Raises NotFound. Asks Google's API alone: the service is not woken."""
        row = view.find(self._api, ref)
        return view.build(ref, row, view.engine_lines(self._api, ref, row), self._prices)

    def list(self, *, scope: Scope) -> Read[Endpoint]:
        """Every service of ours, in every region when the scope names none."""
        read = listing.services(self._api, scope)
        found = (view.build(_ref(row), row, None, self._prices) for row in read.found)
        return Read(found=tuple(found), unread=read.unread)

    def logs(self, ref: EndpointRef, *, since: timedelta, limit: int) -> LogPage:
        """The newest lines of its instances, from Cloud Logging. The service is not woken."""
        view.find(self._api, ref)
        lines = view.log_lines(self._api, ref, self._now() - since, min(limit, view.MOST_READ))
        note = "" if lines else "Cloud Logging has no line of that time; an instance that is not there writes none"
        if len(lines) == view.MOST_READ:
            note = f"only the newest {view.MOST_READ:,} lines were read"
        return LogPage(tuple(f"{tags.iso(at)} {text}" for at, text in lines), f"Cloud Logging of {ref}", None, note)

    def connect(self, ref: EndpointRef) -> Wire:
        """Requests signed with an ID token for its address. Raises NotFound, and Conflict before it has an address."""
        row = view.find(self._api, ref)
        uri = str(row.get("uri", ""))
        if not uri:
            raise Conflict(f"connecting to {ref}", answered="it has no address yet", fix="Wait (get_endpoint).")
        told = view.serving(row)
        account = str(told.get("settings", {}).get("invoke_as", ""))
        self._signer = idtoken.Signer(lambda: self._tokens(self._api, uri, account))
        return Wire(url=uri, model=str(told.get("model", "")), sign=self._signer)

    def update(self, ref: EndpointRef, change: Change, ledger: Ledger, progress: Progress) -> Endpoint:
        """Another end, or another revision with another model or flags; the address stays."""
        fixed = settings.fixed(change.settings or {})
        if fixed:
            raise InvalidInput("settings", f"{', '.join(fixed)} cannot change in place", fix="Delete and deploy again.")
        row = view.find(self._api, ref)
        if change.ttl_hours is not None:
            self._end(ref, row, change.ttl_hours, ledger)
        if change.model is not None or change.settings:
            return update.revise(self._api, self._prices, ref, row, change, progress, self._now, self.connect)
        return self.get(ref)

    def _end(self, ref: EndpointRef, row: Mapping[str, Any], hours: float, ledger: Ledger) -> None:
        """Move the job first, then say so in the labels: they are never ahead of what ends the service."""
        if not 1 / 12 <= hours <= MOST_HOURS:
            raise InvalidInput(
                "ttl_hours", f"{hours:g} is not from 0.0834 to {MOST_HOURS:g}", fix="Give hours from now."
            )
        end = self._now() + timedelta(hours=hours)
        name = calls.job_name(f"modelrig-{ref.name}")
        self._api.send(ending.moved(self._api.project, ref.location, name, end), scope=Scope(ref.location))
        create.patch(self._api, ref, {"labels": {**row.get("labels", {}), tags.EXPIRES: tags.stamp(end)}})
        deployment = row.get("labels", {}).get(tags.DEPLOYMENT, "")
        if deployment:
            ledger.remember(deployment, {"expires": tags.iso(end)})

    def delete(self, ref: EndpointRef, ledger: Ledger, progress: Progress) -> Deletion:
        """The service, then its job; read back until gone."""
        looking = Maker(self._api, ledger, progress, "")
        found, deployment = removal.belongings(looking, self._parts(ref))
        maker = Maker(self._api, ledger, progress, deployment)
        parts: tuple[DeletedPart, ...] = removal.remove(maker, found)
        maker.drop(create.AWAITED)
        if not parts:
            parts = (DeletedPart(part=f"service of {ref}", outcome="was not there"),)
        left = [part for part in parts if part.outcome == "still there"]
        return Deletion(ref=ref, parts=parts, gone=not left and not removal.belongings(looking, self._parts(ref))[0])

    def _parts(self, ref: EndpointRef) -> tuple[Call, ...]:
        where = f"projects/{self._api.project}/locations/{ref.location}"
        name = f"modelrig-{ref.name}"
        job = {"parent": where, "body": {"name": f"{where}/jobs/{calls.job_name(name)}"}}
        return (
            Call("run", calls.CREATE, {"parent": where, "serviceId": name}),
            Call("cloudscheduler", "projects.locations.jobs.create", job),
        )


def _ref(row: Mapping[str, Any]) -> EndpointRef:
    words = str(row.get("name", "")).split("/")
    return EndpointRef("gcp", "run", words[3], words[-1].removeprefix("modelrig-"))
