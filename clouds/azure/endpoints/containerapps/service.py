"""Container Apps as one way to serve a model: the port that tools speak to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import permissions
from clouds.azure.endpoints.containerapps import delete, invoke, logs, update, view
from clouds.azure.endpoints.containerapps.create import Creator
from clouds.azure.endpoints.containerapps.plan import Planner
from clouds.azure.endpoints.containerapps.settings import SETTINGS
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


class ContainerApps:
    """Apps on serverless GPUs. Nothing is read or imported before the first use."""

    reads: tuple[Call, ...] = view.READS
    writes: tuple[Call, ...] = permissions.CONTAINER_APPS

    def __init__(
        self,
        api: AzureApi,
        prices: AzurePrices,
        home: Path,
        web: Web,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`now` and `pause` are the clock; `pause` waits where stopping must not interrupt an undo."""
        self._api, self._prices, self._home, self._web = api, prices, home, web
        self._now, self._pause = now, pause

    @property
    def settings(self) -> Mapping[str, str]:
        """What `plan` takes."""
        return SETTINGS

    def plan(self, spec: DeploymentSpec) -> DeploymentPlan:
        """The regions in order, every call, the worst price. Raises before anything is created."""
        return Planner(self._api, self._web, self._prices).plan(spec, self._now())

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """Carry it out until a token came, or every region said no. Raises NoCapacity with each region's own words."""
        creator = Creator(self._api, self._web, self._prices, self._home, self._now, self._pause)
        return creator.create(plan, ledger, progress)

    def get(self, ref: EndpointRef) -> Endpoint:
        """Raises NotFound. Asks only ARM, so that an app at no replica stays there."""
        return view.of(self._api, self._web, self._prices, self._home, view.find(self._api, ref))

    def list(self, *, scope: Scope) -> Read[Endpoint]:
        """Everything of ours, in every subscription that the sign-in sees when the scope names none."""
        return view.listing(self._api, self._web, self._prices, self._home, scope)

    def logs(self, ref: EndpointRef, *, since: timedelta, limit: int) -> LogPage:
        """The newest lines of its replicas; none is kept after a replica went. Raises NotFound."""
        seen = view.seen(self._api, view.find(self._api, ref))
        return logs.page(self._api, self._web, seen, now=self._now(), since=since, limit=limit)

    def connect(self, ref: EndpointRef) -> Wire:
        """Its address and its own key. Raises NotFound. A request wakes an app that is at no replica."""
        return invoke.wire(self._api, self._home, dict(view.find(self._api, ref)))

    def update(self, ref: EndpointRef, change: Change, ledger: Ledger, progress: Progress) -> Endpoint:
        """Another end; another model or settings where quota or an app at no replica allows it."""
        update.Changer(self._api, self._web, ledger, progress, self._now, self.connect).change(ref, change)
        return self.get(ref)

    def delete(self, ref: EndpointRef, ledger: Ledger, progress: Progress) -> Deletion:
        """App, environment, scheduled end, group, in order; read back until Azure says 404."""
        return delete.carry_out(self._api, ref, ledger, progress, self._home, self._now)
