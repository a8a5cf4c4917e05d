"""What a reader must see before any number, and text from outside that stays text."""

from __future__ import annotations

import re

import pytest

from tests.tools.measure.report import samples
from tests.tools.measure.report.reading import Reader
from tools.measure.comparing.compare import compare
from tools.measure.ladder.counts import lost
from tools.measure.ladder.from_runs import ladders_of
from tools.measure.quoted import quoted_run
from tools.measure.record import Caution, Departure, PlanCited, Run
from tools.measure.report import html, markdown
from tools.measure.report.comparison_page import comparison_page
from tools.measure.report.page import Page
from tools.measure.report.run_page import run_page


def page_of(*runs: Run) -> Page:
    return run_page(runs[0]) if len(runs) == 1 else comparison_page(compare(runs), runs)


def read(*runs: Run) -> Reader:
    return Reader(html.render(page_of(*runs)))


def test_a_complete_run_says_so_and_has_nothing_to_warn_of() -> None:
    page = read(samples.full("qat"))
    assert (page.badges, page.warnings) == (["complete", "exploratory"], [])
    assert page.text.startswith(
        "Decodes 105.1 tokens/s for one reply, serves 1,911 tokens/s at 64 at once, waits included; $0.16 per million"
    )


def test_an_incomplete_run_with_warnings_shows_both_before_any_number() -> None:
    text = html.render(page_of(samples.warned(samples.full("qat"))))
    page = Reader(text)
    assert page.badges == ["INCOMPLETE", "1 warning", "exploratory"]
    assert page.warnings == [
        "Before reading the numbers",
        "incomplete; missing: answers; it ended with: cut",
        "The same piece of work took 40 % longer after the run than before it.",
    ]
    assert text.index("Before reading the numbers") < text.index("<data ")


def test_a_comparison_names_the_run_that_is_not_whole() -> None:
    page = read(samples.full("bf16", 0.5), samples.warned(samples.full("qat")))
    assert page.badges == ["qat INCOMPLETE", "warnings in qat", "exploratory"]
    assert page.warnings[1] == "qat: incomplete; missing: answers; it ended with: cut"


def test_a_run_without_a_price_has_no_cost_and_no_dollar_on_its_page() -> None:
    page = read(samples.full("free", price=None))
    assert page.badges == ["complete", "exploratory", "no price known"]
    assert "$" not in page.text
    assert "price not known, so no cost is" in page.text


def test_a_quick_look_says_that_it_is_one() -> None:
    page = read(samples.full("qat", profile="quick"))
    assert "quick profile: shows large differences only" in page.badges
    assert page.warnings[1].startswith("Quick profile: replies of 8 and 72 tokens")


@pytest.mark.parametrize("count", [1, 2])
def test_text_from_outside_stays_text(count: int) -> None:
    runs = [samples.hostile(samples.full("qat")), samples.full("bf16", 0.5)][:count]
    page = read(*runs)
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert (page.handlers, page.loads) == ([], [])
    assert samples.HOSTILE in page.text
    assert all("<script" not in chart.label or "script" not in page.tags for chart in page.charts)


def test_a_hostile_rung_and_question_stay_text_in_the_drawing() -> None:
    first, second = samples.rung("BF16", 0, 30), samples.rung("Q8_0", 1, 30)
    runs = []
    for run, name in ((first, "BF16"), (second, samples.HOSTILE)):
        part = run.parts[0]
        asked = [
            each.model_copy(update={"id": samples.HOSTILE if n == 3 else each.id}) for n, each in enumerate(part.items)
        ]
        engine = samples.engine("m", quantization=name)
        runs.append(
            run.model_copy(update={"engine": engine, "parts": (part.model_copy(update={"items": tuple(asked)}),)})
        )
    page = read(*runs)
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert samples.HOSTILE in {row for chart in page.charts for row in chart.rows}


def test_letters_that_turn_the_order_of_what_is_read_are_written_out() -> None:
    run = samples.full("qat")
    turned = run.model_copy(update={"subject": run.subject.model_copy(update={"model": "a\u202eb"})})
    text = html.render(page_of(turned))
    assert "\u202e" not in text
    assert "a\\u202eb" in text


def test_a_page_asks_for_nothing_and_runs_nothing() -> None:
    text = html.render(page_of(samples.full("qat")))
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in text
    assert "script" not in re.sub(r"<meta[^>]*>", "", text)
    assert not re.search(r"https?:|url\(|@import", text)


def test_what_differs_stands_before_any_figure() -> None:
    text = html.render(page_of(samples.full("bf16", 0.5), samples.full("qat")))
    assert text.index("What differs") < text.index("<data ")


def test_markdown_has_the_same_numbers_and_nothing_that_acts() -> None:
    page = page_of(samples.hostile(samples.full("qat")))
    text = markdown.render(page, "qat.png")
    assert not re.search(r"(?<!\\)<\w", text)
    assert not re.search(r"(?<!\\)\[a", text)
    assert "![The charts of this report](qat.png)" in text
    cells = [
        cell.strip() for line in text.splitlines() if line.startswith("| 16 |") for cell in line.strip("|").split("|")
    ]
    assert cells[:3] == ["16", "1,077.3 (1,061.1–1,093.5)", "199"]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) >= 3 for line in lines)


def test_a_run_that_has_nothing_is_a_page_that_says_so() -> None:
    run = samples.full("qat").model_copy(
        update={"parts": (), "costs": (), "state": "failed", "failure": "no reply", "missing": ("decode",)}
    )
    page = read(run)
    assert page.badges == ["FAILED", "exploratory"]
    assert page.text.startswith("nothing could be measured (FAILED: decode; no reply).")
    assert page.charts == []


def test_a_passphrase_that_was_refused_is_not_called_not_found() -> None:
    text = read(samples.long_context()).text
    assert "at 50 % found 0.889 s found 3.64 s not found" in text
    assert "at 90 % found 0.889 s found 3.64 s http_400" in text


def test_calibration_stands_beside_what_a_perfect_model_would_show() -> None:
    good, sharp = read(samples.decisions()).text, read(samples.decisions(sharp=2.5)).text
    assert "so this sample shows no miscalibration" in good
    assert "so this sample shows miscalibration" in sharp
    assert "A model with exactly these probabilities would show" in good


def test_two_machines_are_laid_over_each_other() -> None:
    runs = [*samples.ladder("L4", 30), *samples.ladder("T4", 30)]
    page = read(*runs)
    over = next(chart for chart in page.charts if chart.label.startswith("Ladders over each other"))
    assert set("".join(over.rows.values())) == {"r", "w", "d"}
    assert {len(row) for row in over.rows.values()} == {30}
    assert "graded differently, closest pair" in page.text


def test_many_runs_stand_in_rows_and_not_in_columns() -> None:
    page = read(*samples.ladder(count=20))
    assert "5 other runs; how each was measured stands at the end." in page.text
    assert "run engine weights bytes engine quantization l4-bf16 8.67 GiB BF16 l4-q8-0" in page.text


def test_a_run_says_which_plan_it_followed_and_where_it_departed() -> None:
    departed = Departure(at="2026-09-25T18:30:00Z", what="levels", planned="1, 4", done="1", reason="no time")
    plan = PlanCited(file="plan.json", sha256="ab" * 32, written="2026-09-25T18:00:00Z")
    followed = read(samples.full("qat", plan=plan))
    assert followed.badges == ["complete", "followed its plan"]
    assert (
        "plan Plan `plan.json`, sha256 abababababab…, written 2026-09-25T18:00:00Z: followed as written."
        in followed.text
    )
    page = read(samples.full("qat", plan=plan.model_copy(update={"departures": (departed,)})))
    assert page.badges == ["complete", "1 departure from its plan"]
    assert "levels was 1 instead of 1, 4 (2026-09-25T18:30:00Z: no time)" in "".join(page.warnings)
    both = read(samples.full("bf16", 0.5), samples.full("qat", plan=plan))
    assert both.badges == ["all 2 runs complete", "bf16 exploratory", "qat followed its plan"]


def test_an_open_loop_is_drawn_from_when_requests_were_due() -> None:
    page = read(samples.paced())
    chart = next(each for each in page.charts if each.label.startswith("Open loop"))
    assert sorted({key for key, *_ in chart.points}) == [
        f"paced|paced.{rate}_percent.ttft_{quantile}_ms|value"
        for rate in (50, 80, 95)
        for quantile in ("p50", "p90", "p99")
    ]
    assert "It kept up with 4 requests/s." in page.text


def test_levels_up_to_the_knee_have_their_chart_and_their_table() -> None:
    page = read(samples.knee())
    assert [each.label.split(".")[0] for each in page.charts] == ["Throughput against concurrency (to the knee)"]
    assert "at once tokens/s TTFT p50, ms" in page.text
    assert page.values()["knee|knee.8.tokens_per_second|value"] == 410.0


def test_drafters_are_drawn_against_none() -> None:
    page = read(*samples.drafters())
    chart = next(each for each in page.charts if each.label.startswith("Throughput with a drafter"))
    assert [(key, value) for key, value, *_ in chart.points] == [
        ("sweep|draft-2|at.1", 1.5), ("sweep|draft-2|at.16", 1.1), ("sweep|draft-2|at.64", 0.87),
    ]  # fmt: skip
    assert "helps up to 16 at once and costs output from 64 on" in page.text


def test_quoted_figures_are_marked_wherever_they_stand_and_judged_nowhere() -> None:
    told = {
        "quoted": {"source": "an article", "date": "2026-10-27", "method": "six prompts"},
        "figures": {"decode.tokens_per_second": 133.4, "load.64.tokens_per_second": 918.9},
    }
    article = quoted_run(told, "article")
    alone = read(article)
    assert alone.badges == ["quoted, not measured here"]
    assert (
        alone.warnings[1] == "quoted, not measured here, and part of no verdict: an article (2026-10-27; six prompts)"
    )
    page = read(samples.full("qat"), article)
    assert page.badges[:2] == ["article: quoted, not measured here", "qat complete"]
    assert "cannot say quoted, not measured here" in page.text
    drawn = next(each for each in page.charts if each.label.startswith("Throughput"))
    assert "article (quoted): 918.9 at 64" in drawn.label
    three = read(samples.full("bf16", 0.5), samples.full("qat"), article)
    assert "What differs run bf16 qat model google/gemma-4-bf16 google/gemma-4-qat" in three.text


def test_a_page_of_unusual_numbers_is_still_a_page() -> None:
    tiny, huge = samples.full("tiny", 1e-6), samples.full("huge", 1e6)
    page = read(tiny, huge)
    assert page.values()["huge|decode.tokens_per_second|ratio"] == pytest.approx(1e12)
    assert "1,000,000,000,000" in page.text
    assert all(0 <= x <= 460 for chart in page.charts for _, _, x, _ in chart.points)


def test_lines_that_cannot_be_compared_are_never_drawn_without_a_word() -> None:
    base, other = samples.full("bf16", 0.5), samples.full("qat")
    load = other.parts[1].model_copy(update={"settings": {"tokens": 48, "batches": 2}})
    page = read(base, other.model_copy(update={"parts": (other.parts[0], load, *other.parts[2:])}))
    assert page.text.count("Not comparable with bf16: qat (load tokens differs (256, 48)).") == 4
    assert "Not comparable" not in read(base, other).text


def test_a_long_set_of_questions_is_scrolled_and_not_shrunk_to_nothing() -> None:
    text = html.render(page_of(samples.rung("BF16", 0, 700), samples.rung("Q8_0", 1, 700)))
    (least,) = re.findall(r'<svg class="chart" style="min-width:(\d+)px"', text)
    assert int(least) / 700 > 2
    assert (
        'svg class="chart" style="min-width'
        not in html.render(page_of(samples.rung("BF16", 0, 250))).split("</style>")[1]
    )


def test_who_counts_is_shown_by_size_with_the_cause_of_each_miss() -> None:
    page = read(samples.tool_calls())
    assert "who counts ids in the list right miscounted count 11 4 of 4 0 count 110 4 of 4 0" in page.text
    assert "rows 11 4 of 4 0 rows 110 3 of 4 1 rows 330 0 of 4 4" in page.text
    assert "python is not scored: the endpoint returns no tool calls that can be read." in page.text
    assert page.charts[0].rows == {"count": "r" * 12, "rows": "rrrr" + "wrrr" + "wwww"}


def test_questions_that_two_rungs_both_lose_are_counted_for_every_pair() -> None:
    runs = samples.ladder(count=50)
    page = read(*runs)
    (ladder,), _ = ladders_of(runs)
    own = lost(ladder, "Q4_0")
    shared = " ".join(str(len(own & lost(ladder, other.name))) for other in ladder.rungs[1:])
    assert f"Q4_0 {shared} Q3_K_M" in page.text
    assert "both lose Q8_0 Q5_K_M Q4_0 Q3_K_M Q2_K Q8_0" in page.text


def test_how_long_an_unfinished_run_was_is_not_said() -> None:
    run = samples.full("qat")
    assert "took 4 min" in read(run).text
    assert "took 0" not in read(run.model_copy(update={"seconds": 0.0})).text


def test_what_a_chat_shows_as_code_is_code_on_a_page_and_nothing_else_is() -> None:
    caution = Caution(kind="noisy_host", text="Run `measure_model` <b>again</b> `&")
    page = run_page(samples.full("qat", warnings=(caution,)))
    assert "Run <code>measure_model</code> &lt;b&gt;again&lt;/b&gt; `&amp;" in html.render(page)
