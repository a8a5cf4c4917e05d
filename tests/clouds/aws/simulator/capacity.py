"""What EC2 says about free machines beside offerings and prices: spot placement scores and reservations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.clouds.aws.simulator.account import Account


def placement_scores(account: Account, region: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Nine where a spot machine of one of the types is free, else one."""
    del region
    rows = []
    for name in params["RegionNames"]:
        free = sum(
            count
            for place, count in account[name].capacity.items()
            for kind in params["InstanceTypes"]
            if place.startswith(f"spot:{kind}@")
        )
        rows.append({"Region": name, "Score": 9 if free else 1})
    return {"SpotPlacementScores": rows}


def reservations(account: Account, region: str, params: Mapping[str, Any]) -> dict[str, Any]:
    del account, region, params
    return {"CapacityReservations": []}


OPERATIONS = {
    "ec2.GetSpotPlacementScores": placement_scores,
    "ec2.DescribeCapacityReservations": reservations,
}
