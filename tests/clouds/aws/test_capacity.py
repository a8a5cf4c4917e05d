from __future__ import annotations

from datetime import datetime

import pytest

from clouds.aws.api import AwsApi
from clouds.aws.capacity import READS, AwsCapacity
from clouds.errors import InvalidInput, NotOffered, NotSignedIn
from clouds.models import Scope
from clouds.replay import Answer, Request
from tests.clouds.aws.recorded import NOW, Recorded, on_stage


def now() -> datetime:
    return NOW


@pytest.mark.parametrize(
    ("scenario", "accelerator", "types", "region"),
    [
        ("l4/offered_with_a_score_and_a_reservation", "L4", (), "us-east-2"),
        ("l4/offered_nowhere_in_the_region", "L4", (), "us-west-1"),
        ("ml_g6_xlarge/offered_to_ec2", None, ("ml.g6.xlarge",), "us-east-2"),
        ("ml_g6_xlarge/denied", None, ("ml.g6.xlarge",), "us-east-2"),
        ("p5/a_block_with_its_fee", None, ("p5.48xlarge",), "us-east-2"),
    ],
)
def test_what_is_known_about_capacity(
    scenario: str, accelerator: str | None, types: tuple[str, ...], region: str
) -> None:
    recorded = Recorded(f"capacity/{scenario}")
    read = AwsCapacity(recorded.api, now=now).read(accelerator, types, [Scope(region)])
    recorded.check(read)
    assert all("available" not in f"{row.answer} {row.evidence}" for row in read.found)
    assert set(recorded.replay.operations) <= {str(call) for call in READS}


class Scores:
    """Offers every type everywhere and scores regions; knows what was asked."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def before(self, request: Request) -> Answer:
        self.asked.append(request)
        names = request.parameters.get("RegionNames", ())
        return Answer(
            body={
                "InstanceTypeOfferings": [{"InstanceType": "g6.xlarge", "Location": f"{request.location}a"}],
                "SpotPlacementScores": [{"Region": region, "Score": 3} for region in names],
                "SpotPriceHistory": [],
                "CapacityReservations": [],
            }
        )

    def after(self, request: Request, answer: Answer) -> None: ...


REGIONS = [f"eu-west-{n}" for n in range(1, 13)]


def test_placement_scores_are_asked_for_ten_regions_at_a_time() -> None:
    scores = Scores()
    read = AwsCapacity(on_stage(scores), now=now).read(None, ("g6.xlarge",), [Scope(region) for region in REGIONS])
    questions = [item.parameters["RegionNames"] for item in scores.asked if item.operation == "GetSpotPlacementScores"]
    assert sorted(questions, key=len) == [REGIONS[10:], REGIONS[:10]]
    assert [(row.scope, row.answer) for row in read.found] == [(region, "score 3") for region in REGIONS]


def test_a_zone_asks_about_its_region() -> None:
    scores = Scores()
    read = AwsCapacity(on_stage(scores), now=now).read("L4", (), [Scope("us-east-2a")])
    assert [row.scope for row in read.found] == ["us-east-2"]


def test_several_on_one_machine_are_named_with_their_count() -> None:
    read = AwsCapacity(on_stage(Scores()), now=now).read("4xL4", (), [Scope("us-east-2")])
    assert [row.accelerator for row in read.found] == ["4xL4"]


class Refuse:
    def before(self, request: Request) -> Answer:
        return Answer(
            401, {"Error": {"Code": "AuthFailure", "Message": "AWS was not able to validate the credentials"}}
        )

    def after(self, request: Request, answer: Answer) -> None: ...


def test_a_region_that_refuses_the_credential_is_unknown_and_says_why() -> None:
    read = AwsCapacity(on_stage(Refuse()), now=now).read("L4", (), [Scope("me-south-1")])
    assert [(row.answer, row.evidence) for row in read.found] == [("unknown", "nothing could be read")]
    assert len(read.unread) == 4


def test_without_any_credential_it_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotSignedIn):
        AwsCapacity(AwsApi(), now=now).read("L4", (), [Scope("us-east-2")])


def test_a_chip_of_another_cloud_is_not_offered_and_an_unknown_word_is_refused() -> None:
    reader = AwsCapacity(on_stage(Refuse()), now=now)
    with pytest.raises(NotOffered, match="v5e on AWS"):
        reader.read("v5litepod", (), [Scope("us-east-2")])
    with pytest.raises(InvalidInput, match="no type carries 3 L4"):
        reader.read("3xL4", (), [Scope("us-east-2")])
