"""Real answers that another project recorded, replayed through the real api: our answers are those in the table.

docs/gcp-waste-recordings.md holds a row for every recording and check that reads a resource in it. The recordings are
not part of this repository; without them the tests say so and are skipped.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from clouds.base import Cloud, Missing
from clouds.gcp.api import GcpApi
from clouds.gcp.checks import CHECKS, PACK
from clouds.gcp.prices import GcpPrices
from clouds.gcp.session import recorded
from clouds.models import Call
from clouds.readonly import ReadOnly
from tests.clouds.gcp.checks.recordings import APIS, PROJECT, RECORDINGS, Recording
from tests.clouds.gcp.checks.stage import NOW, ROOT, Somebody
from tools.progress import CallProgress
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan

TABLE = ROOT / "docs" / "gcp-waste-recordings.md"


def rows() -> list[list[str]]:
    """The cells of each row."""
    lines = TABLE.read_text("utf-8").splitlines() if TABLE.is_file() else []
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line[2:].split(" ", 1)[0] in APIS
    ]


def there() -> None:
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings of cloud-custodian are not beside this checkout (../shared/recordings)")


@cache
def looked(name: str, check: str) -> Scan:
    api = GcpApi(build=recorded, taps=(ReadOnly(PACK.reads), Recording(name)), attempts=1)
    prices = GcpPrices(None, Path("nowhere"))
    cloud = Cloud("gcp", Somebody(), {}, Missing(""), Missing(""), prices, api, waste_pack=lambda: PACK)
    wanted = Wanted(scopes=(PROJECT,), checks=(check,))
    return scan({"gcp": cloud}, wanted, (), NOW, CallProgress(), "scan")


def answer(name: str, check: str) -> str:
    """Our answer in a few words, as it stands in the table."""
    result, parts = looked(name, check), []
    if result.findings:
        parts.append("found: " + ", ".join(sorted(each.name for each in result.findings)))
    if lacking := sorted({gap.call for gap in result.unread}):
        parts.append("not read: " + ", ".join(lacking))
    if result.coverage.unresolved:
        parts.append(f"{result.coverage.unresolved} unresolved")
    if not parts:
        parts.append(f"nothing in {result.coverage.resources}")
    return "; ".join(parts)


def covered() -> set[tuple[str, str]]:
    """Every recording and check whose rows it answers."""
    return {
        (name, check.id)
        for name in APIS
        for check in CHECKS
        if Recording(name).holds(Call(check.kind.of.service, check.kind.of.operation))
    }


def test_every_recording_has_its_api() -> None:
    there()
    assert {path.name for path in RECORDINGS.iterdir() if path.is_dir()} == set(APIS)


def test_our_answer_to_every_recording_is_the_one_that_is_argued() -> None:
    there()
    assert {(row[0], row[1]): row[2] for row in rows()} == {pair: answer(*pair) for pair in covered()}


def test_every_row_of_the_table_is_argued() -> None:
    assert len(rows()) >= 20
    assert [row for row in rows() if len(row) != 5 or not row[4].endswith(".")] == []


def test_a_read_that_nobody_recorded_is_never_a_clean_answer() -> None:
    there()
    result = looked("snapshot-query", "snapshot-old")
    assert not result.complete
    assert result.findings == ()


def test_what_is_found_in_a_recording_is_priced_and_carries_its_project() -> None:
    there()
    found = looked("lb-addresses-delete", "ip-unused").findings[0]
    assert (found.account, found.location, found.usd_per_month) == (PROJECT, "us-central1", 7.3)
    assert found.resource == "//compute.googleapis.com/projects/cloud-custodian/regions/us-central1/addresses/new322"
