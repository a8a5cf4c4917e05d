"""An image is pinned by the digest that its tag has now."""

from __future__ import annotations

import pytest

from clouds.errors import InvalidInput
from clouds.gcp.endpoints import images

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("image", "asked", "pinned"),
    [
        ("vllm/vllm-tpu:v1", "docker.io/vllm/vllm-tpu:v1", f"docker.io/vllm/vllm-tpu@{DIGEST}"),
        ("ghcr.io/a/b:v1", "ghcr.io/a/b:v1", f"ghcr.io/a/b@{DIGEST}"),
        (f"vllm/vllm-tpu@{DIGEST}", "", f"vllm/vllm-tpu@{DIGEST}"),
    ],
)
def test_a_tag_becomes_a_digest_and_a_digest_stays(image: str, asked: str, pinned: str) -> None:
    seen = []

    def digest(named: str) -> str:
        seen.append(named)
        return DIGEST

    assert images.pinned(image, digest) == pinned
    assert seen == ([asked] if asked else [])


def test_what_names_no_registry_is_not_asked_for() -> None:
    with pytest.raises(InvalidInput, match="no registry, name and tag"):
        images.digest_of("vllm")
