from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from clouds.aws.quotas import AwsQuotas, covers, what
from clouds.errors import CredentialExpired, InvalidInput, NotSignedIn
from clouds.models import Call, Quota, Scope
from clouds.replay import Answer, Request
from tests.clouds.aws.recorded import Recorded, on_stage

APPLIED = "service-quotas.ListServiceQuotas"


def scopes(*regions: str) -> list[Scope]:
    return [Scope(region) for region in regions]


def test_an_endpoint_holds_quota_of_every_type_in_its_pool_and_machines_their_vcpus() -> None:
    scenario = Recorded("quotas/l4/an_endpoint_holds_one_of_every_type_in_its_pool")
    scenario.check(AwsQuotas(scenario.api).read("L4", (), scopes("us-west-2")))


def test_denied_not_offered_and_zero_are_three_answers_and_a_default_stands_in() -> None:
    scenario = Recorded("quotas/l4/one_region_denied_one_without_the_type")
    scenario.check(AwsQuotas(scenario.api).read("L4", (), scopes("us-east-1", "eu-west-3", "us-west-1")))


def test_a_family_without_a_quota_of_its_name_is_unknown_and_not_left_out() -> None:
    scenario = Recorded("quotas/p6/no_spot_quota_of_that_name")
    scenario.check(AwsQuotas(scenario.api).read(None, ("p6-b200.48xlarge", "p5.4xlarge"), scopes("us-east-2")))


def test_pages_are_read_only_until_every_type_was_found() -> None:
    scenario = Recorded("quotas/l4/an_endpoint_holds_one_of_every_type_in_its_pool")
    read = AwsQuotas(scenario.api).read(None, ("ml.g6.xlarge",), scopes("us-west-2"))
    assert [(quota.limit, quota.used) for quota in read.found] == [(1.0, 1.0)]
    assert scenario.replay.operations.count(APPLIED) == 1


class Watch:
    """Answers every listing as empty, and knows how many were asked at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.regions: list[str] = []

    def before(self, request: Request) -> Answer:
        self.now += 1
        self.most = max(self.most, self.now)
        self.regions.append(request.location)
        self.now -= 1
        return Answer(
            body={"Quotas": [], "Regions": [{"RegionName": "eu-west-1", "OptInStatus": "opt-in-not-required"}]}
        )

    def after(self, request: Request, answer: Answer) -> None: ...


def test_regions_are_listed_one_after_the_other_in_the_order_asked() -> None:
    watch = Watch()
    AwsQuotas(on_stage(watch)).read(None, ("ml.g6.xlarge",), scopes("us-east-2", "us-east-1"))
    assert (watch.most, watch.regions) == (1, ["us-east-2", "us-east-2", "us-east-1", "us-east-1"])


def test_no_region_named_means_every_one_that_the_account_has() -> None:
    watch = Watch()
    read = AwsQuotas(on_stage(watch)).read(None, ("ml.g6.xlarge",), ())
    assert [(quota.scope, quota.offered) for quota in read.found] == [("eu-west-1", False)]


class Refuse:
    """Refuses everything with one code."""

    def __init__(self, code: str, status: int = 403) -> None:
        self.answer = Answer(status, {"Error": {"Code": code, "Message": "no"}})
        self.asked: list[Request] = []

    def before(self, request: Request) -> Answer:
        self.asked.append(request)
        return self.answer

    def after(self, request: Request, answer: Answer) -> None: ...


def test_when_the_enabled_regions_cannot_be_read_the_17_default_ones_stand_in_and_that_is_said() -> None:
    refuse = Refuse("AccessDeniedException")
    read = AwsQuotas(on_stage(refuse)).read(None, ("ml.g6.xlarge",), ())
    assert (read.found, len(read.unread), read.complete) == ((), 18, False)
    assert read.unread[0].call == "ec2.DescribeRegions"
    assert "looked at the 17 regions" in read.unread[0].reason


@pytest.mark.parametrize(
    ("code", "kind"), [("UnrecognizedClientException", NotSignedIn), ("ExpiredToken", CredentialExpired)]
)
def test_a_credential_that_works_nowhere_is_one_error_and_not_a_list_of_unread(
    code: str, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        AwsQuotas(on_stage(Refuse(code))).read(None, ("ml.g6.xlarge",), scopes("us-east-1", "us-east-2"))


class OnlyIn(Refuse):
    """Refuses in one region as where it is not enabled; has one quota elsewhere."""

    def before(self, request: Request) -> Answer:
        if request.location == "me-south-1":
            return self.answer
        if request.operation == "ListEndpoints":
            return Answer(body={"Endpoints": []})
        return Answer(body={"Quotas": [row("ml.g6.xlarge for endpoint usage", 2)]})


def row(name: str, value: float) -> Mapping[str, Any]:
    return {"QuotaName": name, "QuotaCode": "L-1", "Value": value, "Adjustable": True}


def test_a_region_that_is_not_enabled_is_unread_and_the_rest_go_on() -> None:
    reader = AwsQuotas(on_stage(OnlyIn("UnrecognizedClientException")))
    read = reader.read(None, ("ml.g6.xlarge",), scopes("me-south-1", "us-east-1"))
    assert [(item.scope, item.call) for item in read.unread] == [("me-south-1", APPLIED)]
    assert read.found == (
        Quota(
            name="ml.g6.xlarge for endpoint usage",
            code="L-1",
            scope="us-east-1",
            limit=2,
            used=0,
            unit="instances",
            adjustable=True,
            offered=True,
        ),
    )


@pytest.mark.parametrize(
    ("accelerator", "types", "problem"),
    [
        (None, (), "neither an accelerator nor a type"),
        ("L40", (), "Did you mean L40S"),
        (None, ("g6",), "is not an instance type"),
        (None, ("ml.g6.xlarge; rm -rf",), "is not an instance type"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_before_anything_is_sent(
    accelerator: str | None, types: tuple[str, ...], problem: str
) -> None:
    refuse = Refuse("x")
    with pytest.raises(InvalidInput, match=problem):
        AwsQuotas(on_stage(refuse)).read(accelerator, types, scopes("us-east-1"))
    assert refuse.asked == []


def test_a_name_that_is_no_region_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is not an AWS region or zone"):
        AwsQuotas(on_stage(Refuse("x"))).read("L4", (), scopes("Ohio"))


def test_an_accelerator_is_its_sagemaker_types_and_its_families() -> None:
    wanted = what("L4", ("ml.g5.xlarge", "p5.4xlarge"))
    assert wanted.hosting == (
        "ml.g5.xlarge",
        "ml.g6.xlarge",
        "ml.g6.2xlarge",
        "ml.g6.4xlarge",
        "ml.g6.8xlarge",
        "ml.g6.16xlarge",
    )
    assert wanted.families == ("p5", "g6", "gr6")


@pytest.mark.parametrize(
    ("words", "family", "weight"),
    [
        ("G and VT", "g6e", 1),
        ("G and VT", "gr6", 1),
        ("G and VT", "p5", 0),
        ("P", "p6-b200", 1),
        ("P4, P3 and P2", "p4d", 2),
        ("P4, P3 and P2", "p5", 0),
        ("P5", "p5en", 2),
        ("Inf", "inf2", 1),
        ("Standard (A, C, D, H, I, M, R, T, Z)", "inf2", 0),
        ("Standard (A, C, D, H, I, M, R, T, Z)", "trn1", 0),
        ("Standard (A, C, D, H, I, M, R, T, Z)", "m7i", 1),
        ("Trn", "trn2", 1),
        ("DL", "dl2q", 1),
    ],
)
def test_the_name_of_a_quota_says_which_families_it_counts(words: str, family: str, weight: int) -> None:
    assert covers(words, family) == weight


def test_reading_quotas_uses_only_what_its_policy_names() -> None:
    from clouds.aws.quotas import READS

    for name in (
        "quotas/l4/an_endpoint_holds_one_of_every_type_in_its_pool",
        "quotas/l4/one_region_denied_one_without_the_type",
    ):
        scenario = Recorded(name)
        regions = sorted({item.location for item in scenario.scenario.fixtures if item.location})
        AwsQuotas(scenario.api).read("L4", (), scopes(*regions))
        assert set(scenario.replay.operations) <= {str(call) for call in READS}
    assert Call("service-quotas", "ListServiceQuotas") in READS
