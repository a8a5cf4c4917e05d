"""EC2 as one way to serve a model: the port that tools speak to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

from clouds.aws import instances, regions
from clouds.aws.api import AwsApi
from clouds.aws.endpoints import elsewhere, permissions, tags
from clouds.aws.endpoints.ec2 import belongings, calls, create, machine, outside, removal, ssh, view
from clouds.aws.endpoints.ec2.plan import Planner
from clouds.aws.endpoints.ec2.serving import PORT
from clouds.aws.endpoints.ec2.settings import SETTINGS
from clouds.aws.endpoints.ec2.start import Starter
from clouds.aws.endpoints.ec2.update import Changer
from clouds.aws.endpoints.making import Maker
from clouds.aws.prices import AwsPrices
from clouds.base import Ledger, Progress, QuotaReader
from clouds.errors import CloudError, Conflict, NoCapacity, QuotaTooSmall
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


class Ec2:
    """One machine a deployment. Nothing is read or imported before the first use."""

    reads: tuple[Call, ...] = machine.READS
    writes: tuple[Call, ...] = permissions.EC2

    def __init__(
        self,
        api: AwsApi,
        quotas: QuotaReader,
        prices: AwsPrices,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        pause: Callable[[float], None] = time.sleep,
        connect: ssh.Connect = ssh.connect,
        digest: Callable[[str], str] = outside.digest_of,
        address: Callable[[], str] = outside.my_address,
        ssh_port: int = 22,
    ) -> None:
        """`now` and `pause` are the clock; `connect`, `digest` and `address` lead to the network outside AWS."""
        self._api, self._quotas, self._prices = api, quotas, prices
        self._now, self._pause, self._connect, self._ssh_port = now, pause, connect, ssh_port
        self._planner = Planner(api, quotas, prices, digest, address)

    @property
    def settings(self) -> Mapping[str, str]:
        """What `plan` takes."""
        return SETTINGS

    def plan(self, spec: DeploymentSpec) -> DeploymentPlan:
        """The places in order, every call, the worst price. Raises before anything is created."""
        return self._planner.plan(spec, self._now())

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """Carry it out until a token came, or every place said no. Raises NoCapacity with each place's own words."""
        maker = Maker(self._api, ledger, progress, plan.deployment)
        run = create.begin(plan, maker, self._now, self._pause)
        try:
            region = create.carry_out(run)
        except (NoCapacity, QuotaTooSmall) as error:
            rows = [row for one in run.attempts if (row := instances.find(str(one.get("type", "")))) is not None]
            types, least = [*dict.fromkeys(row.type for row in rows)], min((row.vcpus for row in rows), default=1)
            raise elsewhere.told(error, self._quotas, types, run.regions, least=least) from None
        ref = EndpointRef("aws", "ec2", region, plan.spec.name)
        return Starter(self._api, self._prices, run, self.connect).until_ready(ref)

    def get(self, ref: EndpointRef) -> Endpoint:
        """Raises NotFound. Generates no token."""
        return view.of(self._api, self._prices, ref)

    def list(self, *, scope: Scope) -> Read[Endpoint]:
        """Every machine of ours that has not ended, in every enabled region when the scope names none."""
        places, unread = regions.asked(self._api, [scope])
        with ThreadPoolExecutor(max(1, min(16, len(places)))) as pool:
            found = [*pool.map(self._region, places)]
        return Read(
            found=tuple(endpoint for one in found for endpoint in one.found),
            unread=(*unread, *(word for one in found for word in one.unread)),
        )

    def _region(self, region: str) -> Read[Endpoint]:
        call = Call("ec2", "DescribeInstances", {"Filters": [{"Name": "tag-key", "Values": [tags.DEPLOYMENT]}]})
        try:
            rows = machine.rows_of(self._api.send(call, scope=Scope(region)))
        except CloudError as error:
            return Read(unread=(regions.unread(call, region, error),))
        alive = [row for row in rows if row["State"]["Name"] != "terminated"]
        return Read(found=tuple(view.build(_ref(region, row), row, None, self._prices) for row in alive))

    def logs(self, ref: EndpointRef, *, since: timedelta, limit: int) -> LogPage:
        """The newest lines of the machine's console: its phases and its engine. EC2 keeps the last 64 KB."""
        row = machine.find(self._api, ref, ended=True)
        call = Call("ec2", "GetConsoleOutput", {"InstanceId": row["InstanceId"], "Latest": True})
        lines = machine.console(self._api, ref.location, str(row["InstanceId"]))
        if lines is None:
            self._api.send(call, scope=Scope(ref.location))  # for the error itself
            lines = ()
        note = "" if lines else "the console is empty: the machine has not begun to start"
        if since < self._now() - row["LaunchTime"] and lines:
            note = "console lines carry no time of their own: all that EC2 keeps are shown, whatever their age"
        return LogPage(lines[-limit:], f"console of {row['InstanceId']}", len(lines), note)

    def connect(self, ref: EndpointRef) -> Wire:
        """An SSH tunnel to the model's port; the wire's `close` ends it. Raises NotFound, Conflict and Unreachable."""
        row = machine.find(self._api, ref)
        shell = self._shell(ref, row)
        try:
            port = shell.forward(PORT)
        except CloudError:
            shell.close()
            raise
        model = tags.read(row.get("Tags")).get(calls.MODEL, "")
        return Wire(url=f"http://127.0.0.1:{port}", model=model, close=shell.close)

    def _shell(self, ref: EndpointRef, row: Mapping[str, Any]) -> ssh.Shell:
        if row["State"]["Name"] != "running" or not row.get("PublicIpAddress"):
            raise Conflict(
                f"connecting to {ref}",
                answered=f"the machine is {row['State']['Name']}",
                fix="Wait until it runs (get_endpoint).",
            )
        instance = str(row["InstanceId"])
        known = tags.read(row.get("Tags")).get(calls.HOST_KEY, "")
        known = known or machine.host_key(machine.console(self._api, ref.location, instance))
        place = ssh.Machine(
            instance=instance,
            region=ref.location,
            zone=str(row["Placement"]["AvailabilityZone"]),
            host=str(row["PublicIpAddress"]),
            host_key=known,
            port=self._ssh_port,
        )
        return self._connect(self._api, place)

    def update(self, ref: EndpointRef, change: Change, ledger: Ledger, progress: Progress) -> Endpoint:
        """Another end, or another model or flags on the machine that is held."""
        changer = Changer(self._api, ledger, progress)
        changer.check(change)
        row = machine.find(self._api, ref)
        shell = self._shell(ref, row)
        try:
            if change.ttl_hours is not None:
                changer.end(ref, row, shell, change.ttl_hours, self._now())
            if change.model is not None or change.settings:
                changer.engine(ref, row, shell, change)
        finally:
            shell.close()
        if change.model is not None or change.settings:
            said = Starter.one_token(self.connect, ref)
            if not said:
                changer.ready(ref, row, self._now())
        return view.of(self._api, self._prices, ref)

    def delete(self, ref: EndpointRef, ledger: Ledger, progress: Progress) -> Deletion:
        """Machine, group, profile and role; read back."""
        found, deployment = belongings.find(self._api, ref)
        maker = Maker(self._api, ledger, progress, deployment)
        parts = removal.remove(maker, found, ref.location)
        maker.drop(create.AWAITED)
        if not parts:
            parts = (DeletedPart(part=f"machine {calls.label(ref.name)}", outcome="was not there"),)
        left = [part for part in parts if part.outcome == "still there"]
        return Deletion(ref=ref, parts=parts, gone=not left and not belongings.find(self._api, ref)[0])


def _ref(region: str, row: Mapping[str, Any]) -> EndpointRef:
    name = tags.read(row.get("Tags")).get(calls.NAME, "").removeprefix("modelrig-")
    return EndpointRef("aws", "ec2", region, name or str(row["InstanceId"]))
