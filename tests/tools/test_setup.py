"""What a text has no room for is named by the file that holds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.setup import Setup

ROOT = Path(__file__).parents[2]


def setup(policy: str) -> Setup:
    return Setup(
        headline="Ready.", version="0", python="3", platform="x", data_directory="d", project="p", clouds=(),
        packages=(), settings=(), order_of_work=(), active_deployments=0, unresolved_steps=0,
        least_policy={"aws": policy},
    )  # fmt: skip


def test_a_policy_that_fits_stands_in_the_text() -> None:
    assert "sts:GetCallerIdentity" in setup("sts:GetCallerIdentity").text()


def test_a_policy_that_does_not_fit_is_named_by_its_file() -> None:
    told = setup("s3:ListAllMyBuckets, " * 500)
    text = told.text()
    assert "more characters" not in text
    file = text.rpartition(" and in ")[2].strip()
    assert file == str(ROOT / "policy" / "aws-scanner.json")
    assert Path(file).is_file()
    assert told.structured()["least_policy"]["aws"].startswith("s3:ListAllMyBuckets, ")


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_every_cloud_that_is_scanned_has_such_a_file(cloud: str) -> None:
    assert (ROOT / "policy" / f"{cloud}-scanner.json").is_file()
