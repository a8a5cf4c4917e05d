"""Settings that would fail only after the compile are refused with the day on which that was seen."""

from __future__ import annotations

import pytest

from clouds.errors import InvalidInput
from clouds.gcp.endpoints import late


def test_every_row_has_its_day_and_one_thing_to_do() -> None:
    assert all(row.seen.startswith("2026-") and row.fix.endswith(".") and row.what for row in late.TPU)


@pytest.mark.parametrize("image", ["v/tpu", "v/tpu:latest", "docker.io/v/tpu:nightly", "x/y:main"])
def test_a_tag_that_moves_is_refused(image: str) -> None:
    with pytest.raises(InvalidInput, match="a tag that moves"):
        late.check_image(image)


@pytest.mark.parametrize(
    "image",
    [
        "vllm/vllm-tpu:v0.30.0",
        "vllm/vllm-tpu:nightly-20260504-e2a6582-67058ca",
        "vllm/vllm-tpu@sha256:" + "a" * 64,
        "host.io:5000/a/b:v1",
    ],
)
def test_a_release_a_dated_build_and_a_digest_are_not(image: str) -> None:
    late.check_image(image)


def test_what_serves_is_not_refused() -> None:
    late.check_for_tpu({"--kv-cache-dtype": "bfloat16"}, 0.92)
    with pytest.raises(InvalidInput, match=r"0.93: above 0.92 it failed .* 691-second compile, twice \(2026-10-25\)"):
        late.check_for_tpu({}, 0.93)
    with pytest.raises(InvalidInput, match="fp8_e5m2: fp8 is logged"):
        late.check_for_tpu({"--kv-cache-dtype": "fp8_e5m2"}, 0.9)
