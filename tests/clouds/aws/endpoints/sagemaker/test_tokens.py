"""Whether an answer of a model holds a token: what makes an endpoint ready."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clouds.aws.endpoints.sagemaker.invoke import tokens

SAID = {"choices": [{"message": {"content": "Hello"}}]}


@pytest.mark.parametrize(
    ("answer", "count"),
    [({**SAID, "usage": {"completion_tokens": 3}}, 3), ({**SAID, "usage": None}, 1), (SAID, 1), ({"choices": []}, 0)],
)
def test_a_token_is_counted_by_the_usage_or_by_the_text(answer: Any, count: int) -> None:
    assert tokens(json.dumps(answer).encode()) == count
