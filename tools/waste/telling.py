"""What an answer about a scan says beside its figures, so that every count can be worked out from the others."""

from __future__ import annotations

from collections.abc import Sequence

from tools.figures import few
from tools.waste.grouping import Group
from tools.waste.records import Scan
from tools.waste.report.words import amount_words, bill_words, coverage_words, money, several
from tools.waste.summing import joined

EXCEPTIONS = 5


def notes(scan: Scan, hidden: Sequence[Group], min_usd: float, reasons: int, reads: int, limit: int) -> tuple[str, ...]:
    """The notes of a scan's answer. `min_usd` left the `hidden` rows out; `reads` of the `reasons` are shown, and
    `limit` of the checks by their name."""
    totals = scan.totals
    checks = len(totals.by_check)
    rest = f"; the last of {limit + 1} rows holds {checks - limit} of them" if checks > limit else ""
    found = f"{several(checks, 'check')} found something{rest}."
    said = [f"{coverage_words(scan)} {found}" if totals.findings else ""]
    if scan.not_run:
        one = len(scan.not_run) == 1
        said.append(
            f"{several(len(scan.not_run), 'check')} of global services did not run ({few(scan.not_run, 3)}): "
            f"the scopes asked for hold no global; add it to look at {'that' if one else 'those'} too."
        )
    said.append(_unread(scan, reasons, reads))
    if totals.unpriced:
        many = totals.unpriced > 1
        said.append(f"{totals.unpriced:,} {'findings have' if many else 'finding has'} no price and "
                    f"{'are' if many else 'is'} not in the total.")  # fmt: skip
    if totals.saving and totals.saving < totals.findings:
        usd, used = money(totals.saving_usd_per_month), several(totals.saving, "resource")
        said.append(f"{usd} of the total is what {used} in use would cost less as something else.")
    if totals.suppressed:
        usd = money(totals.suppressed_usd_per_month)
        said.append(f"{totals.suppressed:,} kept on purpose ({usd} a month), not counted.")
    if hidden:
        sums = joined(each.sum for each in hidden)
        usd = amount_words(sums.usd_per_month, sums.at_most, sums.at_least)
        said.append(f"{several(sums.findings, 'finding')} in rows below ${min_usd:g} a month, {usd} together, "
                    "are in every sum and file, and not listed here.")  # fmt: skip
    said += [f"Exception: {word}{'' if word.endswith('?') else '.'}" for word in scan.exceptions[:EXCEPTIONS]]
    if (more := len(scan.exceptions) - EXCEPTIONS) > 0:
        said.append(f"{more:,} more on exceptions {'are' if more > 1 else 'is'} in the files.")
    said.append(bill_words(scan))
    return tuple(word for word in said if word)


def _unread(scan: Scan, reasons: int, reads: int) -> str:
    """What could not be read, in the counts of the coverage, and for how many reasons."""
    cover = scan.coverage
    whole = [gap for gap in scan.unread if gap.check and not gap.resources]
    pairs = {(gap.cloud, gap.account, gap.location, gap.check) for gap in whole}
    counts = [
        (cover.pairs_unread, "pair", " of check and place"),
        (len(pairs) - cover.pairs_unread, "pair", " in part"),
        (cover.unread + cover.unresolved, "single resource", ""),
    ]
    words = ", ".join(f"{several(count, word)}{rest}" for count, word, rest in counts if count > 0)
    if not reasons or not words:
        return ""
    shown = f"; {reads} are shown, the files have all" if reasons > reads else ""
    return f"Not read: {words}, for {several(reasons, 'reason')}{shown}."


def showing(groups: Sequence[Group], shown: Sequence[Group]) -> str:
    """How many rows and findings are shown of how many; "" where each finding is a row of its own and shown."""
    every, here = sum(each.count for each in groups), sum(each.count for each in shown)
    if every == len(shown):
        return ""
    rows = (
        several(len(shown), "row") if len(shown) == len(groups) else f"{len(shown):,} of {several(len(groups), 'row')}"
    )
    return f"{rows}, {f'{every:,}' if here == every else f'{here:,} of {every:,}'} findings"


def next_step(scan: Scan, groups: Sequence[Group], chosen: Sequence[Group]) -> str:
    """The calls that go on from a scan, with ids that they take; where nothing was looked at, how it can be."""
    if not scan.complete and not scan.coverage.pairs_judged:
        return "check_setup says what is missing and how to sign in; then the same call again."
    rows = chosen or groups
    if not rows:
        return ""
    going = next((each.id for each in rows if each.goes), "")
    plan = f', or plan_cleanup(scan="{scan.id}", findings=["{going}", …])' if going else ""
    return f'explain_finding("{rows[0].id}"){plan}.'
