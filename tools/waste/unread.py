"""What could not be looked at, by its reason: a service that fails in every region is one line and not fifty."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tools.figures import few
from tools.waste.records import Gap

_PAGE = re.compile(r"(?is)b?['\"]?\s*<(?:!doctype|html|\?xml|head|body)\b.*")
_TITLE = re.compile(r"(?is)<title>(.*?)(?:</|\\n|\n|$)")
_NAME = re.compile(r"(?i)\b[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\b|\d{12}")
"""Numbers of requests and of accounts: what differs between two answers that say the same."""
_ACTION = re.compile(r"[\w.-]+[:.]…")
"""A permission or an operation whose name is left out already."""


@dataclass(frozen=True)
class Same:
    """Gaps of one cloud with one reason. `times` is how many there are, `resources` how many single ones they name."""

    cloud: str
    reason: str
    times: int
    calls: tuple[str, ...]
    checks: tuple[str, ...]
    places: tuple[str, ...]
    resources: int
    named: tuple[str, ...]

    @property
    def where(self) -> str:
        """`aws us-east-1`, `aws us-east-1, eu-west-1 and 15 more`."""
        return f"{self.cloud} {few(self.places, 2)}".strip()

    @property
    def what(self) -> str:
        """`ebs-unattached ec2.DescribeVolumes`; `sagemaker.ListApps and 3 more calls, for 5 checks`; `everything`."""
        checks = self.checks[0] if len(self.checks) == 1 else f"for {len(self.checks)} checks" if self.checks else ""
        if len(self.calls) < 2:
            call = "".join(self.calls)
            words = (checks, call) if len(self.checks) < 2 else (f"{call}," if call else "", checks)
            return " ".join(word for word in words if word) or "everything"
        more = len(self.calls) - 1
        return f"{self.calls[0]} and {more} more call{'' if more == 1 else 's'}{f', {checks}' if checks else ''}"


def by_reason(gaps: Iterable[Gap]) -> tuple[Same, ...]:
    """The gaps, those with one reason together, the most frequent first. A reason is the same whatever place, call,
    account or request it names."""
    groups: dict[tuple[str, str], list[Gap]] = {}
    for gap in gaps:
        groups.setdefault((gap.cloud, _bare(gap)), []).append(gap)
    found = [_same(cloud, group) for (cloud, _), group in groups.items()]
    return tuple(sorted(found, key=lambda each: (-each.times, each.cloud, each.calls)))


def plain(reason: str) -> str:
    """A reason without the web page that a server answered with: its title stays."""
    page = _PAGE.search(reason)
    if page is None:
        return reason
    title = _TITLE.search(page[0])
    word = f"a web page: {title[1].strip()}" if title and title[1].strip() else "a web page"
    return f"{reason[: page.start()].rstrip()} {word}".lstrip()


def _bare(gap: Gap) -> str:
    words = plain(gap.reason)
    for name in sorted({gap.location, gap.account, gap.call, gap.call.partition(".")[2]} - {""}, key=len, reverse=True):
        words = words.replace(name, "…")
    return _ACTION.sub("…", _NAME.sub("…", words))


def _same(cloud: str, gaps: Sequence[Gap]) -> Same:
    def each(words: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(word for word in words if word))

    return Same(
        cloud,
        plain(gaps[0].reason),
        len(gaps),
        each(gap.call for gap in gaps),
        each(gap.check for gap in gaps),
        each(gap.location for gap in gaps),
        sum(gap.resources for gap in gaps),
        each(name for gap in gaps for name in gap.named),
    )
