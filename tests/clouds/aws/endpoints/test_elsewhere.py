"""A deployment that finds no place says in which other regions it may ask."""

from __future__ import annotations

import pytest

from clouds.errors import InvalidInput, NoCapacity, QuotaTooSmall
from tests.clouds.aws.rig import Rig

TYPE = "ml.g6.xlarge"
NAME = f"{TYPE} for endpoint usage"


def test_a_region_without_quota_names_those_that_have_it(rig: Rig) -> None:
    rig.account["us-east-2"].quotas[NAME].value = 0
    rig.account["us-west-2"].quotas[NAME].value = 3
    with pytest.raises(QuotaTooSmall) as told:
        rig.plan(instance_types=(TYPE,))
    assert "Quota left elsewhere, which is no promise of capacity: us-east-1 (" in told.value.fix
    assert f"us-west-2 ({NAME}: 3)" in told.value.fix
    assert "us-east-2 (" not in told.value.fix


def test_regions_without_capacity_name_the_others_once_all_have_refused(rig: Rig) -> None:
    rig.account.gives_up_after = 20.0
    for region in ("us-east-2", "us-west-2"):
        rig.account[region].capacity[TYPE] = 0
    with pytest.raises(NoCapacity) as told:
        rig.deploy(regions=("us-east-2", "us-west-2"), instance_types=(TYPE,))
    assert told.value.fix.endswith(f"which is no promise of capacity: us-east-1 ({NAME}: 1).")


def test_a_machine_needs_as_many_vcpus_as_its_smallest_type(rig: Rig) -> None:
    name = "Running On-Demand G and VT instances"
    rig.account["us-east-1"].quotas[name].value = 0
    rig.account["us-east-2"].quotas[name].value = 3
    rig.account["us-west-2"].quotas[name].value = 4
    for region in ("us-east-2", "us-west-2"):
        rig.account[region].quotas["All G and VT Spot Instance Requests"].value = 0
    with pytest.raises(QuotaTooSmall) as told:
        rig.ec2.plan(rig.machine_spec(instance_types=("g6.xlarge",)))
    assert told.value.fix.endswith(f"which is no promise of capacity: us-west-2 ({name}: 4).")


def test_where_no_region_has_any_it_says_so(rig: Rig) -> None:
    for region in rig.account.regions.values():
        region.quotas[NAME].value = 0
    with pytest.raises(QuotaTooSmall) as told:
        rig.plan(instance_types=(TYPE,))
    assert told.value.fix.endswith("No other region that could be read has quota for it.")


def test_a_region_that_refuses_to_be_read_is_counted(rig: Rig) -> None:
    for region in rig.account.regions.values():
        region.quotas[NAME].value = 0
    rig.account["us-west-2"].denied = True
    with pytest.raises(QuotaTooSmall) as told:
        rig.plan(instance_types=(TYPE,))
    assert "1 region could not be read" in told.value.fix


def test_a_ceiling_that_no_type_keeps_asks_no_other_region(rig: Rig) -> None:
    with pytest.raises(InvalidInput) as told:
        rig.plan(instance_types=(TYPE,), max_usd_per_hour=0.1)
    assert "elsewhere" not in told.value.fix
