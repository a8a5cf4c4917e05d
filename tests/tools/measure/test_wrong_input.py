"""Input that is refused: what is wrong with it in a sentence, and what may be given, both limits named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clouds.errors import InvalidInput
from tools.measure.measure_model import _check, _objective, _price
from tools.measure.options import Options
from tools.measure.shapes import shape

LEVELS = "Give at most 8 whole numbers from 1 to 512, with commas."
MS = "Give ms to the first token, then ms a token, up to 600,000; 0 or nothing leaves one of them out."
HOUR = "Give US dollars an hour, above 0 and up to 100,000; 0 or nothing takes the cloud's price."
MILLION = "Give US dollars per million input tokens (0 to 100,000), then output tokens (above 0)."
LIMIT = "Give one whole number of 0 to 1,000."


def levels(*given: int) -> None:
    _check("quick", given, (), "")


def limit(text: str) -> Any:
    return Options({"ladder.limit": text}).whole("ladder.limit", 0, 0, 1_000)


WRONG: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: levels(0), "`levels`: 0 is not from 1 to 512", LEVELS),
    (lambda: levels(-1, 5), "`levels`: -1 is not from 1 to 512", LEVELS),
    (lambda: levels(*range(1, 10)), "`levels`: are 9 numbers", LEVELS),
    (lambda: _objective((0, 0)), "`objective_ms`: is no limit at all", MS),
    (lambda: _objective((1, 2, 3)), "`objective_ms`: are 3", MS),
    (lambda: _objective((-1,)), "`objective_ms`: -1 is no time", MS),
    (lambda: _price(1e308, ()), "`price_usd_per_hour`: 1e+308 is no price", HOUR),
    (lambda: _price(0, (1,)), "`usd_per_million`: has 1 of two prices", MILLION),
    (lambda: _price(0, (1, 1e308)), "`usd_per_million`: 1e+308 is no price", MILLION),
    (lambda: _price(0, (1, 0)), "`usd_per_million`: has no price of output tokens", MILLION),
    (lambda: limit("-1"), "`options`: ladder.limit=-1 is out of range", LIMIT),
    (lambda: limit("many"), "`options`: ladder.limit=many is not a whole number", LIMIT),
    (lambda: limit("1,2"), "`options`: ladder.limit=1,2 are 2 numbers", LIMIT),
    (
        lambda: Options({"x.on": "perhaps"}).flag("x.on"),
        "`options`: x.on=perhaps is not one of its words",
        "Use one.",
    ),
    (
        lambda: Options({"paced.rates": "nan"}).numbers("paced.rates", (), 0.5, 10),
        "`options`: paced.rates=nan is out of range",
        "Give up to 12 numbers, with commas, of 0.5 to 10.",
    ),
    (
        lambda: shape(Options({"load.shape": "9"}), "load.shape", 8),
        "`options`: load.shape=9 is no shape",
        "Give prompt/output tokens, such as 1024/128.",
    ),
]


def test_what_is_wrong_is_a_sentence_and_what_may_be_given_stands_behind_it() -> None:
    found = []
    for call, _, _ in WRONG:
        with pytest.raises(InvalidInput) as caught:
            call()
        found.append((call, caught.value.tried, caught.value.fix))
    assert found == WRONG


def test_what_is_right_is_taken() -> None:
    levels(1, 512)
    assert (limit("7"), _objective(()), _price(0, ())) == (7, _objective(()), None)
    assert (_objective((1,)).ttft_ms, _objective((1,)).tpot_ms, _objective((0, 5)).tpot_ms) == (1, None, 5)
    price = _price(0, (0, 2))
    assert price is not None
    assert (price.usd_per_million_input, price.usd_per_million_output) == (0, 2)
