"""Real answers that another project recorded, replayed through boto3: our answer to each is the one in the table.

docs/aws-waste-recordings.md holds a row for every recording and check that reads a resource in it. The recordings are
not part of this repository; without them the test says so and is skipped.
"""

from __future__ import annotations

import os
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from clouds.aws.checks import CHECKS, PACK
from clouds.models.waste import Listing, WasteCheck
from clouds.replay import Scenario, read_placebo
from clouds.replay.fixtures import Origin
from tests.clouds.aws.checks.stage import ROOT, Account
from tools.waste.records import Scan

RECORDINGS = ROOT.parent / "shared" / "recordings" / "cloud-custodian" / "aws"
TABLE = ROOT / "docs" / "aws-waste-recordings.md"
HEAD = "| recording | check |"


def rows() -> list[tuple[str, str, str]]:
    """(recording, check, ours) of the table."""
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith("| test_")]
    return [
        (cells[0], cells[1], cells[2])
        for line in lines
        if (cells := [each.strip() for each in line.strip("|").split("|")])
    ]


@cache
def recording(name: str) -> Scenario:
    return read_placebo(RECORDINGS / name, Origin("recorded", "cloud-custodian", date(2026, 11, 29)))


def listing(check: WasteCheck) -> Listing:
    read = check.kind.of
    while not isinstance(read, Listing):
        read = read.of
    return read


def ours(result: Scan) -> str:
    """Our answer in a few words, as it stands in the table."""
    parts = []
    if result.findings:
        parts.append("found: " + ", ".join(sorted(each.name.split(" ")[0] for each in result.findings)))
    lacking = sorted({gap.call for gap in result.unread})
    if lacking:
        parts.append("not read: " + ", ".join(lacking))
    if result.coverage.unresolved:
        parts.append(f"{result.coverage.unresolved} unresolved")
    if result.coverage.managed:
        parts.append(f"{result.coverage.managed} managed")
    if result.coverage.too_new:
        parts.append(f"{result.coverage.too_new} too new")
    if not result.findings and not lacking and not result.coverage.unresolved:
        parts.append(f"nothing in {result.coverage.resources}")
    return "; ".join(parts)


def there() -> None:
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings of cloud-custodian are not beside this checkout (../shared/recordings)")


def covered(account: Account) -> set[tuple[str, str]]:
    """Every recording and check whose listing it answers."""
    session = account.api.session
    found = set()
    for folder in sorted(RECORDINGS.iterdir()):
        operations = {(each.service, each.operation) for each in recording(folder.name).fixtures}
        for check in CHECKS:
            read = listing(check)
            prefix = session.get_service_model(read.service).endpoint_prefix
            if (prefix, read.operation) in operations or (read.service, read.operation) in operations:
                found.add((folder.name, check.id))
    return found


def test_our_answer_to_a_recording_is_the_one_that_is_argued(account: Account) -> None:
    there()
    argued = {(name, check): answer for name, check, answer in rows()}
    assert len(argued) > 100
    usual = dict(list(argued.items())[:: 1 if os.environ.get("MODELRIG_ALL") == "1" else 4])
    assert {row: ours(account.scan(row[1], recording(row[0]))) for row in usual} == usual


def test_every_recording_that_a_check_reads_is_in_the_table(account: Account) -> None:
    there()
    assert {(name, check) for name, check, _ in rows()} == covered(account)


def test_every_row_of_the_table_is_argued() -> None:
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith("| test_")]
    assert [
        line for line in lines if len(line.strip("|").split("|")) != 5 or not line.strip("| ").split("|")[-1].strip()
    ] == []
    assert {check for _, check, _ in rows()} <= {check.id for check in PACK.checks}


def test_a_read_that_nobody_recorded_is_never_a_clean_answer(account: Account) -> None:
    there()
    result = account.scan("sm-orphan-models", recording("test_sagemaker_model"))
    assert not result.complete
    assert result.findings == ()
    assert Path(TABLE).is_file()
