"""Findings as a table for spreadsheets: one row each, also those that are kept, with plain numbers."""

from __future__ import annotations

import csv
import io

from tools.waste.records import Finding, Scan

COLUMNS = (
    "finding", "cloud", "account", "location", "check", "category", "kind", "name", "resource", "usd_per_month",
    "bound", "billing", "reason", "created", "age_days", "owner", "reversal", "removable", "stays", "also",
    "booked_with", "kept_by", "kept_because", "kept_until",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(scan: Scan) -> str:
    """The whole table. Text that a spreadsheet would take for a formula gets an apostrophe before it."""
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
        " ".join(finding.also), finding.booked_with, kept.by if kept else "", kept.reason if kept else "",
        kept.expires if kept else "",
    )  # fmt: skip


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
