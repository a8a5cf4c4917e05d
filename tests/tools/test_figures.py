from __future__ import annotations

from tools.figures import show

CASES = [
    ("count", 0, "0"),
    ("count", 1313, "1,313"),
    ("rate", 105.1, "105.1"),
    ("rate", 1077.25, "1,077.2"),
    ("rate", 0.29, "0.29"),
    ("usd_per_hour", 1.1267, "$1.127"),
    ("usd", 21900.0, "$21,900.00"),
    ("usd", 0.08, "$0.08"),
    ("usd_per_million", 0.0004, "$0.0004"),
    ("weights_bytes", 9.75 * 1024**3, "9.75 GiB"),
    ("kv_cache_bytes", 45 * 1024**2, "45.0 MiB"),
    ("file_bytes", 12, "12 B"),
    ("seconds", 0.7489, "0.749 s"),
    ("seconds", 250, "4 min 10 s"),
    ("seconds", 120, "2 min"),
    ("left_seconds", 3 * 3600 + 51 * 60, "3 h 51 min"),
    ("seconds", -5, "-5 s"),
    ("ttft_ms", 61.25, "61.25 ms"),
    ("share_percent", 9.0, "9 %"),
    ("complete", False, "no"),
    ("expires", "2026-11-29T19:04:31Z", "2026-11-29 19:04 UTC"),
    ("model", "2026", "2026"),
]


def test_a_figure_is_written_with_the_unit_of_its_field() -> None:
    assert [(name, value, show(name, value)) for name, value, _ in CASES] == CASES


def test_a_tiny_number_is_not_rounded_to_zero() -> None:
    assert show("rate", 0.00042) == "4.20e-04"
