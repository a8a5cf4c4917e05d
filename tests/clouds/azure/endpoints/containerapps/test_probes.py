"""Probes are sized from the expected download and stay inside Azure's limits."""

from __future__ import annotations

import pytest

from clouds.azure.endpoints.containerapps import probes


@pytest.mark.parametrize("seconds", [120, 600, 813, 1000, 2459, 2460])
def test_the_startup_probe_allows_at_least_what_was_asked_for(seconds: int) -> None:
    startup = probes.make(seconds)[0]
    allowed = startup["initialDelaySeconds"] + startup["periodSeconds"] * startup["failureThreshold"]
    assert seconds <= allowed <= seconds + 10
    assert startup["initialDelaySeconds"] <= 60
    assert startup["periodSeconds"] <= 240
    assert startup["failureThreshold"] <= 10


def test_the_window_follows_the_size_of_the_weights() -> None:
    assert probes.window("google/gemma-4-E2B-it") == 814
    assert probes.window("some/model-70B") == 2460
    assert probes.window("some/model") == 2460  # no size in its name: all there is
    assert probes.window("some/model-70B", 900) == 900


def test_what_loads_is_not_taken_back_before_it_is_up() -> None:
    assert probes.cool_down("google/gemma-4-E2B-it") == 407
    assert probes.cool_down("a/b-0.5B") == 300
    assert probes.cool_down("a/b") == 600
    assert probes.cool_down("google/gemma-4-E2B-it", 60) == 60


def test_a_model_that_no_window_is_long_enough_for_is_warned_of() -> None:
    assert "restarts what needs more than 2460 s" in probes.too_slow("some/model-70B")
    assert probes.too_slow("google/gemma-4-E2B-it") == ""
