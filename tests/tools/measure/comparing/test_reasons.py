"""The reason beside a verdict is true: of the range and not of the ratio, of one level and not of its whole part."""

from __future__ import annotations

from tests.tools.measure.made import batch, engine, made, part, rate, warned
from tools.measure.comparing import report
from tools.measure.comparing.compare import compare
from tools.measure.comparing.rows import Row
from tools.measure.record import Caution, Run

OTHER = engine("b", quantization="int4")


def row_of(base: Run, other: Run, key: str = "load.16.tokens_per_second") -> Row:
    row = compare([base, other]).versus[0].row(key)
    assert row is not None
    return row


def test_a_range_that_comes_near_one_is_not_said_to_be_the_difference() -> None:
    base, other = made("a", None, {16: (60.0, 99.0)}), made("b", None, {16: (40.0, 59.0)}, engine=OTHER)
    row = row_of(base, other)
    assert (round(row.ratio or 0, 2), round(row.high or 0, 3), row.verdict) == (0.62, 0.983, "within noise")
    assert row.why == "the range comes within 1.7 % of 1; below 2 % fewer than 5 repeats a side show nothing"
    # the failing twin: on a machine that was not steady nothing is said of this row, as of its siblings
    unsteady = row_of(base, other.model_copy(update=warned("noisy_host")))
    assert unsteady.verdict == "cannot say"
    assert unsteady.why == "the machine was not steady and the base was not measured again"


def test_a_busy_client_at_one_level_leaves_the_others_their_verdict() -> None:
    def run(name: str, scale: float, cpu: float) -> Run:
        figures = [
            rate(f"load.{level}.tokens_per_second", f"{level} at once", scale * level, [scale * level] * 5)
            for level in (1, 4)
        ]
        batches = (batch("1", 1), batch("4", 4, client_cpu=cpu))
        found = made(name, engine=engine(name)).model_copy(update={"parts": (part("load", figures, batches=batches),)})
        limit = (Caution(kind="client_limit", text="t"),) if cpu > 0.7 else ()
        return found.model_copy(update={"warnings": limit})

    base, other = run("a", 50.0, 0.1), run("b", 100.0, 0.9)
    assert row_of(base, other, "load.1.tokens_per_second").verdict == "better"
    row = row_of(base, other, "load.4.tokens_per_second")
    assert (row.verdict, row.why) == ("cannot say", "the client was the limit in b")


def test_another_profile_or_shape_is_never_nothing_that_differs() -> None:
    quick = made("b", 50.0, profile="quick")
    short = part("decode", quick.parts[0].figures, settings={"short_tokens": 8, "long_tokens": 512})
    runs = [made("a", 50.0), quick.model_copy(update={"parts": (short,)})]
    said = " ".join(report.notes(compare(runs), runs))
    assert "nothing differs" not in said
    assert (
        "b: hardware, model and engine are the same, as far as was recorded; what else differs can make a figure "
        "differ: profile, decode short tokens, decode pairs, decode at once." in said
    )
    again = [made("a", 50.0), made("b", 50.0).model_copy(update={"parts": (short,)})]  # a repeat, of another shape
    assert report.headline(compare(again)) == (
        "a was measured 2 times: no speed in common. Hardware, model and engine are the same, as far as was recorded; "
        "what differs is decode short tokens, decode pairs, decode at once."
    )
    same = [made("a", 50.0), made("b", 50.0)]
    assert "b: nothing differs that could make a figure differ" in " ".join(report.notes(compare(same), same))


def test_a_level_that_one_run_lacks_is_said_to_be_lacking_and_not_that_profiles_differ() -> None:
    base = made("a", None, {4: (60.0, 61.0), 16: (99.0, 99.5)})
    other = made("b", None, {4: (60.0, 61.0)}, engine=OTHER, profile="quick")
    assert row_of(base, other).why == "only one run has it"
    assert row_of(base, other, "load.4.tokens_per_second").why == "profiles differ (standard, quick)"
