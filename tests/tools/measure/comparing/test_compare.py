"""The article of 2026-09-26: bf16 and 4-bit weights of one model on one L4, in the order bf16, QAT, bf16 again."""

from __future__ import annotations

import pytest

from tests.tools.measure.made import engine, items, made, warned
from tools.measure.comparing import report
from tools.measure.comparing.compare import Comparison, Versus, compare
from tools.measure.cost import PriceUsed
from tools.measure.record import Run, Subject

WRONG_BF16 = {1: "1026", 3: "829", 5: "918"}
WRONG_QAT = {2: "655", 4: "-285", 5: "1010"}


def of(model: str) -> dict[str, object]:
    return {"engine": engine(model), "subject": Subject(ref=f"aws:sagemaker:us-east-2:{model}", model=model)}


def bf16(name: str = "bf16", decode: float = 51.3, at_16: float = 619.1) -> Run:
    samples = [decode - 0.4, decode - 0.1, decode, decode + 0.2, decode + 0.3]
    loads = {1: (45.4, 45.8), 4: (171.0, 172.2), 16: (at_16 - 2, at_16 + 2)}
    return made(name, decode, loads, items(WRONG_BF16), samples, **of("bf16"))


def qat() -> Run:
    samples = [104.2, 104.9, 105.1, 105.5, 106.0]
    loads = {1: (85.0, 85.7), 4: (326.4, 331.0), 16: (1071.5, 1083.0)}
    return made("qat", 105.1, loads, items(WRONG_QAT), samples, **of("qat"))


def versus(found: Comparison) -> Versus:
    assert len(found.versus) == 1
    return found.versus[0]


def test_the_articles_table_comes_out_as_printed() -> None:
    found = versus(compare([bf16(), qat()]))
    ratios = {row.figure: round(row.ratio or 0, 2) for row in found.rows}
    assert ratios == {
        "decode, tokens/s": 2.05,
        "1 at once, tokens/s": 1.87,
        "1 at once, $ per million": 0.53,
        "4 at once, tokens/s": 1.92,
        "4 at once, $ per million": 0.52,
        "16 at once, tokens/s": 1.74,
        "16 at once, $ per million": 0.57,
    }
    assert {row.verdict for row in found.rows} == {"better"}
    assert all(row.no_overlap for row in found.rows)
    costs = {row.figure: (round(row.base or 0, 2), round(row.other or 0, 2)) for row in found.rows if row.unit == "$"}
    assert costs == {
        "1 at once, $ per million": (6.86, 3.67),
        "4 at once, $ per million": (1.82, 0.95),
        "16 at once, $ per million": (0.51, 0.29),
    }


def test_the_answers_are_paired_question_by_question() -> None:
    answers = versus(compare([bf16(), qat()])).answers
    assert answers is not None
    assert (answers.asked, answers.base_right, answers.other_right, answers.identical) == (40, 37, 37, 35)
    assert (answers.lost, answers.gained, answers.p_value, answers.verdict) == (2, 2, 1.0, "within noise")
    assert [(m.question, m.expected, m.base, m.other, m.now) for m in answers.moved] == [
        ("1?", "1", "1026", "1", "gained"),
        ("2?", "2", "2", "655", "lost"),
        ("3?", "3", "829", "3", "gained"),
        ("4?", "4", "4", "-285", "lost"),
    ]


def test_the_base_measured_again_shows_the_drift_of_the_article() -> None:
    found = compare([bf16(), qat(), bf16("bf16-2", 51.5, 625.15)])
    (repeat,) = found.repeats
    moved = {row.figure: round(row.drift_percent, 2) for row in repeat.rows}
    assert moved == {"decode, tokens/s": 0.39, "1 at once, tokens/s": 0.0, "4 at once, tokens/s": 0.0,
                     "16 at once, tokens/s": 0.98, "1 at once, $ per million": 0.0, "4 at once, $ per million": 0.0,
                     "16 at once, $ per million": -0.97}  # fmt: skip
    assert (repeat.identical, repeat.asked) == (40, 40)
    assert versus(found).row("decode.tokens_per_second").verdict == "better"  # type: ignore[union-attr]


def test_the_headline_and_the_notes_say_it_in_words() -> None:
    runs = [bf16(), qat(), bf16("bf16-2", 51.5, 625.15)]
    found = compare(runs)
    assert report.headline(found) == (
        "qat decodes 2.05 × as fast as bf16 (better, 95 % range 2.02–2.07) and costs 0.57 × per token at 16 at once; "
        "answers: within noise (bf16 37 and qat 37 right of 40, 35 identical, McNemar p = 1)."
    )
    notes = list(report.notes(found, runs))
    assert notes[0] == (
        "bf16 measured again: at most 0.98 % away on any speed (decode 0.39 %); 40 of 40 answers identical."
    )
    assert "they are too few for a small one" in notes[1]
    assert "only while" in notes[2]


def test_what_differs_is_listed_hardware_first_and_nothing_that_is_the_same() -> None:
    other = qat().model_copy(update={"hardware": bf16().hardware.model_copy(update={"instance_type": "g6.2xlarge"})})  # type: ignore[union-attr]
    found = compare([bf16(), other])
    assert [(each.what, each.values) for each in found.differs] == [
        ("hardware instance type", ("ml.g6.xlarge", "g6.2xlarge")),
        ("model", ("bf16", "qat")),
    ]
    assert versus(found).causes == ("hardware", "model")
    assert "hardware and model differ" in next(report.notes(found, []))


def test_a_difference_inside_the_range_is_called_within_noise() -> None:
    samples = [49.0, 50.5, 51.9, 52.5, 53.0]
    other = made("other", 51.9, {}, (), samples, **of("other"))
    row = versus(compare([bf16(), other])).rows[0]
    assert (row.verdict, row.no_overlap) == ("within noise", False)


def test_two_batches_that_fall_apart_by_less_than_two_percent_show_nothing() -> None:
    runs = [made("a", None, {16: (619.0, 619.2)}, **of("a")), made("b", None, {16: (625.0, 625.2)}, **of("b"))]
    row = versus(compare(runs)).rows[0]
    assert (row.verdict, row.no_overlap) == ("within noise", True)
    assert "fewer than 5 repeats" in row.why


def test_two_machines_of_one_kind_differ_by_as_much_as_two_percent() -> None:
    """Five steady repeats on each of two machines: their ranges do not hold what the machines differ by."""
    steady = [51.29, 51.295, 51.3, 51.305, 51.31]
    base = made("a", 51.3, {}, (), steady, **of("a"))
    other = made("b", 51.9, {}, (), [1.012 * each for each in steady], **of("b"))
    row = versus(compare([base, other])).rows[0]
    assert (row.verdict, row.why) == (
        "within noise",
        "the range comes within 1.2 % of 1; below 2 % two machines of one kind differ too",
    )
    here = {"subject": base.subject.model_copy(update={"model": "b"}), "engine": engine("b")}
    assert versus(compare([base, other.model_copy(update=here)])).rows[0].verdict == "better"
    again = base.model_copy(update={"id": "a-2", "name": "a-2"})
    assert versus(compare([base, other, again])).rows[0].verdict == "better"


def test_a_change_smaller_than_the_drift_of_the_base_is_not_judged() -> None:
    faster = made("b", 54.0, {}, (), [53.8, 53.9, 54.0, 54.1, 54.2], **of("b"))
    assert versus(compare([bf16(), faster])).rows[0].verdict == "better"
    assert versus(compare([bf16(), faster, bf16("again", 54.5)])).rows[0].verdict == "cannot say"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"profile": "quick"}, "profiles differ (standard, quick)"),
        (warned("client_limit"), "the client was the limit in other"),
        (warned("noisy_host"), "the machine was not steady and the base was not measured again"),
    ],
)
def test_what_cannot_be_compared_gets_no_verdict(change: dict[str, object], why: str) -> None:
    other = qat().model_copy(update={"id": "other", "name": "other"}).model_dump()
    other = Run.model_validate({**other, **change})
    found = versus(compare([bf16(), other]))
    assert {row.verdict for row in found.rows} == {"cannot say"}
    assert {row.why for row in found.rows} == {why}


def test_a_noisy_host_is_believed_when_the_base_came_out_the_same_again() -> None:
    other = qat().model_copy(update=warned("noisy_host"))
    found = compare([bf16(), other, bf16("bf16-2", 51.5)])
    assert versus(found).rows[0].verdict == "better"


def test_parts_of_another_shape_are_not_compared_and_the_others_are() -> None:
    other = qat()
    parts = [
        each.model_copy(update={"settings": {**each.settings, "tokens": 128}}) if each.name == "load" else each
        for each in other.parts
    ]
    found = versus(compare([bf16(), other.model_copy(update={"parts": tuple(parts)})]))
    verdicts = {row.figure: (row.verdict, row.why) for row in found.rows}
    assert verdicts["16 at once, tokens/s"] == ("cannot say", "load tokens differs (256, 128)")
    assert verdicts["decode, tokens/s"][0] == "better"


def test_an_incomplete_part_and_a_single_pass_get_no_verdict() -> None:
    half = qat()
    parts = [each.model_copy(update={"complete": each.name != "load"}) for each in half.parts]
    found = versus(compare([bf16(), half.model_copy(update={"parts": tuple(parts)})]))
    assert [row.why for row in found.rows if row.key == "load.16.tokens_per_second"] == ["load is incomplete in qat"]
    once = made("once", 105.1, {}, (), [105.1], **of("once"))
    assert versus(compare([bf16(), once])).rows[0].verdict == "cannot say"


def test_a_figure_that_one_run_lacks_is_shown_and_not_judged() -> None:
    other = made("other", None, {64: (2000.0, 2010.0)}, **of("other"))
    rows = {row.key: row for row in versus(compare([bf16(), other])).rows}
    assert rows["load.64.tokens_per_second"].why == "only one run has it"
    assert rows["decode.tokens_per_second"].why == "decode was not measured in one of them"


def test_the_same_thing_measured_twice_is_a_repeat_and_still_set_against_the_base() -> None:
    runs = [bf16(), bf16("bf16-2", 51.5)]
    found = compare(runs)
    assert ([each.run for each in found.versus], len(found.repeats)) == (["bf16-2"], 1)
    assert report.headline(found) == (
        "bf16 was measured 2 times: at most 0.39 % apart on any speed. Nothing was recorded that could make a figure "
        "differ."
    )
    assert versus(found).rows[0].verdict == "within noise"
    assert versus(found).answers.identical == 40  # type: ignore[union-attr]
    assert "nothing differs that could make a figure differ, as far as was recorded" in " ".join(
        report.notes(found, runs)
    )


def test_a_variant_that_is_another_model_differs_in_its_model_only() -> None:
    def variant(name: str) -> Run:
        return qat().model_copy(update={"subject": qat().subject.model_copy(update={"variant": name})})

    assert versus(compare([bf16(), variant("model=/x/qat.gguf")])).causes == ("model",)
    assert versus(compare([bf16(), variant("model=qat, slots=8")])).causes == ("model", "engine")


def test_one_sentence_says_what_holds_for_many_runs() -> None:
    runs = [bf16(), *(qat().model_copy(update={"id": f"q{n}", "name": f"q{n}"}) for n in range(6))]
    others = [run.model_copy(update={"hardware": None, "price": None}) for run in runs[1:]]
    said = [each for each in report.notes(compare([runs[0], *others]), runs) if "cannot be said" in each]
    assert said == [
        "q0, q1, q2, q3 and 2 more: hardware and model differ, so which of them makes a figure differ cannot be said."
    ]


def test_what_moved_without_a_recorded_reason_is_judged_like_anything_else() -> None:
    slower = bf16().model_copy(update={"id": "later", "name": "later"})
    figure = slower.parts[0].figures[0]
    half = figure.model_copy(update={"value": 25.0, "samples": (24.9, 25.0, 25.0, 25.1, 25.2)})
    part = slower.parts[0].model_copy(update={"figures": (half, *slower.parts[0].figures[1:])})
    found = compare([bf16(), slower.model_copy(update={"parts": (part, *slower.parts[1:])})])
    assert versus(found).rows[0].verdict == "worse"
    assert compare([bf16(), bf16("again"), qat()]).versus[0].run == "qat"


def test_questions_that_are_not_the_same_are_not_paired() -> None:
    other = made("other", None, {}, items(count=20), **of("other"))
    answers = versus(compare([bf16(), other])).answers
    assert answers is not None
    assert (answers.asked, answers.unpaired) == (20, 20)


def test_a_failed_request_is_a_wrong_answer_and_never_identical() -> None:
    failed = [
        each.model_copy(update={"right": False, "outcome": "http_5xx", "reply": "", "said": ""}) for each in items()
    ]
    answers = versus(compare([bf16(), made("dead", None, {}, tuple(failed), **of("dead"))])).answers
    assert answers is not None
    assert (answers.other_right, answers.identical, answers.verdict) == (0, 0, "worse")
    assert answers.moved[0].other == "(http_5xx)"


def test_a_price_per_token_has_no_spread_and_so_no_verdict() -> None:
    price = PriceUsed(usd_per_million_output=2.0)
    dear = made("dear", None, {16: (600.0, 601.0)}, **of("dear"), price=PriceUsed(usd_per_million_output=4.0))
    rows = versus(compare([made("cheap", None, {16: (600.0, 601.0)}, **of("cheap"), price=price), dear])).rows
    cost = next(row for row in rows if row.unit == "$")
    assert (cost.base, cost.other, cost.ratio, cost.verdict) == (2.0, 4.0, 2.0, "cannot say")
