"""Load balancers that have nothing behind them, or that nobody sends anything."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Bound, Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

BALANCERS = Listing("elbv2", "DescribeLoadBalancers", "LoadBalancers")
TARGET_GROUPS = Listing("elbv2", "DescribeTargetGroups", "TargetGroups")
HEALTH = Detail(
    TARGET_GROUPS,
    "elbv2",
    "DescribeTargetHealth",
    lambda rows, _at: {"TargetGroupArn": rows[0]["TargetGroupArn"]},
    rows="TargetHealthDescriptions",
    when=lambda row: bool(row["LoadBalancerArns"]),
)


def by_balancer(row: Row) -> Iterable[Any]:
    """The balancers that a target group is used by."""
    yield from row["LoadBalancerArns"]  # always sent, so that without it nobody knows


def _without_target(row: Row, seen: Seen) -> bool:
    """Whether no target is registered in any group of a balancer."""
    groups = seen.index(TARGET_GROUPS, by_balancer).get(row["LoadBalancerArn"], ())
    return not any(seen.of(HEALTH, group) for group in groups)


LISTENERS = Detail(
    BALANCERS,
    "elbv2",
    "DescribeListeners",
    lambda rows, _at: {"LoadBalancerArn": rows[0]["LoadBalancerArn"]},
    rows="Listeners",
    when=lambda row: row["Type"] == "application",
    after=(HEALTH, TARGET_GROUPS),
    needed=_without_target,
)
RULES = Detail(
    LISTENERS,
    "elbv2",
    "DescribeRules",
    lambda rows, _at: {"ListenerArn": rows[0]["ListenerArn"]},
    rows="Rules",
)
BALANCER = Kind(
    name="load balancer",
    of=BALANCERS,
    id=lambda row, _at: row["LoadBalancerArn"],
    label=lambda row: row["LoadBalancerName"],
    created=lambda row: row["CreatedTime"],
    tags_read=Detail(
        BALANCERS,
        "elbv2",
        "DescribeTags",
        lambda rows, _at: {"ResourceArns": [row["LoadBalancerArn"] for row in rows]},
        rows="TagDescriptions",
        batch=20,
        pair=(lambda row: row["LoadBalancerArn"], lambda row: row["ResourceArn"]),
        late=True,
    ),
    tags_of=words.tags,
)
_KEYS = {"application": "elb/alb", "network": "elb/nlb", "gateway": "elb/gateway"}
_ANSWERS = frozenset({"redirect", "fixed-response"})


def bound(row: Row) -> Bound:
    """What faces the internet holds public IPv4 addresses too, of a number that no answer gives."""
    return "at least" if row.get("Scheme") == "internet-facing" else "exact"


def price(row: Row) -> Meter:
    """A balancer's own hour; what it carries is billed on top."""
    return Meter(_KEYS.get(row["Type"], f"elb/{row['Type']}"), "hour")


def _answers_itself(row: Row, seen: Seen) -> bool:
    """Whether any listener or rule redirects or answers by itself: then it works without a target."""
    for listener in seen.of(LISTENERS, row):
        actions = [*listener.get("DefaultActions", ())]
        for rule in seen.of(RULES, listener):
            actions += rule["Actions"]
        if any(action["Type"] in _ANSWERS for action in actions):
            return True
    return False


def _no_targets(row: Row, seen: Seen) -> Waste | None:
    if row["State"]["Code"] not in ("active", "active_impaired"):
        return None
    groups = seen.index(TARGET_GROUPS, by_balancer).get(row["LoadBalancerArn"], ())
    if any(group.get("TargetType") == "lambda" for group in groups):
        return None
    if not _without_target(row, seen) or _answers_itself(row, seen):
        return None
    return Waste(
        reason="no target is registered"
        + (f" in its {words.many(len(groups), 'target group')}" if groups else " and it has no target group"),
        meters=(price(row),),
        bound=bound(row),
        evidence={"type": row["Type"], "target groups": len(groups), "scheme": row.get("Scheme", "")},
    )


def delete(doomed: Doomed) -> tuple[CleanupStep, ...]:
    """Delete the balancer; a deletion protection that is on refuses that, and stays on."""
    name = {"LoadBalancerArn": doomed.id}
    return (
        step(
            "delete",
            f"delete load balancer {doomed.name}: its DNS name is lost; target groups stay",
            "elbv2.DeleteLoadBalancer",
            name,
            "cannot be undone",
            until=gone("elbv2.DescribeLoadBalancers", {"LoadBalancerArns": [doomed.id]}, "LoadBalancers[].State.Code"),
        ),
    )


_STEPS = ("elbv2.DeleteLoadBalancer", "elbv2.DescribeLoadBalancers")
NO_TARGETS = WasteCheck(
    id="alb-no-targets",
    title="Load balancer without targets",
    kind=BALANCER,
    reads=(TARGET_GROUPS, HEALTH, LISTENERS, RULES),
    judge=_no_targets,
    why="A balancer is billed by the hour; without a target it can answer nothing.",
    spares=(
        "a target is registered, healthy or not: unhealthy ones are an outage, not waste",
        "a listener or rule redirects or answers by itself",
        "a Lambda function is behind it",
        "younger than 7 days",
    ),
    unchecked=("a blue-green deployment that registers targets only when it runs", "DNS records that name it"),
    meter="load balancer hours by type; capacity units and public IPv4 addresses not included",
    min_age=timedelta(days=7),
    remove=delete,
    reversal="cannot be undone",
    recovery="A new balancer has another DNS name; listeners and rules have to be written again.",
    order=28,
    steps=_STEPS,
)


def _dimension(row: Row) -> list[dict[str, str]]:
    """app/NAME/ID: the last part of the full id, as CloudWatch knows a balancer."""
    return [{"LoadBalancer": row["LoadBalancerArn"].split(":loadbalancer/", 1)[1]}]


REQUESTS = usage(
    "AWS/ApplicationELB",
    # A request that the balancer redirects or answers by itself chooses no target, and is in no RequestCount.
    "RequestCount HTTP_Redirect_Count HTTP_Fixed_Response_Count",
    BALANCERS,
    by=_dimension,
    days=14,
    absent="zero",
    when=lambda row: row["Type"] == "application",
    unit="requests",
    source="Application Load Balancer docs: RequestCount counts those for which a target was chosen, the others what "
    "is redirected or answered without one; each is reported when it is not zero",
)
PROCESSED = usage(
    "AWS/NetworkELB",
    "ProcessedBytes",
    BALANCERS,
    by=_dimension,
    days=14,
    absent="zero",
    when=lambda row: row["Type"] == "network",
    unit="bytes",
    source="Network Load Balancer docs: ProcessedBytes is reported when it is not zero",
)


def _no_traffic(row: Row, seen: Seen) -> Waste | None:
    if row["State"]["Code"] != "active" or row["Type"] not in ("application", "network"):
        return None
    if seen.metric(REQUESTS if row["Type"] == "application" else PROCESSED, row):
        return None
    return Waste(
        reason=f"{'no request' if row['Type'] == 'application' else 'no byte'} in 14 days",
        meters=(price(row),),
        bound=bound(row),
        evidence={"type": row["Type"], "scheme": row.get("Scheme", "")},
    )


NO_TRAFFIC = WasteCheck(
    id="alb-no-traffic",
    title="Load balancer that nobody sends anything",
    kind=BALANCER,
    reads=(REQUESTS, PROCESSED),
    judge=_no_traffic,
    why="A balancer is billed by the hour, whether a request comes or not.",
    spares=("a request, a redirect or a byte in 14 days", "gateway balancers", "younger than 14 days"),
    unchecked=("a standby for a failover", "targets behind it that bill on their own"),
    meter="load balancer hours by type; capacity units and public IPv4 addresses not included",
    min_age=timedelta(days=14),
    remove=delete,
    reversal="cannot be undone",
    recovery="A new balancer has another DNS name; listeners and rules have to be written again.",
    order=28,
    steps=_STEPS,
)

CLASSICS = Listing("elb", "DescribeLoadBalancers", "LoadBalancerDescriptions")
CLASSIC = Kind(
    name="classic load balancer",
    of=CLASSICS,
    id=lambda row, at: words.arn("elasticloadbalancing", at, f"loadbalancer/{row['LoadBalancerName']}"),
    label=lambda row: row["LoadBalancerName"],
    created=lambda row: row["CreatedTime"],
    tags_read=Detail(
        CLASSICS,
        "elb",
        "DescribeTags",
        lambda rows, _at: {"LoadBalancerNames": [row["LoadBalancerName"] for row in rows]},
        rows="TagDescriptions",
        batch=20,
        pair=(lambda row: row["LoadBalancerName"], lambda row: row["LoadBalancerName"]),
        late=True,
    ),
    tags_of=words.tags,
)
CLASSIC_REQUESTS = usage(
    "AWS/ELB",
    "RequestCount",
    CLASSICS,
    by=lambda row: [{"LoadBalancerName": row["LoadBalancerName"]}],
    days=14,
    absent="zero",
    when=lambda row: bool(row.get("Instances")),
    unit="requests",
    source="Classic Load Balancer docs: RequestCount is reported when it is not zero; connections count for TCP",
)


def _classic(row: Row, seen: Seen) -> Waste | None:
    machines = len(row.get("Instances", ()))
    if machines and seen.metric(CLASSIC_REQUESTS, row):
        return None
    return Waste(
        reason=f"no request in 14 days with {words.many(machines, 'instance')} behind it"
        if machines
        else "no instance is behind it",
        meters=(Meter("elb/classic", "hour"),),
        bound=bound(row),
        evidence={"instances": machines, "scheme": row.get("Scheme", "")},
    )


def _delete_classic(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = doomed.row["LoadBalancerName"]
    return (
        step(
            "delete",
            f"delete classic load balancer {name}: its DNS name is lost",
            "elb.DeleteLoadBalancer",
            {"LoadBalancerName": name},
            "cannot be undone",
            until=gone(
                "elb.DescribeLoadBalancers",
                {"LoadBalancerNames": [name]},
                "LoadBalancerDescriptions[].LoadBalancerName",
            ),
        ),
    )


CLASSIC_IDLE = WasteCheck(
    id="clb-idle",
    title="Classic load balancer without instances or requests",
    kind=CLASSIC,
    reads=(CLASSIC_REQUESTS,),
    judge=_classic,
    why="It is billed by the hour, whatever is behind it.",
    spares=("an instance behind it and a request in 14 days", "younger than 14 days"),
    unchecked=("an Auto Scaling group at size 0 that will register with it", "DNS records that name it"),
    meter="classic load balancer hours; data and public IPv4 addresses not included",
    min_age=timedelta(days=14),
    remove=_delete_classic,
    reversal="cannot be undone",
    recovery="A new balancer has another DNS name.",
    order=28,
    steps=("elb.DeleteLoadBalancer", "elb.DescribeLoadBalancers"),
)
CHECKS = (NO_TARGETS, NO_TRAFFIC, CLASSIC_IDLE)
