"""One HTML file that needs nothing else: it opens without a network, prints, and is complete with scripts off."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tools.figures import duration
from tools.page import line, shell
from tools.waste.places import by_account
from tools.waste.records import Finding, Scan
from tools.waste.report import gaps
from tools.waste.report.charts import bars
from tools.waste.report.words import bill_words, bound_words, headline, money, undo, who_words

NAME, RESOURCE, WHY = 100, 300, 400
"""Characters of a name, of a resource's id and of a sentence in the table; the JSON beside the page has all of them."""
_HERE = Path(__file__).parent
_HEADS = (
    ("c1 num", "$ a month", "n"), ("c2", "resource", "t"), ("c3", "where", "t"), ("c4", "why", "t"),
    ("c5 num", "age, d", "n"), ("c6", "undo", "t"),
)  # fmt: skip


def render(scan: Scan) -> str:
    """The whole page."""
    titles = {finding.check: finding.title for finding in scan.findings}
    parts = [
        f"<h1>{line(headline(scan))}</h1>",
        *(f'<p class="soft">{line(words, WHY)}</p>' for words in who_words(scan)),
        gaps.state(scan),
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
        _bill(scan),
        _kept(scan.suppressed),
        gaps.folded("Too new to be judged", scan.too_new),
        gaps.folded("Managed by a service, never touched", scan.managed),
        gaps.folded("Does not apply here", scan.not_applicable),
        _scopes(scan),
        _about(scan),
    ]
    return shell(headline(scan), parts, style=_part("page.css"), script=_part("page.js"))


@cache
def _part(name: str) -> str:
    """The look of the page, and the little that it does with scripts on: sort, filter, count what is shown."""
    return (_HERE / name).read_text("utf-8")


def _cards(scan: Scan) -> str:
    totals = scan.totals
    usd = totals.usd_per_month
    bound = bound_words(usd, totals.usd_per_month_at_most, totals.usd_per_month_at_least)
    cards = [
        ("a month", money(usd), bound),
        ("a year", money(totals.usd_per_year), "" if bound.startswith("of it") else bound),
        ("findings", f"{totals.findings:,}", ""),
    ]
    if totals.saving:
        cards.append((f"of it by changing {totals.saving:,} in use", money(totals.saving_usd_per_month), ""))
    for word, value in (
        ("without a price, not in the total", totals.unpriced),
        ("cost nothing", totals.free),
        ("prepaid", totals.prepaid),
        ("priced with what holds them", totals.booked_elsewhere),
        ("kept on purpose", totals.suppressed),
    ):
        if value:
            cards.append((word, f"{value:,}", ""))
    tiles = (
        f'<div class="card"><b>{line(value)}</b>{line(word)}{f"<small>{line(more)}</small>" if more else ""}</div>'
        for word, value, more in cards
    )
    return f'<div class="cards">{"".join(tiles)}</div>'


def _table(findings: Sequence[Finding], accounts: frozenset[str]) -> str:
    head = "".join(
        f'<th class="{css}" data-k="{kind}" scope="col"><button type="button">{line(word)}</button></th>'
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
    marks = ("saving" if finding.billing == "saving" else "", finding.bound if finding.bound != "exact" and usd else "")
    cost = {"unpriced": "unknown", "free": "free", "prepaid": "prepaid", "booked elsewhere": "elsewhere"}.get(
        finding.billing, ""
    ) or money(usd or 0.0)
    age = "" if finding.age_days is None else f"{finding.age_days:,.0f}"
    value = "" if usd is None else f"{usd:g}" if usd == int(usd) else f"{usd:.2f}"
    notes = "".join(_small(note, WHY) for note in (finding.owner, *finding.notes))
    holder = f"{finding.cloud} {finding.account}" if finding.cloud in accounts else finding.cloud
    return (
        f'<tr data-usd="{value}" data-w="{line(finding.category)} {line(finding.account)} {finding.id}">'
        f'<td class="c1 num" data-v="{value}">{cost}{"".join(_small(mark) for mark in marks)}</td>'
        f'<td class="c2"><b>{line(finding.name, NAME)}</b><small>{line(finding.check)}</small>'
        f"<code>{line(finding.resource, RESOURCE)}</code></td>"
        f'<td class="c3">{line(finding.location)}<small>{line(holder)}</small></td>'
        f'<td class="c4">{line(finding.reason, WHY)}{notes}</td>'
        f'<td class="c5 num" data-v="{"" if finding.age_days is None else finding.age_days}">{age}</td>'
        f'<td class="c6">{line(undo(finding), WHY)}</td></tr>'
    )


def _small(words: str, limit: int = 0) -> str:
    return f"<small>{line(words, limit)}</small>" if words else ""


def _kept(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    rows = "".join(
        f"<tr><td><b>{line(each.name, NAME)}</b>{_small(f'{each.check} · {each.resource}', RESOURCE)}</td>"
        f'<td class="num">{"unknown" if each.usd_per_month is None else money(each.usd_per_month)}</td>'
        f"<td>{_because(each)}</td></tr>"
        for each in findings
    )
    return _details(
        f"Kept on purpose: {len(findings):,}",
        f'<table class="plain"><thead><tr><th scope="col">resource</th><th class="num" scope="col">$ a month</th>'
        f'<th scope="col">why</th></tr></thead><tbody>{rows}</tbody></table>',
    )


def _because(finding: Finding) -> str:
    kept = finding.suppressed
    if kept is None:
        return ""
    return line(kept.reason, WHY) + _small(f"{kept.by}{f', until {kept.expires}' if kept.expires else ''}", WHY)


def _bill(scan: Scan) -> str:
    """What the bill shows, also where that is nothing or could not be read; "" where it was not asked for."""
    words = bill_words(scan)
    if scan.bill is None or not words:
        return ""
    others = "".join(
        f"<li>{line(each.cloud)} {line(each.service, NAME)}: {money(each.usd)}</li>" for each in scan.bill.not_covered
    )
    return (
        f"<h2>On the bill</h2><p>{line(words)}</p>{f'<p>Looked at by no check:</p><ul>{others}</ul>' if others else ''}"
    )


def _scopes(scan: Scan) -> str:
    rows = "".join(
        f"<tr><td>{line(each.cloud)} {line(each.location)}{_small(each.account)}</td>"
        f"<td>{line(each.ended)}{_small(each.reason, WHY)}</td>"
        f'<td class="num">{each.judged:,} of {each.attempted:,}</td><td class="num">{each.resources:,}</td>'
        f'<td class="num">{each.findings:,}</td><td class="num">{money(each.usd_per_month)}</td></tr>'
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
    dates = f"rates of {pricing.oldest} to {pricing.newest}" if pricing.oldest else "no rate was needed"
    cost = f"${effort.usd:,.5f}".rstrip("0").rstrip(".") if effort.usd else "nothing"
    lines = [
        ("scan", f"{scan.id}, begun {scan.started}"),
        ("prices", f"{pricing.basis}; a month is {pricing.hours_per_month} hours; {dates}"),
        ("not in the prices", ", ".join(pricing.excludes)),
        ("checks", f"{len(scan.checks):,}"),
        ("reads", f"{effort.requests:,}, each with all its pages, in {duration(effort.seconds)}; they cost {cost}"),
    ]
    if scan.below_minimum:
        lines.append(("left out", f"{scan.below_minimum:,} findings below the least amount"))
    lines += [("exception", word) for word in scan.exceptions]
    body = "".join(f"<dt>{line(word)}</dt><dd>{line(text)}</dd>" for word, text in lines)
    return f"<h2>About this scan</h2><dl>{body}</dl>"


def _details(title: str, body: str) -> str:
    return f"<details><summary>{line(title)}</summary>{body}</details>"
