"""The sentences of a report: one wording for the chat, the page and the files."""

from __future__ import annotations

from tools.waste.records import Finding, Scan


def money(usd: float) -> str:
    """US dollars to the cent."""
    return f"-${-usd:,.2f}" if usd < 0 else f"${usd:,.2f}"


def headline(scan: Scan) -> str:
    """The first line: what is wasted, or that nothing was found, and how much was looked at."""
    totals = scan.totals
    only = filter_words(scan, 120)
    only = f" ({only})" if only else ""
    if not totals.findings:
        if not scan.coverage.pairs_judged:
            return f"Nothing was looked at{only}, so nothing is known: {coverage_words(scan)}"
        start = "No waste found" if scan.complete else "No waste found in what could be looked at"
        return f"{start}{only}: {coverage_words(scan)}"
    about = f" in {totals.findings:,} resource{'' if totals.findings == 1 else 's'} that nothing uses{only}"
    cost = f"{money(totals.usd_per_month)} a month ({money(totals.usd_per_year)} a year)"
    if not totals.priced:
        cost = "No price is known" if totals.unpriced else "Nothing to pay"
    looked = f"all {len(scan.checks):,} checks" if len(scan.checks) != 1 else "the one check"
    tail = f"; {looked} looked" if scan.complete else "; NOT everything could be looked at"
    return f"{cost}{about}{tail}."


def filter_words(scan: Scan, limit: int = 1_000) -> str:
    """What a scan was narrowed to: "category ai, at least $500 a month"; empty where it looked at everything."""
    parts = [f"{key} {value}" for key, value in scan.filters.items() if key != "min_usd"]
    if least := scan.filters.get("min_usd"):
        parts.append(f"at least ${least} a month")
    words = ", ".join(parts)
    return words if len(words) <= limit else f"{words[: limit - 1].rstrip()}…"


def coverage_words(scan: Scan) -> str:
    """How many pairs of check and place were looked at, did not apply, and failed."""
    cover = scan.coverage
    if not cover.pairs_attempted:
        return "no check ran."
    parts = [f"{cover.pairs_judged:,} of {cover.pairs_attempted:,} pairs of check and place were judged"]
    if cover.pairs_not_applicable:
        parts.append(f"{cover.pairs_not_applicable:,} do{'es' if cover.pairs_not_applicable == 1 else ''} not apply")
    failed = f"{cover.pairs_unread:,} could not be read"
    parts.append(failed if cover.pairs_unread else "none failed")
    words = f"{_several(len(scan.checks), 'check')}, {_several(cover.scopes, 'place')}: {', '.join(parts)}"
    extra = [
        (cover.unread, "unread"), (cover.unresolved, "unresolved"), (cover.too_new, "too new"),
        (cover.managed, "managed elsewhere"),
    ]  # fmt: skip
    counts = ", ".join(f"{count:,} {word}" for count, word in extra if count)
    return f"{words}; {_several(cover.resources, 'resource')} looked at{f' ({counts})' if counts else ''}."


def _several(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def who_words(scan: Scan) -> list[str]:
    """As whom each cloud was scanned."""
    return [f"{who.cloud}: {who.principal} ({who.account_kind}), account {who.account}" for who in scan.who]


def undo(finding: Finding) -> str:
    """What removing it would mean, or why it stays."""
    return f"stays: {finding.stays}" if finding.stays else finding.reversal
