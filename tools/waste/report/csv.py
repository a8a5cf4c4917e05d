"""Findings as a table for spreadsheets: one row each, with plain numbers. Those that are kept are in it too, and in no
total: `kept` is "yes" for them, so that the sum of the others is the scan's."""

from __future__ import annotations

import csv
import io
import re

from tools.result import visible
from tools.waste.records import Finding, Scan

COLUMNS = (
    "finding", "cloud", "account", "location", "check", "category", "kind", "name", "resource", "usd_per_month",
    "bound", "billing", "reason", "created", "age_days", "owner", "reversal", "removable", "stays", "also",
    "booked_with", "kept", "kept_by", "kept_because", "kept_until",
)  # fmt: skip
_FORMULA = re.compile(r"(^|;)(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Where a spreadsheet begins a formula: in a cell, or after a semicolon, which parts cells in half of the world. The
last four are the full-width forms of the same signs."""


def render(scan: Scan) -> str:
    """The whole table. Text is one line without hidden characters; what a spreadsheet would take for a formula has an
    apostrophe before it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for finding in (*scan.findings, *scan.suppressed):
        writer.writerow([_cell(value) for value in _row(finding)])
    return out.getvalue()


def _row(finding: Finding) -> tuple[object, ...]:
    kept = finding.suppressed
    return (
        finding.id, finding.cloud, finding.account, finding.location, finding.check, finding.category, finding.kind,
        finding.name, finding.resource, finding.usd_per_month, finding.bound, finding.billing, finding.reason,
        finding.created, finding.age_days, finding.owner, finding.reversal, finding.removable, finding.stays,
        " ".join(finding.also), finding.booked_with, "yes" if kept else "no", kept.by if kept else "",
        kept.reason if kept else "", kept.expires if kept else "",
    )  # fmt: skip


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return "" if value is None else value
    text = " ".join(value.split())
    if not (text.isascii() and text.isprintable()):
        text = visible(text)
    return _FORMULA.sub(r"\1'", text) if ";" in text or not text[:1].isalnum() else text
