"""The page and the table of a scan that is odd: incomplete, hostile, bounded, with savings, with a bill."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from tests.tools.waste.toy import days_ago, disk, look
from tools.page import line
from tools.waste import summing
from tools.waste.records import BillLine, BillView, Finding, Gap, Scan
from tools.waste.report import csv as table
from tools.waste.report import html, sarif
from tools.waste.report.gaps import GROUPS

BODY = "unexpected: 500: <!doctype html> <html lang=en> <title>500 Internal Server Error</title> <h1>Sorry</h1>"
HIDDEN = "a\u202etxt.exe\x1b[2J\nsecond line"


def a_scan(*changes: Mapping[str, Any]) -> Scan:
    """A scan of as many disks as there are changes, each finding changed so."""
    disks = [disk(f"d{n}", size=10 * (n + 1), created=days_ago(10 + n)) for n in range(len(changes))]
    scan = look({"north": {"ListDisks": {"disks": disks}}, "south": {}})
    found = tuple(replace(each, **change) for each, change in zip(scan.findings, changes, strict=True))
    return replace(scan, findings=found, totals=summing.totals(found, ()))


def failed(*gaps: Gap) -> str:
    return html.render(replace(a_scan({}), complete=False, unread=gaps))


def gap(place: str, check: str, reason: str = BODY) -> Gap:
    return Gap("toy", "42", place, check, reason, f"toy.List{check}")


def text(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.partition("<main>")[2].partition("<script>")[0])).split())


def test_what_failed_alike_is_one_line_without_the_web_page_that_was_answered() -> None:
    page = failed(*(gap(f"place-{n}", f"check-{m}") for n in range(3) for m in range(25)))
    words = text(page)
    assert page.count("<li><b>75 x</b> toy: unexpected: 500") == 1
    assert "doctype" not in words
    assert "Sorry" not in words
    assert "check-4 and 20 more" in words


def test_an_incomplete_scan_says_so_with_counts_in_one_line_above_its_amounts_and_folds_the_rest() -> None:
    page = failed(*(gap("north", f"check-{m}") for m in range(9)), gap("south", "check-0", "permission missing: no"))
    above, _, below = page.partition('<div class="cards">')
    summary = re.search(r'<details class="warn"><summary>(.*?)</summary>', above)
    assert below
    assert summary
    assert text(f"<main>{summary[1]}").startswith("Not everything could be looked at: 10 reads missing. 9 x unexpected")
    assert "<li>" not in above.partition("<details")[0]


def test_a_complete_scan_has_no_warning() -> None:
    assert 'class="warn"' not in html.render(a_scan({}))


def test_where_nothing_was_judged_the_reasons_are_not_folded() -> None:
    scan = a_scan()
    nothing = replace(scan, complete=False, unread=(gap("", ""),), coverage=replace(scan.coverage, pairs_judged=0))
    assert '<details class="warn" open>' in html.render(nothing)


def test_a_page_of_a_thousand_different_reasons_is_bounded_and_counts_them() -> None:
    words = "abcdefghij"
    page = failed(*(gap("north", "c", f"{a}{b}{c} went wrong") for a in words for b in words for c in words))
    assert page.count("went wrong") == GROUPS + 1
    assert f"{1000 - GROUPS} more reasons" in page
    assert "1,000 reads missing" in page


def test_what_hides_or_turns_text_is_written_out_in_every_file() -> None:
    scan = a_scan({"name": HIDDEN, "reason": HIDDEN, "resource": HIDDEN})
    files = (html.render(scan).partition("<main>")[2], table.render(scan), json.loads(sarif.render(scan))["runs"][0])
    for each in files[:2]:
        assert not re.search("[\u202e\x1b]", str(each))
        assert "a\\u202etxt.exe\\x1b[2J second line" in str(each)
    assert files[2]["results"][0]["message"]["text"].startswith("a\\u202etxt.exe\\x1b[2J second line: ")  # type: ignore[index]


def test_a_link_in_a_name_is_none_in_a_message_of_the_sarif() -> None:
    message = json.loads(sarif.render(a_scan({"name": "[x](http://evil)"})))["runs"][0]["results"][0]["message"]["text"]
    assert "](" not in message


def test_a_long_name_is_cut_in_the_table_of_the_page_and_whole_in_the_csv() -> None:
    scan = a_scan({"name": "n" * 250})
    assert "n" * 101 not in html.render(scan)
    assert f"<b>{'n' * 99}…</b>" in html.render(scan)
    assert "n" * 250 in table.render(scan)


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        (" +1", "'+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3", "'-2+3"),
        ("\t=1", "'=1"),
        ("\uff1d1", "'\uff1d1"),
        ("a;=1", "a;'=1"),
        ("first\n=1", "first =1"),
        ("a-b=c", "a-b=c"),
        ("disk 4; 30 days", "disk 4; 30 days"),
    ],
)
def test_no_cell_of_the_csv_begins_a_formula_and_plain_text_stays(value: str, cell: str) -> None:
    (row,) = csv.DictReader(io.StringIO(table.render(a_scan({"name": value}))))
    assert row["name"] == cell


def rows(scan: Scan) -> list[str]:
    return [text(f"<main>{row}") for row in re.findall(r"<tr data-usd.*?</tr>", html.render(scan), re.DOTALL)]


def test_a_saving_is_marked_and_is_not_called_a_removal() -> None:
    saved, removed = rows(a_scan({"billing": "saving"}, {}))
    assert saved.startswith("$2.00 saving ")
    assert saved.endswith("changed, not removed: can be undone")
    assert "saving" not in removed
    assert removed.endswith(" can be undone")


def test_a_bound_stands_beside_the_amounts_of_tile_bar_and_row() -> None:
    scan = a_scan({"bound": "at most"}, {})
    page = text(html.render(scan))
    assert "$3.00 a month of it $2.00 at most $36.00 a year" in page
    assert "2 · $3.00 at most" in page
    assert [row.startswith(start) for row, start in zip(rows(scan), ("$2.00 at most", "$1.00 d0"), strict=True)] == [
        True, True,
    ]  # fmt: skip
    assert "at most" not in text(html.render(a_scan({}, {})))


BILL = BillView(30, 12.0, 5.0, 0.01, (BillLine("toy", "<b>Queues</b>", 7.0),))


@pytest.mark.parametrize(
    ("bill", "words"),
    [
        (BILL, "and $7.00 for others; asking cost $0.01. Looked at by no check: toy <b>Queues</b>: $7.00"),
        (replace(BILL, usd=0.0, covered_usd=0.0, not_covered=()), "The bill of 30 days: $0.00,"),
        (replace(BILL, usd=0.0, covered_usd=0.0, not_covered=(), problem="denied"), "The bill was not read: denied."),
        (None, ""),
    ],
)  # fmt: skip
def test_the_page_says_what_the_bill_shows_also_where_that_is_nothing(bill: BillView | None, words: str) -> None:
    page = text(html.render(replace(a_scan({}), bill=bill)))
    assert words in page
    assert ("On the bill" in page) == (bill is not None)


def test_a_line_of_text_from_outside_is_one_line_escaped_and_cut() -> None:
    assert line('<a href="x">\n b', 0) == "&lt;a href=&quot;x&quot;&gt; b"
    assert line("abcdef", 4) == "abc…"
    assert line("abcd", 4) == "abcd"


def test_a_finding_has_no_field_that_reaches_the_page_unescaped() -> None:
    evil = "<i>"
    words = {name: evil for name, kind in Finding.__annotations__.items() if kind == "str" and name != "id"}
    scan = a_scan({**words, "bound": "exact", "billing": "billed", "notes": (evil,)})
    assert evil not in html.render(replace(scan, unread=(Gap(*[evil] * 6),), complete=False))
