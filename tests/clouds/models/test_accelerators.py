from __future__ import annotations

import pytest

from clouds.errors import InvalidInput
from clouds.models import ACCELERATORS, accelerator


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("L4", "L4"),
        ("nvidia l4", "L4"),
        ("NVIDIA_A100-80GB", "A100-80GB"),
        ("V6E", "v6e"),
        ("tpu-v5e", "v5e"),
        ("L40s", "L40S"),
    ],
)
def test_a_spelling_is_read_as_our_word(text: str, word: str) -> None:
    assert accelerator(text) == word


@pytest.mark.parametrize(
    ("text", "hint"), [("L40", "Did you mean L40S"), ("A100", "two accelerators"), ("warp drive", "is not known")]
)
def test_another_word_is_refused_with_all_that_are_known(text: str, hint: str) -> None:
    with pytest.raises(InvalidInput, match=hint) as caught:
        accelerator(text)
    assert caught.value.allowed == ACCELERATORS
