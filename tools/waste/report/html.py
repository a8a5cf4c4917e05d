"""One HTML file that needs nothing else: it opens without a network, prints, and is complete with scripts off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path

from tools.figures import duration
from tools.page import shell
from tools.waste.places import by_account
from tools.waste.records import Finding, Gap, Scan
from tools.waste.report.charts import bars
from tools.waste.report.words import coverage_words, headline, money, undo, who_words

_HERE = Path(__file__).parent
_HEADS = (
    ("c1 num", "$ a month", "n"), ("c2", "resource", "t"), ("c3", "where", "t"), ("c4", "why", "t"),
    ("c5 num", "age, d", "n"), ("c6", "if removed", "t"),
)  # fmt: skip


def render(scan: Scan) -> str:
    """The whole page."""
    titles = {finding.check: finding.title for finding in scan.findings}
    parts = [
        f"<h1>{escape(headline(scan))}</h1>",
        *(f'<p class="soft">{escape(line)}</p>' for line in who_words(scan)),
        _state(scan),
        _cards(scan),
    ]
    if scan.findings:
        parts += [
            '<div class="charts">',
            f"<section><h2>By check</h2>{bars('By check', scan.totals.by_check, titles)}</section>",
            f"<section><h2>By place</h2>{bars('By place', scan.totals.by_scope, {})}</section>",
            "</div>",
            _table(scan.findings, by_account(scan)),
        ]
    parts += [
        _kept(scan.suppressed),
        _gaps("Not judged: what is read did not suffice", scan.unresolved),
        _gaps("Too new to be judged", scan.too_new),
        _gaps("Managed by a service, never touched", scan.managed),
        _gaps("Does not apply here", scan.not_applicable),
        _scopes(scan),
        _about(scan),
    ]
    return shell(headline(scan), parts, style=_part("page.css"), script=_part("page.js"))


@cache
def _part(name: str) -> str:
    """The look of the page, and the little that it does with scripts on: sort, filter, count what is shown."""
    return (_HERE / name).read_text("utf-8")


def _state(scan: Scan) -> str:
    if scan.complete and not scan.findings:
        return ""  # the headline says it
    if scan.complete:
        return f'<p class="fine">{escape(coverage_words(scan))}</p>'
    lines = [_gap_line(gap) for gap in (*scan.unread, *scan.unresolved)]
    shown = "".join(f"<li>{escape(line)}</li>" for line in lines[:30])
    more = f"<li>{len(lines) - 30:,} more are in the JSON beside this file</li>" if len(lines) > 30 else ""
    return (
        f'<div class="warn"><b>Not everything could be looked at.</b> {escape(coverage_words(scan))}'
        f"<ul>{shown}{more}</ul></div>"
    )


def _gap_line(gap: Gap) -> str:
    place = " ".join(part for part in (gap.cloud, gap.location) if part)
    count = f"{gap.resources:,} resource{'' if gap.resources == 1 else 's'}" if gap.resources else ""
    names = f" ({', '.join(gap.named[:5])}{', …' if gap.resources > 5 else ''})" if gap.named else ""
    return ": ".join(part for part in (place, gap.check, gap.call, f"{count}{names}", gap.reason) if part)


def _cards(scan: Scan) -> str:
    totals = scan.totals
    cards = [
        ("a month", money(totals.usd_per_month)),
        ("a year", money(totals.usd_per_year)),
        ("findings", f"{totals.findings:,}"),
    ]
    for word, value in (
        ("without a price, not in the total", totals.unpriced),
        ("cost nothing", totals.free),
        ("prepaid", totals.prepaid),
        ("priced with what holds them", totals.booked_elsewhere),
        ("kept on purpose", totals.suppressed),
    ):
        if value:
            cards.append((word, f"{value:,}"))
    return (
        '<div class="cards">'
        + "".join(f'<div class="card"><b>{escape(value)}</b>{escape(word)}</div>' for word, value in cards)
        + "</div>"
    )


def _table(findings: Sequence[Finding], accounts: frozenset[str]) -> str:
    head = "".join(
        f'<th class="{css}" data-k="{kind}" scope="col"><button type="button">{escape(word)}</button></th>'
        for css, word, kind in _HEADS
    )
    rows = "\n".join(_row(finding, accounts) for finding in findings)
    return (
        "<h2>Findings</h2>"
        '<div class="tools"><input id="filter" type="search" placeholder="filter: every word must occur" '
        'aria-label="Filter findings"><span id="shown" class="soft" role="status"></span></div>'
        f'<table id="findings"><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>'
    )


def _row(finding: Finding, accounts: frozenset[str]) -> str:
    usd = finding.usd_per_month
    bound = "" if finding.bound == "exact" or not usd else f"<small>{finding.bound}</small>"
    cost = {"unpriced": "unknown", "free": "free", "prepaid": "prepaid", "booked elsewhere": "elsewhere"}.get(
        finding.billing, ""
    ) or money(usd or 0.0)
    owner = f"<small>{escape(finding.owner)}</small>" if finding.owner else ""
    age = "" if finding.age_days is None else f"{finding.age_days:,.0f}"
    value = "" if usd is None else f"{usd:g}" if usd == int(usd) else f"{usd:.2f}"
    notes = "".join(f"<small>{escape(note)}</small>" for note in finding.notes)
    holder = f"{finding.cloud} {finding.account}" if finding.cloud in accounts else finding.cloud
    return (
        f'<tr data-usd="{value}" data-w="{escape(finding.category)} {escape(finding.account)} {finding.id}">'
        f'<td class="c1 num" data-v="{value}">{escape(cost)}{bound}</td>'
        f'<td class="c2"><b>{escape(finding.name)}</b><small>{escape(finding.check)}</small>'
        f"<code>{escape(finding.resource)}</code></td>"
        f'<td class="c3">{escape(finding.location)}<small>{escape(holder)}</small></td>'
        f'<td class="c4">{escape(finding.reason)}{owner}{notes}</td>'
        f'<td class="c5 num" data-v="{"" if finding.age_days is None else finding.age_days}">{age}</td>'
        f'<td class="c6">{escape(undo(finding))}</td></tr>'
    )


def _kept(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    rows = "".join(
        f"<tr><td><b>{escape(each.name)}</b><small>{escape(each.check)} · {escape(each.resource)}</small></td>"
        f'<td class="num">{escape("unknown" if each.usd_per_month is None else money(each.usd_per_month))}</td>'
        f"<td>{escape(each.suppressed.reason if each.suppressed else '')}"
        f"<small>{escape(each.suppressed.by if each.suppressed else '')}"
        f"{escape(f', until {each.suppressed.expires}' if each.suppressed and each.suppressed.expires else '')}"
        "</small></td></tr>"
        for each in findings
    )
    return _details(
        f"Kept on purpose: {len(findings):,}",
        f'<table class="plain"><thead><tr><th scope="col">resource</th><th class="num" scope="col">$ a month</th>'
        f'<th scope="col">why</th></tr></thead><tbody>{rows}</tbody></table>',
    )


def _gaps(title: str, gaps: Iterable[Gap]) -> str:
    lines = [_gap_line(gap) for gap in gaps]
    if not lines:
        return ""
    more = f"<li>{len(lines) - 200:,} more</li>" if len(lines) > 200 else ""
    shown = "".join(f"<li>{escape(line)}</li>" for line in lines[:200])
    return _details(f"{title}: {len(lines):,}", f"<ul>{shown}{more}</ul>")


def _scopes(scan: Scan) -> str:
    rows = "".join(
        f"<tr><td>{escape(each.cloud)} {escape(each.location)}<small>{escape(each.account)}</small></td>"
        f"<td>{escape(each.ended)}<small>{escape(each.reason)}</small></td>"
        f'<td class="num">{each.judged:,} of {each.attempted:,}</td><td class="num">{each.resources:,}</td>'
        f'<td class="num">{each.findings:,}</td><td class="num">{escape(money(each.usd_per_month))}</td></tr>'
        for each in scan.scopes
    )
    heads = ("place", "ended", "checks", "resources", "findings", "$ a month")
    head = "".join(f'<th scope="col"{" class=num" if n > 1 else ""}>{word}</th>' for n, word in enumerate(heads))
    return _details(
        f"Places looked at: {len(scan.scopes):,}",
        f'<div class="wide"><table class="plain"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>',
    )


def _about(scan: Scan) -> str:
    effort, pricing = scan.effort, scan.pricing
    dates = f"{pricing.oldest} to {pricing.newest}" if pricing.oldest else "none was needed"
    cost = f"${effort.usd:,.5f}".rstrip("0").rstrip(".") if effort.usd else "nothing"
    lines = [
        ("scan", f"{scan.id}, begun {scan.started}"),
        ("prices", f"{pricing.basis}; a month is {pricing.hours_per_month} hours; rates of {dates}"),
        ("not in the prices", ", ".join(pricing.excludes)),
        ("checks", f"{len(scan.checks):,}"),
        ("reads", f"{effort.requests:,}, each with all its pages, in {duration(effort.seconds)}; they cost {cost}"),
    ]
    if scan.below_minimum:
        lines.append(("left out", f"{scan.below_minimum:,} findings below the least amount"))
    lines += [("exception", word) for word in scan.exceptions]
    body = "".join(f"<dt>{escape(word)}</dt><dd>{escape(text)}</dd>" for word, text in lines)
    return f"<h2>About this scan</h2><dl>{body}</dl>"


def _details(title: str, body: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{body}</details>"
