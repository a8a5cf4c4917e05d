"""What a model's id says before anything is paid for."""

from __future__ import annotations

import pytest

from clouds.errors import InvalidInput
from clouds.gcp.endpoints import model


@pytest.mark.parametrize(
    ("name", "gib"),
    [
        ("google/gemma-4-E2B-it", 8.97),
        ("google/gemma-4-12B-it", 22.35),
        ("google/gemma-4-31B-it", 57.74),
        ("gs://b/gemma-4-31B-it-qat-w4a16-ct/", 20.21),
        ("RedHatAI/gemma-4-26B-A4B-it-FP8-dynamic", 26.64),
        ("some/model", None),
    ],
)
def test_about_how_large_the_weights_are(name: str, gib: float | None) -> None:
    found = model.weights_gib(name)
    assert found == (None if gib is None else pytest.approx(gib, abs=0.1))


@pytest.mark.parametrize(
    "name", ["gemma", "a/b/c", "a/../b", "gs://", "gs://b/../x", "gs://B/x", "o/m-GGUF", "o/m-qat-mobile"]
)
def test_what_is_no_model_or_loads_nowhere_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        model.check(name)


def test_what_is_known_is_said() -> None:
    assert model.check("google/gemma-4-26B-A4B-it-qat-q4_0-unquantized")[0].endswith("is the 4-bit one.")
    assert model.check("gs://bucket/a/b") == ()
    assert model.check_for_tpu("google/gemma-4-E2B-it") == ()
    assert "hf_overrides" in model.check_for_tpu("google/gemma-4-12B-it")[0]


def test_a_parser_is_known_by_family_or_asked_for() -> None:
    assert model.tool_parser("google/gemma-4-E2B-it") == "gemma4"
    with pytest.raises(InvalidInput, match="no tool-call parser is known"):
        model.tool_parser("some/model")


def test_a_bucket_is_read_out_of_a_place() -> None:
    assert (model.bucket_of("gs://b/x"), model.bucket_of("o/m")) == ("b", "")
