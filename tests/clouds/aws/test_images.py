from __future__ import annotations

import pytest

from clouds.aws.images import READS, newest_ami, newest_vllm
from clouds.errors import NotFound
from tests.clouds.aws.recorded import Recorded


def test_the_newest_version_is_taken_and_not_the_newest_push() -> None:
    scenario = Recorded("images/vllm/an_older_line_has_the_newest_push")
    found = newest_vllm(scenario.api, "us-east-2")
    scenario.check(found)
    assert found.exact == f"763104351884.dkr.ecr.us-east-2.amazonaws.com/vllm@sha256:{'b' * 64}"
    assert set(scenario.replay.operations) <= {str(call) for call in READS}


def test_another_version_can_be_asked_for_by_name() -> None:
    scenario = Recorded("images/vllm/an_older_line_has_the_newest_push")
    assert newest_vllm(scenario.api, "us-east-2", version="0.9.2").tag == (
        "0.9.2-gpu-py312-cu128-ubuntu22.04-sagemaker-v1.9"
    )


def test_a_registry_with_floating_tags_alone_is_an_error() -> None:
    scenario = Recorded("images/vllm/nothing_pinned")
    with pytest.raises(NotFound) as missing:
        newest_vllm(scenario.api, "us-east-2")
    scenario.check_error(missing.value)


def test_soci_arm_and_neuron_tags_never_stand_in() -> None:
    with pytest.raises(NotFound, match=r"looking for a pinned vLLM 0\.31\.0 for SageMaker in us-east-2"):
        newest_vllm(Recorded("images/vllm/an_older_line_has_the_newest_push").api, "us-east-2", version="0.31.0")


@pytest.mark.parametrize("scenario", ["by_its_second_public_parameter", "by_search_the_newest"])
def test_the_deep_learning_ami_is_found(scenario: str) -> None:
    recorded = Recorded(f"images/dlami/{scenario}")
    recorded.check(newest_ami(recorded.api, "us-east-2"))
    assert set(recorded.replay.operations) <= {str(call) for call in READS}


def test_an_ami_that_is_nowhere_is_an_error_with_the_way_out() -> None:
    scenario = Recorded("images/dlami/nowhere")
    with pytest.raises(NotFound) as missing:
        newest_ami(scenario.api, "us-east-2")
    scenario.check_error(missing.value)
