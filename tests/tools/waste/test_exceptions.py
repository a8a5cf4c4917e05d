from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from tests.tools.waste import toy
from tests.tools.waste.test_tools import Desk, many
from tools.progress import CallProgress
from tools.setup import check_setup
from tools.waste.exceptions import Keep, load, unused

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
        ("expires = 2027-03-31", 'expires = "2027-13-45"', "has an end that is no date: expires = '2027-13-45'"),
        ("expires = 2027-03-31", 'expires = "2027-03-31"', "has an end that is no date: expires = '2027-03-31'"),
        ("expires = 2027-03-31", "expires = 2027-03-31T10:00:00Z", "has an end that is no date"),
        ('reason = "drill"\n', "", "gives no reason"),
        ('resource = "vol-0a1*"', 'resource = "*"', "names no resource"),
        ('resource = "vol-0a1*"', "", "names no resource"),
        ('resource = "vol-0a1*"', 'resource = "x"', "has a resource that is too short to name one: 'x'"),
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


KEPT = '[[waste.keep]]\nresource = "{}"\nreason = "drill"\nexpires = {}\n'


def test_a_scan_says_which_exceptions_have_expired_and_which_match_nothing(tmp_path: Path) -> None:
    entries = (("d0000", "2027-01-01"), ("d0001", "2026-01-01"), ("d0009", "2027-01-01"), ("vol-*", "2025-01-01"))
    found = Desk(written(tmp_path, "".join(KEPT.format(*each) for each in entries)), many(2)).scan()
    words = "Exception: of 4 in modelrig.toml 2 have expired (d0001, vol-*), 1 matches nothing that was found (d0009)."
    assert (found.kept, found.findings) == (1, 1)
    assert words in found.notes
    assert words in found.text()
    assert "2 have expired (d0001, vol-*)" in Path(found.files["html"]).read_text()


def test_a_scan_whose_exceptions_all_keep_something_says_nothing_of_them(tmp_path: Path) -> None:
    found = Desk(written(tmp_path, KEPT.format("d0000", "2027-01-01")), many(2)).scan()
    assert [note for note in found.notes if "xception" in note] == []


def test_setup_counts_the_exceptions_and_says_which_a_scan_would_refuse(tmp_path: Path) -> None:
    desk = Desk(written(tmp_path, KEPT.format("d0000", "2026-01-01") + KEPT.format("d0001", "2027-01-01")), many(0))
    told = check_setup(desk.clouds, desk.settings, desk.book, CallProgress())
    assert told.notes == ("modelrig.toml: 2 [[waste.keep]], 1 of them expired.",)
    written(tmp_path, KEPT.format("x", "2027-01-01"))
    told = check_setup(desk.clouds, desk.settings, desk.book, CallProgress())
    assert told.notes[0].startswith("`modelrig.toml: waste.keep 1`: has a resource that is too short")
    assert "a waste scan is refused: see the notes" in told.headline
    (tmp_path / "modelrig.toml").unlink()
    assert check_setup(desk.clouds, desk.settings, desk.book, CallProgress()).notes == ()


ONE = '[[waste.keep]]\nresource = "{}"\ncheck = "{}"\nreason = "drill"\nexpires = 2027-01-01\n'


def test_a_misspelt_check_of_an_exception_is_answered_with_the_one_that_is_near(tmp_path: Path) -> None:
    written(tmp_path, ONE.format("d0000", "disk-fre"))
    with pytest.raises(InvalidInput, match=r"names the check 'disk-fre'\. Did you mean disk-free\?"):
        load(tmp_path, CHECKS)
    # Where a cloud could not be loaded nobody knows all checks, so that none is refused: the scan says it.
    (keep,) = load(tmp_path, frozenset())
    scan = toy.look({"north": {"ListDisks": {"disks": [toy.disk("d0000")]}, "ListTags": {"tags": []}}}, keeps=(keep,))
    (said,) = unused((keep,), scan, toy.NOW.date(), CHECKS)
    assert said == "d0000 keeps nothing: 'disk-fre' is no check that is known here. Did you mean disk-free?"


def test_an_exception_whose_check_did_not_run_is_not_called_useless(tmp_path: Path) -> None:
    desk = Desk(written(tmp_path, ONE.format("d0009", "disk-free")), many(2))
    assert desk.scan(checks=("machine",)).notes == ()
    assert desk.scan(checks=("disk",)).notes[-1] == (
        "Exception: of 1 in modelrig.toml 1 matches nothing that was found (d0009); this scan did not look everywhere."
    )
    assert desk.scan().notes[-1] == "Exception: of 1 in modelrig.toml 1 matches nothing that was found (d0009)."
