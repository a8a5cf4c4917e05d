"""Labels as Google takes them, and moments in them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from clouds.gcp.endpoints import labels

END = datetime(2026, 11, 29, 19, 4, tzinfo=UTC)


def test_every_label_is_of_the_characters_that_google_takes() -> None:
    made = labels.make("d-20261129-cd91", END, "Ann.Lee+x@Example.com")
    assert made == {
        "modelrig-deployment": "d-20261129-cd91",
        "modelrig-expires": "20261129t190400z",
        "modelrig-owner": "ann-lee-x-example-com",
    }
    assert all(re.fullmatch(r"[a-z0-9_-]{0,63}", text) for pair in made.items() for text in pair)
    assert labels.clean("x" * 200) == "x" * 63


def test_a_moment_is_read_back_and_nothing_else_is() -> None:
    assert labels.moment(labels.stamp(END)) == END
    for wrong in ("", "never", "20261399t990000z", "2026-11-29T19:04:00Z"):
        assert labels.moment(wrong) is None
    assert labels.end_of({}) == ""


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-11-29T07:04:00.123456789-12:00", "2026-11-29T19:04:00Z"),
        ("2026-11-29T19:04:00Z", "2026-11-29T19:04:00Z"),
        ("2026-11-29T19:04:00", None),
        ("soon", None),
        (None, None),
    ],
)
def test_google_s_times_are_read_in_utc(text: object, read: str | None) -> None:
    found = labels.time_of(text)
    assert (labels.iso(found) if found else None) == read


def test_what_takes_no_label_says_it_in_its_description() -> None:
    made = labels.make("d-1", END, "ann")
    assert labels.of_description(labels.described(made)) == made
    assert labels.of_description("somebody's own words a=b") == {}
