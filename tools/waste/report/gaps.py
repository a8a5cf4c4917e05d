"""What could not be looked at, on the page: grouped by its reason and bounded. All of it is in the JSON."""

from __future__ import annotations

from collections.abc import Sequence

from tools.page import line
from tools.waste.records import Gap, Scan
from tools.waste.report.words import coverage_words, several
from tools.waste.unread import Same, by_reason

GROUPS, NAMES, REASON, WORD = 20, 5, 240, 80
"""Groups in a list, names of each sort in a group, characters of a reason and of a name."""


def state(scan: Scan) -> str:
    """The line above the amounts that says whether everything was looked at; what was not is folded behind it."""
    if scan.complete:
        # Where nothing was found the headline says it.
        return f'<p class="fine">{line(coverage_words(scan))}</p>' if scan.findings else ""
    gaps = (*scan.unread, *scan.unresolved)
    same = by_reason(gaps)
    first = f"{same[0].times:,} x {line(same[0].reason, WORD)}" if same else "nothing says why"
    more = f", and {several(len(same) - 1, 'more reason')}" if len(same) > 1 else ""
    opened = "" if scan.coverage.pairs_judged else " open"
    return (
        f'<details class="warn"{opened}><summary>Not everything could be looked at: {_counted(gaps)} missing. '
        f"<span>{first}{more}. What they would show is in no amount here.</span></summary>"
        f"<p>{line(coverage_words(scan))}</p>{_list(same)}</details>"
    )


def folded(title: str, gaps: Sequence[Gap]) -> str:
    """One sort of gaps behind a line that counts them; "" where there is none."""
    if not gaps:
        return ""
    return f"<details><summary>{line(title)}: {_counted(gaps)}</summary>{_list(by_reason(gaps))}</details>"


def _counted(gaps: Sequence[Gap]) -> str:
    """How much is missing: whole reads, and single resources."""
    reads, resources = sum(not gap.resources for gap in gaps), sum(gap.resources for gap in gaps)
    words = (several(reads, "read") if reads else "", several(resources, "resource") if resources else "")
    return " and ".join(word for word in words if word) or "something"


def _list(same: Sequence[Same]) -> str:
    shown = "".join(_item(each) for each in same[:GROUPS])
    more = f"<li>{several(len(same) - GROUPS, 'more reason')}</li>" if len(same) > GROUPS else ""
    cut = more or any(each.times > NAMES or each.resources > NAMES for each in same)
    return f"<ul>{shown}{more}</ul>{'<p><small>Each is in the JSON beside this file.</small></p>' if cut else ''}"


def _item(same: Same) -> str:
    lists = (
        ("", same.places, 0),
        ("checks ", same.checks, 0),
        ("calls ", same.calls, 0),
        (f"{several(same.resources, 'resource')} ", same.named, same.resources),
    )
    about = "; ".join(f"{word}{_some(names, of)}" for word, names, of in lists if names)
    times = f"<b>{same.times:,} x</b> " if same.times > 1 else ""
    reason = ": ".join(part for part in (line(same.cloud), line(same.reason, REASON)) if part)
    return f"<li>{times}{reason}<small>{about}</small></li>"


def _some(names: Sequence[str], of: int = 0) -> str:
    """The first few names as markup; `of` is how many there are where not all are named."""
    words = ", ".join(line(name, WORD) for name in names[:NAMES])
    more = max(of, len(names)) - min(len(names), NAMES)
    return f"{words} and {more:,} more" if more else words
