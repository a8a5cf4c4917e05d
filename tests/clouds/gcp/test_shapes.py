"""What a machine type's name says of its vCPUs and memory."""

from __future__ import annotations

import pytest

from clouds.gcp.shapes import FAMILIES, Shape, shape


@pytest.mark.parametrize(
    ("kind", "vcpus", "gib"),
    [
        ("e2-micro", 0.25, 1), ("e2-small", 0.5, 2), ("e2-medium", 1, 4), ("e2-highcpu-8", 8, 8),
        ("n1-standard-1", 1, 3.75), ("n1-highcpu-2", 2, 1.8), ("n1-highmem-96", 96, 624),
        ("n2-standard-8", 8, 32), ("n2-highmem-96", 96, 768), ("n2-highmem-128", 128, 864),
        ("n2d-highcpu-224", 224, 224), ("n4-highcpu-80", 80, 160),
        ("c2-standard-60", 60, 240), ("c2d-highcpu-112", 112, 224), ("c3-standard-22", 22, 88),
        ("c3d-highcpu-16", 16, 32), ("c3d-highcpu-30", 30, 59), ("c3d-highcpu-360", 360, 708),
        ("c4-standard-2", 2, 7), ("c4-highmem-2", 2, 15), ("c4-highmem-192", 192, 1488), ("c4a-highmem-1", 1, 8),
        ("m1-ultramem-160", 160, 3844), ("m1-megamem-96", 96, 1433.6), ("m3-megamem-128", 128, 1952),
        ("m3-ultramem-32", 32, 976), ("t2a-standard-48", 48, 192), ("t2d-standard-60", 60, 240),
    ],
)  # fmt: skip
def test_vcpus_and_memory_of_a_type(kind: str, vcpus: float, gib: float) -> None:
    family, _, _ = kind.partition("-")
    assert shape(kind) == Shape(family, vcpus, gib)
    assert family in FAMILIES


@pytest.mark.parametrize(
    "kind",
    [
        "", "n2", "n2-standard", "n2-standard-0", "n2-standard-8x", "n2-custom-4-8192", "custom-4-8192",
        "c3-standard-8-lssd", "c3-standard-192-metal", "t2d-highmem-8", "g2-standard-4", "a2-highgpu-1g",
        "n9-standard-4", "N2-STANDARD-8", "n2-standard-8/spot", "z3-highmem-88", "m2-ultramem-208",
    ],
)  # fmt: skip
def test_a_name_of_no_known_series_or_with_more_to_pay_for_says_nothing(kind: str) -> None:
    assert shape(kind) is None
