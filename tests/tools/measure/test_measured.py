"""What measure_model answers for measurements that have no fields of their own in its result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.tools.measure.ladder.test_asking import knows
from tests.tools.measure.made import engine, made, part, rate
from tests.tools.measure.scripted import Said, run_of, speaking
from tools.measure.measured import headline, result_of
from tools.measure.measured_rows import LevelRow, OtherFigure, variant_row
from tools.measure.walk import Measured


def test_where_the_memory_of_the_kv_cache_went_is_said() -> None:
    settings = {
        "kv_cache_bytes_per_token": 15_360.0,
        "kv_cache_explained_gib": 4.6,
        "kv_cache_taken_gib": 5.54,
        "kv_cache_unexplained_gib": 0.94,
    }
    facts = engine("e2b", kv_cache_tokens=321_280, settings=settings)
    result = result_of([Measured(Path("x.json"), made("a", 50.0, engine=facts))])
    assert result.notes[0] == (
        "KV cache 321,280 tokens x 15,360 bytes = 4.6 GiB of 5.54 GiB taken, 0.94 GiB unexplained."
    )
    assert "unexplained" not in result_of([Measured(Path("x.json"), made("a", 50.0))]).notes[0]


def test_the_headline_and_the_table_have_the_figures_of_a_ladder(tmp_path: Path) -> None:
    with speaking(knows) as server:
        run = run_of(server, tmp_path, "ladder", "ladder.limit=24", "ladder.at_once=8")
    result = result_of([Measured(tmp_path / "run.json", run)])
    assert result.headline == "ladder: 3 of 24 right."
    assert not any("Quick profile" in note for note in result.notes)
    assert OtherFigure(figure="capital, right of 3", value=3) in result.figures
    text, data = result.text(), json.dumps(result.structured())
    assert "| capital, right of 3 | 3 |" in text
    assert "capital, right of 3" in data


def test_what_is_looked_for_first_stands_first_in_every_part() -> None:
    names = ["load.1", "kept", "ttft_p50_ms", "ttft_p99_ms", "itl_p50_ms", *(f"extra{n}" for n in range(30))]
    knee = part("knee", [rate(f"knee.{name}", f"knee {name}", 1.0, (), main=name == "kept") for name in names])
    ladder = part("ladder", [rate("ladder.right", "ladder right", 1.0, ())])
    run = made("a").model_copy(update={"parts": (knee, ladder)})
    shown = [each.figure for each in result_of([Measured(Path("x.json"), run)]).figures]
    assert len(shown) == 30
    assert shown[:4] == ["knee kept", "knee load.1", "knee ttft_p50_ms", "knee extra0"]
    assert "ladder right" in shown
    assert not {"knee ttft_p99_ms", "knee itl_p50_ms"} & set(shown)


def test_a_walk_over_drafters_has_its_speeds_in_the_table() -> None:
    figures = [
        rate("drafters.tokens_per_second", "d", 41.0, ()),
        rate("drafters.at_4.tokens_per_second", "4", 90.0, (), main=False),
        rate("drafters.at_16.tokens_per_second", "16", 80.0, (), main=False),
    ]
    row = variant_row(Measured(Path("x.json"), made("a").model_copy(update={"parts": (part("drafters", figures),)})))
    assert (row.decode_tokens_per_second, row.best_tokens_per_second) == (41.0, 90.0)


def test_a_measurement_that_could_not_be_made_says_why_in_both_forms(tmp_path: Path) -> None:
    def silent(_: dict[str, Any]) -> Said:
        return Said("A")

    with speaking(silent) as server:
        run = run_of(server, tmp_path, "decisions")
    result = result_of([Measured(tmp_path / "run.json", run)])
    assert result.headline.startswith("nothing could be measured (INCOMPLETE: decisions right: no log-probabilities")
    assert result.figures[0].value is None
    assert "no log-probabilities came back" in result.figures[0].why
    assert "no log-probabilities came back" in result.text()


def test_the_headline_has_the_highest_level_also_where_another_is_faster() -> None:
    levels = [LevelRow(at_once=1, tokens_per_second=50.6, errors=0, usd_per_million=6.2),
              LevelRow(at_once=4, tokens_per_second=48.8, errors=0, usd_per_million=6.43),
              LevelRow(at_once=16, tokens_per_second=None, errors=32)]  # fmt: skip
    told = headline(made("a", 84.0, {1: (50.6,), 4: (48.8,)}), levels)
    assert told == (
        "Decodes 84 tokens/s for one reply, serves 48.8 tokens/s at 4 at once, waits included; $6.43 per million "
        "output tokens when kept that busy."
    )
