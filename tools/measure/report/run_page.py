"""One run as a report."""

from __future__ import annotations

from collections.abc import Iterator

from tools.measure.measured import headline
from tools.measure.measured_rows import level_rows
from tools.measure.quoted import WORDS
from tools.measure.record import Figure, Run
from tools.measure.report.about import about, took, when
from tools.measure.report.badges import badges, troubles
from tools.measure.report.decision_blocks import decision_section
from tools.measure.report.figures_table import part_sections, range_words
from tools.measure.report.ladder_blocks import rung_chart
from tools.measure.report.loads import decode_behind, load_charts
from tools.measure.report.paced_chart import paced_chart
from tools.measure.report.page import Block, Cards, Cell, Charts, Page, Section, num
from tools.measure.report.questions_table import passphrases, question_sections
from tools.measure.report.toolcall_blocks import toolcall_sections

CARDS = 12


def run_page(run: Run) -> Page:
    """The whole report of one run, from its record alone."""
    charts = [
        *load_charts(run),
        *(each for each in (paced_chart(run), decode_behind(run), rung_chart(run)) if each is not None),
    ]
    blocks: list[Block] = [
        troubles(run),
        Cards(tuple(_cards(run))),
        Charts(tuple(charts)),
        *decision_section((run,)),
        *toolcall_sections((run,)),
    ]
    long = run.part("longcontext")
    if long and (table := passphrases(long)):
        blocks.append(Section("Passphrases in long prompts", (table,)))
    blocks += [*part_sections(run), *question_sections(run), about(run)]
    return Page(headline(run, tuple(level_rows(run))), (lead(run),), tuple(badges(run)), tuple(blocks))


def lead(run: Run) -> str:
    """Who was measured, when, on what."""
    if run.quoted is not None:
        return f"{WORDS}: {run.quoted.source} ({run.quoted.date})"
    engine = f"{run.engine.engine} {run.engine.version}".strip() if run.engine else ""
    hardware = run.hardware
    machine = ", ".join(hardware.accelerators) or hardware.cpu or hardware.instance_type if hardware else ""
    variant = f"variant {run.subject.variant}" if run.subject.variant else ""
    parts = [run.subject.model, run.subject.ref, variant, engine, machine, when(run), f"{run.profile} profile"]
    return " · ".join([*(part for part in parts if part), *took(run)])


def _cards(run: Run) -> Iterator[tuple[Cell, str]]:
    main = [figure for part in run.parts for figure in part.figures if figure.main and not _latency(figure)]
    for figure in main[:CARDS]:
        key = f"{run.id}|{figure.key}|value"
        yield num(figure.value, key, small=range_words(figure) or figure.why), figure.label
    if run.costs:
        most = max(run.costs, key=lambda row: row.at_once)  # the level of the headline: two costs would be of two loads
        cell = num(most.usd_per_million_output, f"{run.id}|cost.{most.at_once}")
        yield Cell(f"${cell.text}", cell.value, cell.key), f"per million output tokens at {most.at_once} at once"


def _latency(figure: Figure) -> bool:
    return figure.key.startswith("load.") and figure.unit == "ms"
