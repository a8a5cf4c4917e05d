from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from tools.waste.exceptions import Keep, load

CHECKS = frozenset({"disk-free"})
GOOD = '[[waste.keep]]\nresource = "vol-0a1*"\ncheck = "disk-free"\nreason = "drill"\nexpires = 2027-03-31\n'


def written(folder: Path, text: str) -> Path:
    (folder / "modelrig.toml").write_text(text, "utf-8")
    return folder


def test_an_exception_needs_resource_reason_and_end(tmp_path: Path) -> None:
    assert load(written(tmp_path, GOOD), CHECKS) == (Keep("vol-0a1*", "disk-free", "drill", date(2027, 3, 31)),)


def test_a_project_without_the_file_has_none(tmp_path: Path) -> None:
    assert load(tmp_path, CHECKS) == ()


@pytest.mark.parametrize(
    ("line", "instead", "problem"),
    [
        ("expires = 2027-03-31\n", "", "has no end"),
        ("expires = 2027-03-31", 'expires = "2027-03-31"', "has no end"),
        ('reason = "drill"\n', "", "gives no reason"),
        ('resource = "vol-0a1*"', 'resource = "*"', "names no resource"),
        ('check = "disk-free"', 'check = "disk-fre"', "names the check"),
        ('reason = "drill"', 'raeson = "drill"', "has 'raeson'"),
        ("[[waste.keep]]", "[waste.keep]", "is not a list"),
        ("[[waste.keep]]", "[[waste.keep", "cannot be read"),
    ],
)
def test_an_exception_that_is_not_whole_is_refused_in_words(
    tmp_path: Path, line: str, instead: str, problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        load(written(tmp_path, GOOD.replace(line, instead)), CHECKS)


def test_an_exception_covers_a_full_id_a_name_and_a_part_of_either() -> None:
    keep = Keep("arn:*:volume/vol-1", "", "r", date(2027, 1, 1))
    assert keep.covers("any", "arn:aws:ec2:eu-west-1:1:volume/vol-1", "vol-1 (x)")
    assert not keep.covers("any", "arn:aws:ec2:eu-west-1:1:volume/vol-10", "vol-10")
    assert not Keep("vol-1", "other", "r", date(2027, 1, 1)).covers("any", "vol-1", "vol-1")
