"""A long text is cut in its middle: headline, notes and what to do next are what a reader must not lose."""

from __future__ import annotations

from clouds.models import Record
from tools import calling
from tools.fitting import CELL, REST, bounded, fitted
from tools.result import TEXT_LIMIT, Result


class Row(Record):
    name: str
    usd: float


class Report(Result):
    rows: tuple[Row, ...] = ()
    lines: tuple[str, ...] = ()


NOTES = ("3 findings have no price.", "What could not be read is not nothing.")


def report(rows: int, wide: int = 60) -> Report:
    listed = tuple(Row(name=f"{number:04} " + "x" * wide, usd=rows - number) for number in range(rows))
    return Report(headline=f"{rows} rows.", rows=listed, notes=NOTES, next="explain_finding.")


def test_a_text_that_fits_is_whole() -> None:
    told = report(20)
    assert told.text() == told.text(None)
    assert REST not in told.text()


def test_a_long_text_keeps_headline_notes_and_next_step_and_whole_rows() -> None:
    told = report(400)
    text = told.text()
    assert len(text) <= TEXT_LIMIT < len(told.text(None))
    assert text.startswith("**400 rows.**\n\n| name | usd |\n|---|--:|\n| 0000 x")
    shown = text.count("\n| 0")
    assert text.endswith(
        f"|\n\n… {shown} of 400 rows here; {REST}\n\n" + "\n".join(NOTES) + "\n\nNext: explain_finding."
    )
    assert shown > 70


def test_of_two_tables_the_longer_one_is_cut() -> None:
    short = "| a |\n|---|\n| b |"
    long = "| a |\n|---|\n" + "\n".join(["| " + "c" * 50 + " |"] * 100)
    text = fitted("**H**", f"{long}\n\n{short}\n\nReport: f.html", (), "Next: go.", 2_000)
    assert len(text) <= 2_000
    assert f"\n\n{short}\n\nReport: f.html\n\nNext: go." in text


def test_a_cell_is_cut_before_a_row_is_left_out() -> None:
    told = report(8, wide=2_000)
    text = told.text()
    assert text.count("\n| 0") == 8
    assert text.count("xxx… (") == 8
    assert REST not in text
    assert all(len(line) < CELL + 60 for line in text.splitlines())
    assert "… (" not in told.text(None)


def test_lines_are_cut_whole_and_counted() -> None:
    told = Report(headline="Log.", lines=tuple(f"{n} " + "z" * 90 for n in range(200)), next="go.")
    text = told.text()
    assert len(text) <= TEXT_LIMIT
    assert f" of 200 lines here; {REST}\n\nListed: 200 lines.\n\nNext: go." in text


def test_endless_ends_are_bounded_all_the_same() -> None:
    endless = Report(headline="y" * 20_000, notes=("n" * 20_000, "A short one."), next="go.")
    text = endless.text()
    assert len(text) < TEXT_LIMIT + 500
    assert text.endswith("\nA short one.\n\nNext: go.")
    many = fitted("**H**", "\n\n".join(f"paragraph {n} " + "w" * 50 for n in range(500)), (), "Next: go.", 3_000)
    assert len(many) < 3_000
    assert f" more paragraphs: {REST}\n\nNext: go." in many


def test_a_shell_prints_all_and_a_client_gets_what_fits() -> None:
    outcome = calling.success(report(400))
    assert len(outcome.text) <= TEXT_LIMIT
    assert outcome.whole.count("\n| 0") == 400
    assert calling.Outcome(**outcome.as_json()) == outcome
    short = calling.success(report(3))
    assert short.whole == short.text
    assert "uncut" not in short.as_json()


def test_bounded_says_how_much_was_cut() -> None:
    assert bounded("x" * 12, 10) == "xxxxxxxxxx\n… (2 more characters)"
    assert bounded("x" * 10, 10) == "x" * 10
