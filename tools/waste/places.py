"""Where a finding is, in words: its location, and its account where the places of a scan are accounts.

In Google Cloud and Azure one scan looks at many projects or subscriptions, which all have the same regions.
"""

from __future__ import annotations

from tools.waste.records import Finding, Scan


def by_account(scan: Scan) -> frozenset[str]:
    """The clouds of a scan whose scopes are accounts of their own."""
    return frozenset(each.cloud for each in scan.scopes if each.account and each.account == each.location)


def where(finding: Finding, accounts: frozenset[str]) -> str:
    """`aws eu-west-1`, or `gcp my-project us-west4-a`."""
    account = finding.account if finding.cloud in accounts else ""
    return " ".join(part for part in (finding.cloud, account, finding.location) if part)
