"""Real answers that another project recorded, replayed through the transport: ours to each is the one in the table.

docs/azure-waste-recordings.md holds a row for every recording and check that reads a resource in it. The recordings are
not part of this repository; without them the test says so and is skipped.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from clouds.azure.api import OWN_READS, AzureApi
from clouds.azure.cassettes import Cassette
from clouds.azure.checks import CHECKS, PACK
from clouds.azure.paths import sending
from clouds.azure.prices import AzurePrices
from clouds.base import Cloud, Missing
from clouds.models import Identity, Scope
from clouds.readonly import ReadOnly
from tests.clouds.azure.checks.stage import NOW, ROOT
from tests.clouds.azure.checks.test_unknown import listing
from tests.clouds.rows import some
from tools.progress import CallProgress
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan

RECORDINGS = ROOT.parent / "shared" / "recordings" / "cloud-custodian" / "azure"
TABLE = ROOT / "docs" / "azure-waste-recordings.md"
SUBSCRIPTION = "ea42f556-5106-4743-99b0-c129bfa71a47"


class Somebody:
    def read(self) -> Identity:
        return Identity(principal="recorded", account=SUBSCRIPTION, kind="recorded answers", renews="")


def lines() -> list[str]:
    """The rows of the table as they stand there."""
    return [line for line in TABLE.read_text("utf-8").splitlines() if re.match(r"\| \w+Test\w*\.", line)]


def rows() -> list[tuple[str, str, str]]:
    """(recording, check, ours) of the table."""
    cells = [[each.strip() for each in line.strip("|").split("|")] for line in lines()]
    return [(cell[0], cell[1], cell[2]) for cell in cells]


def replayed(name: str, check: str, home: Path) -> Scan:
    api = AzureApi(
        taps=(ReadOnly(PACK.reads | OWN_READS), Cassette([RECORDINGS / f"{name}.json"])), recorded=True, attempts=1
    )
    cloud = Cloud(
        "azure", Somebody(), {}, Missing(""), Missing(""), AzurePrices(None, home), api, waste_pack=lambda: PACK
    )
    return scan({"azure": cloud}, Wanted(scopes=(SUBSCRIPTION,), checks=(check,)), (), NOW, CallProgress(), "scan")


def ours(result: Scan) -> str:
    """Our answer in a few words, as it stands in the table."""
    parts = []
    if result.findings:
        words = [
            f"{each.name.split(' ')[0]}{' (not removable)' if not each.removable else ''}" for each in result.findings
        ]
        parts.append("found: " + ", ".join(sorted(words)))
    lacking = sorted({gap.call for gap in result.unread})
    if lacking:
        parts.append("not read: " + ", ".join(lacking))
    if result.coverage.unresolved:
        parts.append(f"{result.coverage.unresolved} unresolved")
    if result.coverage.managed:
        parts.append(f"{result.coverage.managed} managed")
    if result.coverage.too_new:
        parts.append(f"{result.coverage.too_new} too new")
    if not result.findings and not result.coverage.unresolved:
        parts.insert(0, f"nothing in {result.coverage.resources}")
    return "; ".join(parts)


@cache
def recorded(name: str) -> frozenset[str]:
    """The paths of a recording, in lower case, without the subscription's id."""
    data = json.loads((RECORDINGS / f"{name}.json").read_text("utf-8"))
    found = [unquote(urlsplit(each["request"]["uri"]).path).lower() for each in data["interactions"]]
    return frozenset(path.replace(SUBSCRIPTION, "*") for path in found)


def covered() -> set[tuple[str, str]]:
    """Every recording and check whose listing it answers."""
    asked = {
        check.id: sending(listing(check).call, Scope(None, SUBSCRIPTION)).path.lower().replace(SUBSCRIPTION, "*")
        for check in CHECKS
    }
    names = sorted(path.stem for path in RECORDINGS.glob("*.json"))
    return {(name, check) for name in names for check, path in asked.items() if path in recorded(name)}


def there() -> None:
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings of cloud-custodian are not beside this checkout (../shared/recordings)")


@pytest.mark.parametrize(
    ("name", "check", "answer"), some(rows(), 4), ids=lambda value: value if "Test" in value else None
)
def test_our_answer_to_a_recording_is_the_one_that_is_argued(
    name: str, check: str, answer: str, tmp_path: Path
) -> None:
    there()
    assert ours(replayed(name, check, tmp_path)) == answer


def test_every_recording_that_a_check_reads_is_in_the_table() -> None:
    there()
    assert {(name, check) for name, check, _ in rows()} == covered()


def test_every_row_of_the_table_is_argued() -> None:
    cells = [[each.strip() for each in line.strip("|").split("|")] for line in lines()]
    assert len(cells) >= 40
    assert [cell for cell in cells if len(cell) != 5 or not cell[-1]] == []
    assert {cell[1] for cell in cells} <= {check.id for check in CHECKS}


def test_a_number_of_the_plan_alone_would_have_called_a_plan_idle_that_serves_an_app(tmp_path: Path) -> None:
    there()
    result = replayed(
        "AppServicePlanWebAppsFilterTest.test_plan_with_running_apps_above_threshold", "idle-app-service-plan", tmp_path
    )
    assert result.findings == ()
    assert result.coverage.resources == 2
