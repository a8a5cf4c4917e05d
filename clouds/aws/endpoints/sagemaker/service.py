"""SageMaker as one way to serve a model: the port that tools speak to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from clouds.aws.api import AwsApi
from clouds.aws.endpoints import elsewhere, permissions
from clouds.aws.endpoints.making import Maker
from clouds.aws.endpoints.sagemaker import create, delete, invoke, listing, removal, streams, update, view
from clouds.aws.endpoints.sagemaker.plan import Planner
from clouds.aws.endpoints.sagemaker.settings import SETTINGS
from clouds.aws.prices import AwsPrices
from clouds.base import Ledger, Progress, QuotaReader
from clouds.errors import CloudError, NoCapacity, NotFound, QuotaTooSmall
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
    State,
    Wire,
)


class SageMaker:
    """Real-time endpoints. Nothing is read or imported before the first use."""

    reads: tuple[Call, ...] = view.READS
    writes: tuple[Call, ...] = permissions.SAGEMAKER

    def __init__(
        self,
        api: AwsApi,
        quotas: QuotaReader,
        prices: AwsPrices,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`now` and `pause` are the clock; `pause` waits where stopping must not interrupt an undo."""
        self._api, self._quotas, self._prices = api, quotas, prices
        self._now, self._pause = now, pause

    @property
    def settings(self) -> Mapping[str, str]:
        """What `plan` takes."""
        return SETTINGS

    def plan(self, spec: DeploymentSpec) -> DeploymentPlan:
        """The regions in order with their pools, every call, the worst price. Raises before anything is created."""
        return Planner(self._api, self._quotas, self._prices).plan(spec, self._now())

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """Carry it out until a token came, or every region said no. Raises NoCapacity with each region's own words."""
        maker = Maker(self._api, ledger, progress, plan.deployment)
        run = create.begin(plan, maker, self._now, self._pause)
        try:
            region = create.carry_out(run)
        except (NoCapacity, QuotaTooSmall) as error:
            types = [kind for one in run.attempts for kind in one["types"]]
            raise elsewhere.told(error, self._quotas, [*dict.fromkeys(types)], run.regions) from None
        ref = EndpointRef("aws", "sagemaker", region, plan.spec.name)
        progress.report(f"{region}: InService; asking for one token")
        said = invoke.first_token(self._api, region, ref.name, progress)
        if said:
            return self._seen(ref, plan, "loading", f"InService, but asked for a token it said: {said}")
        unmarked = create.mark_ready(run, region)
        endpoint = self._seen(ref, plan, "ready", unmarked)
        engine, hardware = endpoint.engine, endpoint.hardware
        facts = {"placed": hardware.instance_type if hardware else "", "image_digest": engine.image if engine else ""}
        ledger.remember(plan.deployment, facts)
        return endpoint

    def _seen(self, ref: EndpointRef, plan: DeploymentPlan, state: State, reason: str) -> Endpoint:
        """What was just made, as far as it can be read: it exists and bills, whatever a last reading says."""
        try:
            return view.of(self._api, self._prices, ref).model_copy(update={"state": state, "reason": reason})
        except CloudError as error:
            return Endpoint(
                ref=str(ref),
                state=state,
                cloud_status="InService",
                billing=True,
                model=plan.spec.model,
                deployment=plan.deployment,
                reason="; ".join(part for part in (reason, f"it could not be read again: {error}"[:300]) if part),
            )

    def get(self, ref: EndpointRef) -> Endpoint:
        """Raises NotFound. Generates no token."""
        return view.of(self._api, self._prices, ref)

    def list(self, *, scope: Scope) -> Read[Endpoint]:
        """Everything of ours, in every enabled region when the scope names none."""
        return listing.read(self._api, self._prices, scope)

    def logs(self, ref: EndpointRef, *, since: timedelta, limit: int) -> LogPage:
        """The newest lines of this endpoint; after its end those of its log group, which stays. Raises NotFound."""
        try:
            began: datetime | None = view.describe(self._api, ref.location, ref.name)["CreationTime"]
        except NotFound:
            began = None
        found = streams.of(self._api, ref.location, ref.name, began)
        source = f"CloudWatch {streams.group(ref.name)}"
        if found is None:
            # read again for the error itself
            self._api.send(
                Call("logs", "DescribeLogStreams", {"logGroupName": streams.group(ref.name)}), scope=Scope(ref.location)
            )
            found = ()
        if found:
            page = streams.newest(self._api, ref.location, ref.name, found, now=self._now(), since=since, limit=limit)
            note = "the endpoint is gone; its log stays. " if began is None else ""
            return LogPage(page.lines, page.source, page.total, note + page.note)
        if began is None:
            raise NotFound(
                f"reading the log of {ref}", answered="neither the endpoint nor a log group of it is there",
                fix="list_endpoints shows what there is.",
            )  # fmt: skip
        return LogPage(
            (), source, 0, "no log yet: its container has not started, so it waits for an instance; nothing bills"
        )

    def connect(self, ref: EndpointRef) -> Wire:
        """The runtime's address with a signature per request. Raises NotFound."""
        answer = view.describe(self._api, ref.location, ref.name)
        _, image = view.parts_of(self._api, ref.location, str(answer.get("EndpointConfigName", "")))
        return invoke.wire(self._api, ref.location, ref.name, image)

    def update(self, ref: EndpointRef, change: Change, ledger: Ledger, progress: Progress) -> Endpoint:
        """A new end moves its schedules; another model needs a second instance of quota, or is refused."""
        changer = update.Changer(self._api, self._quotas, ledger, progress, self._now, self._pause)
        changer.change(ref, change)
        return view.of(self._api, self._prices, ref)

    def delete(self, ref: EndpointRef, ledger: Ledger, progress: Progress) -> Deletion:
        """Endpoint, configuration, model, schedules; read back. One still Creating goes as soon as it has settled."""
        found = delete.find(self._api, ref)
        maker = Maker(self._api, ledger, progress, found.deployment)
        removed = removal.remove(maker, found.calls, ref.location, now=self._now(), settle=found.settle)
        more = self._elsewhere(ref, found.deployment, ledger, maker)
        maker.drop(invoke.AWAITED)
        parts = (*removed.parts, *more)
        if not parts:
            parts = (DeletedPart(part=f"endpoint {ref.name}", outcome="was not there"),)
        kept = tuple(
            DeletedPart(part=f"role {name}", outcome="kept", detail="shared by all deployments; costs nothing")
            for name in ("modelrig-sagemaker", "modelrig-scheduler")
        )
        gone = removed.gone and all(part.outcome != "still there" for part in parts) and self._read_back(ref)
        return Deletion(ref=ref, parts=(*parts, *kept), gone=gone, note=removed.later)

    def _elsewhere(self, ref: EndpointRef, deployment: str, ledger: Ledger, maker: Maker) -> tuple[DeletedPart, ...]:
        """What the same deployment left in regions that it tried before."""
        facts = ledger.facts(deployment) if deployment else {}
        left = [one["region"] for one in facts.get("attempts", []) if not one.get("undone")]
        parts: list[DeletedPart] = []
        for region in left:
            other = EndpointRef(ref.cloud, ref.service, region, ref.name)
            if region == ref.location:
                continue
            found = delete.find(self._api, other)
            removed = removal.remove(maker, found.calls, region, now=self._now(), settle=found.settle)
            parts += [part.model_copy(update={"part": f"{part.part} in {region}"}) for part in removed.parts]
        return tuple(parts)

    def _read_back(self, ref: EndpointRef) -> bool:
        """Nothing of it is found any more."""
        try:
            return not [call for call in delete.find(self._api, ref).calls if call.service != "iam"]
        except CloudError:
            return False
