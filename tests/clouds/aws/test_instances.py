from __future__ import annotations

import pytest

from clouds.aws import instances
from clouds.errors import InvalidInput, NotOffered
from clouds.models import ACCELERATORS
from tests.clouds.aws.recorded import build


def test_the_types_of_one_l4_smallest_first() -> None:
    assert [row.ml for row in instances.carrying("L4", sagemaker=True)] == [
        "ml.g6.xlarge", "ml.g6.2xlarge", "ml.g6.4xlarge", "ml.g6.8xlarge", "ml.g6.16xlarge",
    ]  # fmt: skip
    assert instances.carrying("l4")[0] == instances.Instance("g6.xlarge", "L4", 1, 22888, 4, 16384, "x86_64", True)


@pytest.mark.parametrize("word", ["4xL4", "4x L4", "L4:4", "4 x l4"])
def test_several_can_be_asked_for_in_several_spellings(word: str) -> None:
    assert [row.type for row in instances.carrying(word)] == ["g6.12xlarge", "g6.24xlarge"]


def test_a_type_is_found_under_both_names() -> None:
    assert instances.find("ml.g6e.xlarge") is instances.find("g6e.xlarge")
    assert instances.find("ml.m5.xlarge") is None


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("L40", "'L40' is not known on AWS. Did you mean L40S?"),
        ("A100", "'A100' is not known on AWS. Did you mean A100-40GB or A100-80GB?"),
        ("3xL4", "no type carries 3 L4"),
        ("", "'' is not known on AWS."),
        ("banana", "'banana' is not known on AWS."),
    ],
)
def test_an_unknown_word_is_answered_with_what_is_known(word: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        instances.carrying(word)
    assert problem in str(refused.value)


def test_what_only_other_clouds_have_is_not_offered() -> None:
    with pytest.raises(NotOffered, match="v6e on AWS"):
        instances.carrying("trillium")


def test_the_words_are_those_that_every_cloud_uses_or_more() -> None:
    ours = set(instances.accelerators())
    assert {word for word in ACCELERATORS if word not in ours} == {"MI300X", "v5e", "v5p", "v6e", "TPU7x"}


def test_what_sagemaker_hosts_is_what_its_own_model_lists() -> None:
    listed = set(build().get_service_model("sagemaker").shape_for("ProductionVariantInstanceType").enum)
    assert {row.ml for row in instances.table() if row.sagemaker} == {row.ml for row in instances.table()} & listed


def test_aws_chips_of_its_own_are_known_and_run_no_cuda() -> None:
    assert {row.accelerator for row in instances.table() if not row.cuda} == {"T4G", *instances.NEURON}
