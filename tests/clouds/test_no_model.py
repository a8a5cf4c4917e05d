"""A cloud without a model of its own says that none was named, and not that '' is a wrong one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from clouds.aws.endpoints import model as aws
from clouds.azure.endpoints import model as azure
from clouds.errors import InvalidInput
from clouds.gcp.endpoints import model as gcp

CHECKS: dict[str, Callable[[str], object]] = {
    "aws, vLLM": aws.check_for_vllm,
    "aws, any engine": aws.check_hub_id,
    "gcp": gcp.check,
    "azure, vLLM": partial(azure.check, engine="vllm"),
    "azure, llama.cpp": partial(azure.check, engine="llama.cpp"),
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_no_model_is_said_with_what_to_give(check: Callable[[str], object]) -> None:
    with pytest.raises(InvalidInput, match=r"^`model`: no model was named and none is set$") as told:
        check("")
    assert told.value.fix == "Give model, e.g. google/gemma-4-E2B-it, or set it in modelrig.toml."


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_wrong_model_is_still_named(check: Callable[[str], object]) -> None:
    with pytest.raises(InvalidInput, match="gemma"):
        check("gemma")
