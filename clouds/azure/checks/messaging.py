"""Namespaces and gateways for messages and APIs that nothing passes through."""

from __future__ import annotations

from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.reads import aged, aged_kind, check, kind, listing, over
from clouds.azure.checks.steps import delete, sends
from clouds.azure.checks.usage import usage
from clouds.models.waste import Meter, Row, Seen, Waste

_EVENTS, _BUS, _APIM = (
    "Microsoft.EventHub/namespaces",
    "Microsoft.ServiceBus/namespaces",
    "Microsoft.ApiManagement/service",
)
HUBS, BUSES, SERVICES = listing(_EVENTS), listing(_BUS), listing(_APIM)
_AGED_SERVICES = aged(SERVICES)


def _sku(row: Row) -> tuple[str, int]:
    sku = row.get("sku") or {}
    return str(sku.get("name", "")).lower(), int(sku.get("capacity") or 1)


EVENTS = usage(
    "IncomingMessages,OutgoingMessages",
    HUBS,
    days=14,
    absent="zero",
    unit="messages",
    source="Azure Monitor, Event Hubs: both are emitted for messages that come and go",
)
MESSAGES = usage(
    "IncomingMessages,OutgoingMessages",
    BUSES,
    days=14,
    absent="zero",
    unit="messages",
    source="Azure Monitor, Service Bus: both are emitted for messages that come and go",
    when=lambda row: _sku(row)[0] == "premium",
)


def _hub(row: Row, seen: Seen) -> Waste | None:
    tier, units = _sku(row)
    about = words.props(row)
    if about.get("alternateName") or about.get("clusterArmId") or EVENTS.of(seen, row):
        return None
    word = "processing unit" if tier == "premium" else "throughput unit"
    return Waste(
        reason=f"no message in 14 days; {units} {word}s of {tier}",
        meters=(Meter(f"event-hubs/{tier}-unit", "hour", units),),
        evidence={"tier": tier, "units": units},
    )


IDLE_HUB = check(
    id="eventhubs-idle",
    title="Event Hubs namespace that carries nothing",
    kind=kind("Event Hubs namespace", HUBS, lambda row: words.props(row).get("createdAt")),
    reads=(*EVENTS.reads,),
    judge=_hub,
    why="A namespace bills its throughput or processing units by the hour.",
    spares=("a message in 14 days", "paired for recovery", "in a cluster of its own", "younger than 14 days"),
    unchecked=("senders and readers that hold its keys and are off now",),
    meter="unit hours of its tier",
    remove=lambda doomed: (
        delete(_EVENTS, doomed.id, f"delete namespace {doomed.name} with its hubs", "cannot be undone"),
    ),
    reversal="cannot be undone",
    recovery="Hubs, consumer groups and keys are lost; the name may be taken.",
    order=53,
    steps=sends(_EVENTS, "delete"),
)


def _bus(row: Row, seen: Seen) -> Waste | None:
    tier, units = _sku(row)
    if tier != "premium" or words.props(row).get("alternateName") or MESSAGES.of(seen, row):
        return None
    return Waste(
        reason=f"no message in 14 days; {units} messaging units",
        meters=(Meter("service-bus/premium-unit", "hour", units),),
        evidence={"tier": tier, "units": units},
    )


IDLE_BUS = check(
    id="servicebus-premium-idle",
    title="Premium Service Bus namespace that carries nothing",
    kind=kind("Service Bus namespace", BUSES, lambda row: words.props(row).get("createdAt")),
    reads=(*MESSAGES.reads,),
    judge=_bus,
    why="A Premium namespace bills its messaging units by the hour; the other tiers bill what is sent.",
    spares=("a message in 14 days", "Basic and Standard", "paired with another for recovery", "younger than 14 days"),
    unchecked=("messages that wait in a queue: they are lost with it",),
    meter="messaging-unit hours",
    remove="messages may wait in its queues, and cannot be seen from here",
    reversal="cannot be undone",
    recovery="Queues, topics and keys are lost.",
    order=54,
)
_CHEAPER = ("premium", "basicv2", "standardv2", "premiumv2")
"""Tiers whose second unit and those after it have a price of their own."""
CALLS = usage(
    "Requests",
    _AGED_SERVICES,
    days=30,
    absent="zero",
    unit="requests",
    source="Azure Monitor, API Management: Requests is emitted for each request to the gateway",
)


def _api(whole: Row, row: Row, seen: Seen) -> Waste | None:
    tier, units = _sku(whole)
    if tier in ("consumption", "") or CALLS.of(seen, row):
        return None
    more = sum(
        int((each.get("sku") or {}).get("capacity") or 1)
        for each in words.props(whole).get("additionalLocations") or ()
    )
    units += more
    first = 1 if tier in _CHEAPER and units > 1 else units
    return Waste(
        reason=f"no request in 30 days; {words.many(units, 'unit')} of {tier}",
        meters=(
            Meter(f"api-management/{tier}", "unit-hour", first),
            *((Meter(f"api-management/{tier}-further", "unit-hour", units - first),) if units > first else ()),
        ),
        evidence={"tier": tier, "units": units},
    )


IDLE_API = check(
    id="apim-idle",
    title="API Management that nobody calls",
    kind=aged_kind("API Management service", _AGED_SERVICES),
    reads=(SERVICES, *CALLS.reads),
    judge=over(SERVICES, _api),
    why="A service bills each unit by the hour, from the developer tier to Premium.",
    spares=("a request in 30 days", "the consumption tier, which bills calls", "younger than 30 days"),
    unchecked=("a developer portal that is read", "self-hosted gateways, whose calls are counted elsewhere"),
    meter="unit hours of its tier, in all its regions",
    remove=lambda doomed: (
        delete(_APIM, doomed.id, f"delete service {doomed.name}", "recoverable", days=2, seconds=5400),
    ),
    reversal="recoverable",
    recovery="A deleted service can be recovered for 48 hours; its name is held as long.",
    order=23,
    min_age=timedelta(days=30),
    steps=sends(_APIM, "delete"),
)  # fmt: skip
CHECKS = (IDLE_API, IDLE_BUS, IDLE_HUB)
