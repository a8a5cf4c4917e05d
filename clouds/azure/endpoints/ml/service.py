"""Azure ML managed online endpoints as one way to serve a model: the port that tools speak to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import permissions
from clouds.azure.endpoints.ml import delete, invoke, logs, update, view
from clouds.azure.endpoints.ml.create import Creator
from clouds.azure.endpoints.ml.plan import Planner
from clouds.azure.endpoints.ml.settings import SETTINGS
from clouds.azure.endpoints.web import Web
from clouds.azure.prices import AzurePrices
from clouds.base import Ledger, Progress
from clouds.models import (
    Call,
    Change,
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


class Ml:
    """Managed online endpoints in a workspace. Nothing is read or imported before the first use."""

    reads: tuple[Call, ...] = view.READS
    writes: tuple[Call, ...] = permissions.ML

    def __init__(
        self,
        api: AzureApi,
        prices: AzurePrices,
        web: Web,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`now` and `pause` are the clock; `pause` waits where stopping must not interrupt an undo."""
        self._api, self._prices, self._web = api, prices, web
        self._now, self._pause = now, pause

    @property
    def settings(self) -> Mapping[str, str]:
        """What `plan` takes."""
        return SETTINGS

    def plan(self, spec: DeploymentSpec) -> DeploymentPlan:
        """The sizes in order, every call, the worst price. Raises before anything is created."""
        return Planner(self._api, self._web, self._prices).plan(spec, self._now())

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """Carry it out until a token came, or every size said no. Raises NoCapacity with each size's own words."""
        return Creator(self._api, self._web, self._prices, self._now, self._pause).create(plan, ledger, progress)

    def get(self, ref: EndpointRef) -> Endpoint:
        """Raises NotFound. Generates no token."""
        return view.of(self._api, self._prices, view.find(self._api, ref))

    def list(self, *, scope: Scope) -> Read[Endpoint]:
        """Everything of ours, in every workspace that the sign-in sees when the scope names none."""
        return view.listing(self._api, self._prices, scope)

    def logs(self, ref: EndpointRef, *, since: timedelta, limit: int) -> LogPage:
        """The newest lines of its container. Raises NotFound."""
        found = view.deployments(self._api, view.find(self._api, ref))
        if not found:
            return LogPage((), f"endpoint {ref.name}", 0, "it has no deployment: nothing runs and nothing bills")
        return logs.page(self._api, str(found[0]["id"]), now=self._now(), since=since, limit=limit)

    def connect(self, ref: EndpointRef) -> Wire:
        """Its scoring address and its own key. Raises NotFound."""
        endpoint = view.find(self._api, ref)
        return invoke.wire(self._api, endpoint, view.deployments(self._api, endpoint))

    def update(self, ref: EndpointRef, change: Change, ledger: Ledger, progress: Progress) -> Endpoint:
        """Another end; another model or settings where quota allows one more machine."""
        update.Changer(self._api, self._web, ledger, progress, self._now).change(ref, change)
        return self.get(ref)

    def delete(self, ref: EndpointRef, ledger: Ledger, progress: Progress) -> Deletion:
        """Traffic, deployment, scheduled end, endpoint, in order; read back until Azure says 404."""
        return delete.carry_out(self._api, ref, ledger, progress, self._now)
