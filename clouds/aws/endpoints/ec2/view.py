"""Reads one machine as it is now. Never generates a token."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from clouds import enginelog
from clouds.aws import instances
from clouds.aws.api import AwsApi
from clouds.aws.endpoints import tags
from clouds.aws.endpoints.ec2 import calls, machine, places
from clouds.aws.endpoints.ec2.plan import hardware
from clouds.aws.prices import AwsPrices
from clouds.models import Endpoint, EndpointRef, EngineFacts, Hardware, Phase, Price

_MARK = re.compile(r"modelrig phase: (.{1,80}?) at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")


def of(api: AwsApi, prices: AwsPrices, ref: EndpointRef, *, ended: bool = True) -> Endpoint:
    """The machine with everything that EC2 says of it, its console too. Raises NotFound."""
    row = machine.find(api, ref, ended=ended)
    lines = machine.console(api, ref.location, str(row["InstanceId"])) if row["State"]["Name"] == "running" else ()
    return build(ref, row, lines, prices)


def build(ref: EndpointRef, row: Mapping[str, Any], lines: tuple[str, ...] | None, prices: AwsPrices) -> Endpoint:
    """Pure: the record from what was read."""
    mine = tags.read(row.get("Tags"))
    now = machine.standing(row, lines)
    kind, zone = str(row["InstanceType"]), str(row.get("Placement", {}).get("AvailabilityZone", ""))
    market = "spot" if row.get("InstanceLifecycle") == "spot" else "on-demand"
    model, engine = mine.get(calls.MODEL, ""), mine.get(calls.ENGINE, "")
    facts = enginelog.read(lines or ())
    launched = row["LaunchTime"]
    return Endpoint(
        ref=str(ref),
        state=now.state,
        cloud_status=f"{row['State']['Name']} ({row['InstanceId']}, {market}, {zone})",
        billing=now.billing,
        model=model,
        reason=now.reason,
        created=tags.stamp(launched),
        expires=mine.get(tags.EXPIRES, "") if tags.moment(mine.get(tags.EXPIRES, "")) else "",
        deployment=mine.get(tags.DEPLOYMENT, ""),
        account=str(row.get("OwnerId", "")),
        engine=facts.model_copy(update={"model": facts.model or model})
        if facts
        else EngineFacts(engine=engine, model=model)
        if engine
        else None,
        hardware=_hardware(kind),
        price=_price(prices, kind, market, ref.location, zone),
        phases=phases(launched, lines or ()),
    )


def _hardware(kind: str) -> Hardware:
    row = instances.find(kind)
    return hardware(row) if row else Hardware(instance_type=kind)


def _price(prices: AwsPrices, kind: str, market: str, region: str, zone: str) -> Price | None:
    """On demand by region; spot by zone, else the region's dearest."""
    key = places.key(kind, market)
    if market == "spot" and zone and (found := prices.current(key, zone)):
        return found
    return prices.current(key, region)


def phases(launched: datetime, lines: tuple[str, ...]) -> tuple[Phase, ...]:
    """The stretches of a start from the marks on the console, each with the machine's own clock."""
    found, before, name = list[Phase](), launched, "starting the machine"
    for line in lines:
        for mark in _MARK.finditer(line):
            at = datetime.fromisoformat(mark[2]).replace(tzinfo=UTC)
            if at >= before:
                found.append(Phase(name=name, seconds=round((at - before).total_seconds(), 1)))
            before, name = max(at, before), _NEXT.get(mark[1], mark[1])
    return tuple(found)


_NEXT = {
    "timer set": "preparing",
    "pulling image": "pulling the image",
    "image pulled": "starting the engine",
    "engine started": "loading the model",
}
"""What goes on after a mark."""
