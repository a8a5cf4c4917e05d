"""Findings as SARIF 2.1.0, so that a code host shows them beside the code."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from tools.result import visible
from tools.waste.records import Finding, Scan

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
DEAR = 100.0
"""US dollars a month from which a finding is an error rather than a warning."""


def render(scan: Scan) -> str:
    """One run. What could not be read is a notification, and the run is not successful then."""
    rules = {finding.check: finding for finding in (*scan.findings, *scan.suppressed)}
    notes = [
        {"level": "error", "message": _said(f"{gap.cloud} {gap.location} {gap.check} {gap.call}: {gap.reason}")}
        for gap in (*scan.unread, *scan.unresolved)
    ]
    run = {
        "tool": {
            "driver": {
                "name": "modelrig",
                "rules": [
                    {"id": check, "shortDescription": {"text": finding.title}, "properties": {"kind": finding.kind}}
                    for check, finding in sorted(rules.items())
                ],
            }
        },
        "invocations": [
            {"executionSuccessful": scan.complete, "startTimeUtc": scan.started, "toolExecutionNotifications": notes}
        ],
        "results": [_result(finding) for finding in (*scan.findings, *scan.suppressed)],
        "properties": {
            "usd_per_month": scan.totals.usd_per_month,
            "usd_per_year": scan.totals.usd_per_year,
            "complete": scan.complete,
        },
    }
    whole = {"$schema": SCHEMA, "version": VERSION, "runs": [run]}
    return to_json(whole, indent=1).decode() + "\n"  # with an indent json takes six times as long


def _result(finding: Finding) -> dict[str, Any]:
    cost = "price unknown" if finding.usd_per_month is None else f"${finding.usd_per_month:,.2f} a month"
    found: dict[str, Any] = {
        "ruleId": finding.check,
        "level": _level(finding),
        "message": _said(f"{finding.name}: {finding.reason} ({cost})"),
        "locations": [
            {"logicalLocations": [{"fullyQualifiedName": finding.resource, "name": finding.name, "kind": "resource"}]}
        ],
        "partialFingerprints": {"modelrigFinding/v1": finding.id},
        "properties": {
            "usd_per_month": finding.usd_per_month,
            "bound": finding.bound,
            "billing": finding.billing,
            "cloud": finding.cloud,
            "account": finding.account,
            "location": finding.location,
            "reversal": finding.reversal,
        },
    }
    if finding.suppressed is not None:
        found["suppressions"] = [{"kind": "external", "status": "accepted", "justification": finding.suppressed.reason}]
    return found


def _said(text: str) -> dict[str, str]:
    """A message of text from outside: nothing hidden, and no link, as `[words](address)` is one in SARIF."""
    return {"text": visible(" ".join(text.split())).replace("](", "] (")}


def _level(finding: Finding) -> str:
    if finding.billing in ("free", "prepaid", "booked elsewhere"):
        return "note"
    return "error" if (finding.usd_per_month or 0.0) >= DEAR else "warning"
