"""What a comparison says is what it found: no cost that is noise, no ratio of nothing, no count without its run."""

from __future__ import annotations

from tests.tools.measure.made import engine, items, made
from tools.measure.cautions import judge
from tools.measure.comparing.compare import compare
from tools.measure.comparing.report import headline
from tools.measure.stats import ratio_text

OTHER = engine("b", quantization="int4")


def test_a_cost_within_noise_is_not_called_the_same() -> None:
    runs = [made("a", None, {16: [600.0, 700.0]}), made("b", None, {16: [560.0, 640.0]}, engine=OTHER)]
    assert "costs 1.08 × per token at 16 at once (within noise: no difference could be shown)." in headline(
        compare(runs)
    )


def test_a_cost_that_differs_says_by_how_much() -> None:
    runs = [made("a", None, {16: [600.0, 601.0]}), made("b", None, {16: [300.0, 301.0]}, engine=OTHER)]
    assert "costs 2.00 × per token at 16 at once" in headline(compare(runs))


def test_counts_name_their_runs() -> None:
    runs = [
        made("top", graded=items({1: "x"}, 72)),
        made("low", graded=items(dict.fromkeys(range(1, 62), "x"), 72), engine=OTHER),
    ]
    assert "(top 71 and low 11 right of 72, " in headline(compare(runs))


def test_a_ratio_is_never_rounded_to_nothing() -> None:
    rows = [
        (1.128, "1.13"),
        (0.0951, "0.10"),
        (0.02, "0.02"),
        (0.0013, "0.0013"),
        (0.00004, "0.00004"),
        (0.0, "0.00"),
        (1234.5, "1,234"),
    ]
    assert [(ratio, ratio_text(ratio)) for ratio, _ in rows] == rows


def test_questions_that_are_no_pairs_are_set_against_each_other_as_shares_and_never_judged() -> None:
    others = tuple(each.model_copy(update={"id": f"x{each.id}"}) for each in items({1: "x", 2: "y"}, 40))
    found = compare([made("a", graded=items({1: "x"}, 40)), made("b", graded=others, engine=OTHER)])
    row = found.versus[0].answers
    assert row is not None
    assert (row.asked, row.verdict) == (0, "cannot say")
    assert "39 of 40 and 38 of 40 right are -2.5 points (" in row.why
    assert "independent proportions (Newcombe)" in row.why


def test_what_the_engine_measured_of_itself_is_a_fact_and_no_cause() -> None:
    first = engine("m", settings={"compile_seconds": 408.59, "hbm_used_gib": 8.97, "tensor_parallel_size": 1})
    second = engine("m", settings={"compile_seconds": 413.41, "hbm_used_gib": 17.43, "tensor_parallel_size": 4})
    found = compare([made("a", 50.0, engine=first), made("b", 60.0, engine=second)])
    assert [each.what for each in found.differs] == ["engine tensor parallel size"]
    facts = {each.fact: (each.base, each.other) for each in found.versus[0].facts}
    assert facts["of which compiling, s"] == (408.59, 413.41)
    assert facts["HBM used, GiB"] == (8.97, 17.43)
    again = compare([made("a", 50.0, engine=first), made("b", 60.0, engine=engine("m", settings=first.settings))])
    assert len(again.repeats) == 1


def test_random_weights_are_remarked_on_since_their_speed_is_absurd() -> None:
    settings = {"weights": "random, for tests"}
    assert [each.kind for each in judge(made("a", 20_000.0, engine=engine("a", settings=settings)))] == [
        "random_weights"
    ]
    assert judge(made("b", 20_000.0, engine=engine("b"))) == ()


def test_noise_whose_range_leaves_out_one_says_why_it_is_noise() -> None:
    base, other = (
        made("a", 50.0, decode_samples=(50.0, 50.4)),
        made("b", 49.0, decode_samples=(48.8, 49.2), engine=OTHER),
    )
    assert (
        "0.98 × as fast as a (within noise: no difference could be shown, range 0.97–0.98: the range comes within "
        "1.6 % of 1; below 2 % fewer than 5" in headline(compare([base, other]))
    )
    same = made("b", 50.0, decode_samples=(49.8, 50.2), engine=OTHER)
    assert headline(compare([base, same])) == (
        "b decodes 1.00 × as fast as a (within noise: no difference could be shown, range 0.99–1.00)."
    )
