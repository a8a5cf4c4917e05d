"""Start-ups are remembered phase by phase, so that the next estimate can say what it rests on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clouds.errors import NotFound
from clouds.models import Phase
from tools.ledger import Book, Estimate

Begin = Callable[..., str]


def start_up(placing: float, loading: float) -> tuple[Phase, ...]:
    return (Phase(name="placing", seconds=placing), Phase(name="loading weights", seconds=loading))


def test_nothing_is_expected_before_the_first_start(book: Book) -> None:
    assert book.phases.expected_seconds("sagemaker", "google/gemma-4-E2B-it", "ml.g6.xlarge") is None


def test_an_estimate_is_the_median_of_like_starts_with_their_number(book: Book, begun: Begin) -> None:
    for name, placing, loading in (("a", 60.0, 83.0), ("b", 400.0, 85.0), ("c", 70.0, 81.0)):
        book.phases.record(begun(name), start_up(placing, loading), "ml.g6.xlarge")
    book.phases.record(begun("d"), start_up(1.0, 1.0), "ml.g6.4xlarge")
    book.phases.record(begun("e", model="other"), start_up(1.0, 1.0), "ml.g6.xlarge")
    like = ("sagemaker", "google/gemma-4-E2B-it", "ml.g6.xlarge")
    assert book.phases.expected_seconds(*like) == Estimate(151.0, 3)
    assert book.phases.expected(*like) == {"placing": Estimate(70.0, 3), "loading weights": Estimate(83.0, 3)}
    assert list(book.phases.expected(*like)) == ["placing", "loading weights"]


def test_recording_a_start_again_replaces_it(book: Book, begun: Begin) -> None:
    found = begun()
    book.phases.record(found, start_up(60.0, 83.0))
    book.phases.record(found, start_up(10.0, 20.0))
    assert book.phases.expected_seconds("sagemaker", "google/gemma-4-E2B-it") == Estimate(30.0, 1)


def test_phases_need_a_deployment(book: Book) -> None:
    with pytest.raises(NotFound, match="no such deployment"):
        book.phases.record("d-20261129-0000", start_up(1.0, 1.0))
