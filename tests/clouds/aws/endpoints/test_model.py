"""What a model's id says before anything is paid for."""

from __future__ import annotations

import pytest

from clouds.aws.endpoints import model
from clouds.errors import InvalidInput

SIZES = [
    ("google/gemma-4-E2B-it", 9.8),
    ("google/gemma-4-E2B-it-qat-w4a16-ct", 8.0),
    ("google/gemma-4-31b-it", 57.7),
    ("google/gemma-4-31b-it-fp8-block", 31.8),
    ("me/gemma-4-31b-it-nvfp4", 20.2),
    ("openai/gpt-oss-20b", 37.3),
    ("Qwen/Qwen3.5-4B", 7.5),
    ("me/some-model", None),
]


@pytest.mark.parametrize(("name", "gib"), SIZES)
def test_the_size_of_the_weights_is_guessed_from_the_name_or_not_at_all(name: str, gib: float | None) -> None:
    assert model.weights_gib(name) == gib


@pytest.mark.parametrize("name", ["google/gemma-4-E2B-it", "Qwen/Qwen3.5-4B", "s3://my-bucket/models/gemma/"])
def test_a_plain_id_has_no_warning(name: str) -> None:
    assert model.check_for_vllm(name) == ()


def test_an_export_that_saves_no_memory_is_said_to() -> None:
    (word,) = model.check_for_vllm("google/gemma-4-E2B-it-qat-q4_0-unquantized")
    assert "no memory is saved" in word


WRONG = ["gemma", "a/b/c", "../etc/passwd", "a b/c", "https://huggingface.co/a/b", "google/", "s3://b", "s3://B/x", ""]


@pytest.mark.parametrize(
    "name", [*WRONG, "google/gemma-4-E2B-it-qat-q4_0-gguf", "google/gemma-4-E2B-it-qat-mobile-int4"]
)
def test_what_vllm_cannot_load_is_refused_before_anything_is_sent(name: str) -> None:
    with pytest.raises(InvalidInput) as told:
        model.check_for_vllm(name)
    assert told.value.field == "model"


PARSERS = [
    ("google/gemma-4-E2B-it", "gemma4"),
    ("Qwen/Qwen3-Coder-30B", "qwen3_coder"),
    ("openai/gpt-oss-20b", "openai"),
]


@pytest.mark.parametrize(("name", "parser"), PARSERS)
def test_the_tool_parser_is_that_of_the_family(name: str, parser: str) -> None:
    assert model.tool_parser(name) == parser
