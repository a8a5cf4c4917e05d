"""What a page of a run shows first, and how its wide tables read on a narrow screen."""

from __future__ import annotations

from tests.tools.measure.made import batch, made
from tools.measure.report.html import render
from tools.measure.report.page import Cards, Cell, Page, Table
from tools.measure.report.run_page import run_page


def test_the_card_has_the_cost_of_the_headlines_level_also_where_another_is_cheaper() -> None:
    run = made("a", 84.0, {1: (50.6, 50.6), 4: (48.8, 48.8)})
    load = run.parts[1].model_copy(update={"batches": (batch("1", 1), batch("4", 4))})
    page = run_page(run.model_copy(update={"parts": (run.parts[0], load)}))
    (cards,) = (block for block in page.blocks if isinstance(block, Cards))
    (cost,) = ((cell.text, words) for cell, words in cards.cards if "million" in words)
    assert cost == ("$6.413", "per million output tokens at 4 at once")
    assert "$6.41 per million output tokens" in page.title


def test_the_cells_of_a_wide_table_have_their_heads_for_a_narrow_screen_and_those_of_a_narrow_one_none() -> None:
    def page(heads: tuple[str, ...]) -> str:
        return render(Page("t", blocks=(Table(heads, (tuple(Cell(word.upper()) for word in heads),)),)))

    wide = page(("a", "b", "c", "d", 'e"<'))
    assert '<table class="many">' in wide
    assert '<td>A</td><td data-h="b">B</td>' in wide
    assert '<td data-h="e&quot;&lt;">E&quot;&lt;</td>' in wide
    assert "data-h=" not in page(("a", "b", "c", "d"))
