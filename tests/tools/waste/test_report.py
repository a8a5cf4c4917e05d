"""Every file of a scan is made from the scan alone, and its numbers are those of the JSON."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from dataclasses import replace
from datetime import date
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest

from tests.tools.waste.toy import ROOT, days_ago, denied, disk, look
from tools.waste import report, store
from tools.waste.exceptions import Keep
from tools.waste.gate import exit_code
from tools.waste.records import Scan, adapter, schema
from tools.waste.report import csv as table
from tools.waste.report import html, sarif

SCHEMA = ROOT / "docs" / "scan.schema.json"
TAGS = {"tags": [{"key": "stack", "value": "shop"}]}


def a_scan(count: int = 3, *, name: str = "d") -> Scan:
    disks = [disk(f"{name}{n}", size=10 * (n + 1), created=days_ago(10 + n)) for n in range(count)]
    return look(
        {"north": {"ListDisks": {"disks": disks}, "ListTags": TAGS}, "south": {}},
        keeps=(Keep(f"{name}0", "", "drill", date(2027, 1, 1)),) if count > 1 else (),
    )


class Page(HTMLParser):
    """The words, the rows of the findings and the links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.amounts: list[str] = []
        self.loads: list[str] = []
        self._skip = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self._skip += tag in ("style", "script")
        if tag == "tr" and "data-usd" in found:
            self.amounts.append(found["data-usd"] or "")
        self.loads += [value or "" for key, value in attrs if key in ("src", "href", "srcset", "action")]

    def handle_endtag(self, tag: str) -> None:
        self._skip -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if not self._skip:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def test_the_published_schema_is_the_one_of_the_records() -> None:
    text = json.dumps(schema(), indent=1) + "\n"
    if os.environ.get("UPDATE_EXPECTED"):
        SCHEMA.write_text(text, "utf-8")
    assert SCHEMA.read_text("utf-8") == text, "UPDATE_EXPECTED=1 writes it anew"


@cache
def validator() -> jsonschema.Draft202012Validator:
    published = json.loads(SCHEMA.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(published)
    return jsonschema.Draft202012Validator(published)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_scan_fits_the_published_schema_and_reads_back_as_it_was(count: int, tmp_path: Path) -> None:
    scan = a_scan(count)
    path = store.save(tmp_path, scan)
    validator().validate(json.loads(path.read_text("utf-8")))
    assert store.load(tmp_path) == scan
    assert oct(path.stat().st_mode & 0o777) == "0o600"


def test_the_schema_refuses_what_is_not_in_it() -> None:
    data = json.loads(adapter().dump_json(a_scan()))
    for wrong in ({**data, "more": 1}, {key: value for key, value in data.items() if key != "totals"}):
        with pytest.raises(jsonschema.ValidationError):
            validator().validate(wrong)


def test_a_report_of_a_saved_scan_needs_no_cloud(tmp_path: Path) -> None:
    report.write(tmp_path, a_scan())
    again = report.write(tmp_path / "copy", store.load(tmp_path))
    assert sorted(again) == ["csv", "html", "json", "sarif"]


def test_the_page_loads_nothing_from_anywhere() -> None:
    text = html.render(a_scan())
    assert Page(text).loads == []
    assert "http" not in re.sub(r"http-equiv", "", text)
    assert "default-src 'none'" in text


def test_every_amount_on_the_page_is_one_of_the_json() -> None:
    scan = a_scan(12)
    page = Page(html.render(scan))
    assert [float(each) for each in page.amounts] == [each.usd_per_month for each in scan.findings]
    assert f"${scan.totals.usd_per_month:,.2f}" in page.text
    assert f"${scan.totals.usd_per_year:,.2f}" in page.text
    assert round(sum(float(each) for each in page.amounts), 2) == scan.totals.usd_per_month


def test_an_empty_page_says_how_many_checks_ran_did_not_apply_and_failed() -> None:
    page = Page(html.render(look({"north": {}, "south": {}})))
    assert page.text.startswith(
        "No waste found: 2 checks in each of 2 places: 4 of 4 pairs of check and place were judged, none failed"
    )
    bad = Page(html.render(look({"north": {"ListDisks": denied()}})))
    assert "No waste found in what could be looked at" in bad.text
    assert "1 could not be read" in bad.text
    assert "permission missing: Denied: no" in bad.text


def test_text_from_outside_stays_text_on_the_page() -> None:
    evil = '<img src=x onerror=alert(1)>"&'
    text = html.render(a_scan(1, name=evil))
    assert "<img" not in text
    assert evil in Page(text).text


def test_the_table_has_a_row_for_every_finding_and_no_formula() -> None:
    scan = a_scan(3, name="=HYPERLINK(1)")
    rows = list(csv.DictReader(io.StringIO(table.render(scan))))
    assert [row["usd_per_month"] for row in rows] == ["3.0", "2.0", "1.0"]
    assert [row["kept_because"] for row in rows] == ["", "", "drill"]
    assert not [value for row in rows for value in row.values() if value.startswith("=")]


def test_the_rows_of_the_table_that_are_not_kept_make_the_total() -> None:
    scan = a_scan(5)
    rows = list(csv.DictReader(io.StringIO(table.render(scan))))
    assert [row["kept"] for row in rows] == ["no", "no", "no", "no", "yes"]
    assert sum(float(row["usd_per_month"]) for row in rows if row["kept"] == "no") == scan.totals.usd_per_month
    assert sum(float(row["usd_per_month"]) for row in rows) > scan.totals.usd_per_month


def test_the_sarif_has_a_result_for_every_finding_and_says_what_failed() -> None:
    scan = a_scan(3)
    data = json.loads(sarif.render(scan))
    run = data["runs"][0]
    assert data["version"] == "2.1.0"
    assert [result["ruleId"] for result in run["results"]] == ["disk-free"] * 3
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["disk-free"]
    assert run["results"][0]["partialFingerprints"] == {"modelrigFinding/v1": scan.findings[0].id}
    assert run["results"][2]["suppressions"][0]["justification"] == "drill"
    assert run["invocations"][0]["executionSuccessful"] is True
    bad = json.loads(sarif.render(look({"north": {"ListDisks": denied()}})))["runs"][0]["invocations"][0]
    assert bad["executionSuccessful"] is False
    assert "Denied" in bad["toolExecutionNotifications"][0]["message"]["text"]


@pytest.mark.parametrize(
    ("usd", "complete", "gate", "incomplete", "code"),
    [
        (50.0, True, None, False, 0),
        (50.0, False, None, False, 0),
        (50.0, True, 100.0, False, 0),
        (100.0, True, 100.0, False, 5),
        (50.0, False, 100.0, False, 6),
        (150.0, False, 100.0, False, 5),
        (0.0, False, None, True, 6),
        (0.0, True, None, True, 0),
    ],
)
def test_a_partial_scan_never_passes_a_gate(
    usd: float, complete: bool, gate: float | None, incomplete: bool, code: int
) -> None:
    answer = {"usd_per_month": usd, "complete": complete}
    assert exit_code(answer, fail_on_usd=gate, fail_on_incomplete=incomplete) == code


def test_an_answer_without_the_word_complete_is_not_complete() -> None:
    assert exit_code({}, fail_on_usd=None, fail_on_incomplete=True) == 6


def test_a_suppressed_finding_is_on_the_page_with_its_reason() -> None:
    page = Page(html.render(a_scan(3)))
    assert "Kept on purpose: 1" in page.text
    assert "drill" in page.text
    assert "until 2027-01-01" in page.text


def test_a_page_of_a_bound_says_so() -> None:
    scan = a_scan(1)
    least = replace(scan, findings=(replace(scan.findings[0], bound="at most"),))
    assert "at most" in Page(html.render(least)).text
