from __future__ import annotations

from clouds.models import Record
from tools.result import Result, capped, escape, quoted, table, visible


class Row(Record):
    name: str
    tokens: int
    note: str = ""


class Report(Result):
    count: int
    complete: bool
    rate: float | None = None
    rows: tuple[Row, ...] = ()


def test_a_count_of_zero_a_false_and_the_rows_of_nothing_are_sent() -> None:
    report = Report(headline="Nothing.", count=0, complete=False)
    assert report.structured() == {"headline": "Nothing.", "count": 0, "complete": False, "rows": []}
    assert report.text() == "**Nothing.**\n\ncount 0 · complete no"


def test_text_holds_headline_figures_table_notes_and_next_step() -> None:
    report = Report(
        headline="One.",
        count=1,
        complete=True,
        rate=105.1,
        rows=(Row(name="a|b", tokens=1313),),
        notes=("Note.",),
        next="go.",
    )
    assert report.text() == (
        "**One.**\n\ncount 1 · complete yes · rate 105.1\n\n"
        "| name | tokens |\n|---|--:|\n| a\\|b | 1,313 |\n\nNote.\n\nNext: go."
    )


def test_a_column_that_is_empty_in_every_row_is_left_out() -> None:
    assert "note" not in table([Row(name="a", tokens=1), Row(name="b", tokens=2)])
    assert "note" in table([Row(name="a", tokens=1), Row(name="b", tokens=2, note="x")])


def test_rows_are_capped_and_say_how_many_there_are() -> None:
    assert capped(list(range(1313))) == (tuple(range(10)), "10 of 1,313")
    assert capped([1, 2]) == ((1, 2), "")


def test_text_from_outside_is_one_quoted_line() -> None:
    assert quoted('a\nb\x1b[31m "c"') == '"a\\x0ab\\x1b[31m "c""'
    assert quoted("x" * 300) == '"' + "x" * 200 + '…"'
    assert escape("a|b\nc") == "a\\|b c"


def test_what_acts_on_a_terminal_or_hides_from_a_reader_is_written_out() -> None:
    shown = "a\nb\tc \U0001f469\u200d\U0001f467 \u0645\u200f\r\n"
    assert visible(shown) == shown
    hostile = "\x1b[31m \x07 \x9b \u202e \u2066 \ud83d \U000e0041 x\ry"
    assert visible(hostile) == r"\x1b[31m \x07 \x9b \u202e \u2066 \ud83d \U000e0041 x\ry"


def test_letters_that_take_no_room_stay_where_a_script_needs_them_and_are_written_out_where_they_hide_something() -> (
    None
):
    needed = "\u1780\u200b\u1781 \u0646\u200c\u0648 \u2764\ufe0f\u200d\U0001f525 \u845b\U000e0100 co\xadop"
    assert visible(needed) == needed
    assert visible("prod\u2060uction \ufeffx") == r"prod\u2060uction \ufeffx"
    assert visible("a" + "\u200b\u200c" * 8 + "b") == "a" + r"\u200b\u200c" * 8 + "b"
    assert visible("a" + "".join(map(chr, range(0xE0140, 0xE0144)))) == r"a\U000e0140\U000e0141\U000e0142\U000e0143"


def test_no_result_carries_such_characters_in_data_or_in_text() -> None:
    report = Report(headline="\x1b[1mup", count=1, complete=True, rows=(Row(name="\u202eevil", tokens=1),))
    assert report.structured() == {
        "headline": r"\x1b[1mup",
        "count": 1,
        "complete": True,
        "rows": [{"name": r"\u202eevil", "tokens": 1}],
    }
    assert r"**\x1b[1mup**" in report.text()
    assert r"| \u202eevil | 1 |" in report.text()
