"""Log pages: newest last, bounded, and every control character spelt out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from clouds.local.endpoints import logs
from clouds.local.places import Place
from clouds.local.supervisor import journal

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def place(tmp_path: Path, *lines: str, before: str = "") -> Place:
    made = Place(tmp_path, "one")
    made.make()
    made.log.write_text("".join(f"{line}\n" for line in lines))
    if before:
        made.log.with_name("log.1").write_text(before + "\n")
    return made


def test_lines_older_than_asked_are_left_out_and_a_line_without_a_time_follows_the_one_before(tmp_path: Path) -> None:
    made = place(
        tmp_path,
        "2026-11-29T10:59:59.000Z engine | old",
        "  of the old one",
        "2026-11-29T11:00:00.000Z engine | new",
        "  of the new one",
        before="2026-11-29T09:00:00.000Z engine | very old",
    )
    page = logs.page(made, since=HOUR, limit=10, now=NOW)
    assert page.lines == ("2026-11-29T11:00:00.000Z engine | new", "  of the new one")
    assert (page.total, page.note, page.source) == (2, "", str(made.log))


def test_the_part_before_is_read_too_and_a_limit_keeps_the_newest(tmp_path: Path) -> None:
    made = place(tmp_path, "2026-11-29T11:30:00.000Z engine | b", before="2026-11-29T11:20:00.000Z engine | a")
    assert len(logs.page(made, since=HOUR, limit=10, now=NOW).lines) == 2
    page = logs.page(made, since=HOUR, limit=1, now=NOW)
    assert (page.lines, page.note) == (("2026-11-29T11:30:00.000Z engine | b",), "1 of 2 lines")


def test_control_characters_are_spelt_out_and_a_long_line_is_cut() -> None:
    assert logs.visible("a\x1b[2Jb\u202ec\x00") == "a\\x1b[2Jb\\x202ec\\x00"
    assert logs.visible("x" * 4_001) == "x" * 4_000 + "… (1 more characters)"


def test_bytes_that_are_no_text_and_a_missing_log_do_no_harm(tmp_path: Path) -> None:
    made = place(tmp_path)
    made.log.write_bytes(b"2026-11-29T11:30:00.000Z engine | \xff\xfe\n")
    assert logs.page(made, since=HOUR, limit=5, now=NOW).lines == ("2026-11-29T11:30:00.000Z engine | \ufffd\ufffd",)
    made.log.unlink()
    assert logs.page(made, since=HOUR, limit=5, now=NOW).lines == ()
    assert logs.last(made) == ""


def test_the_beginning_of_a_long_part_is_read_too(tmp_path: Path) -> None:
    made = place(tmp_path, *(f"2026-11-29T11:30:00.000Z engine | {n} {'x' * 3_900}" for n in range(300)))
    assert logs.TAIL < made.log.stat().st_size < logs.WHOLE
    assert logs.WHOLE > journal.LIMIT
    page = logs.page(made, since=HOUR, limit=100_000, now=NOW)
    assert (len(page.lines), page.total, page.note) == (300, 300, "")
    assert page.lines[0].startswith("2026-11-29T11:30:00.000Z engine | 0 xxx")
