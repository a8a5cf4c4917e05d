"""Each warning beside a run that does not get it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.tools.measure.made import batch, items, made, part, rate, request
from tools.measure.cautions import client_limits, judge, request_cautions
from tools.measure.measurement import figure_of
from tools.measure.record import Accelerator, Caution, HostCheck, RequestRecord, Run

STEADY = HostCheck(calibration_ms_before=(5.0,), calibration_ms_after=(5.1,), load_before=0.2, steal_percent=0.0)


def run(**fields: Any) -> Run:
    return made("r", **{"host": STEADY, **fields})


def load(requests: Sequence[RequestRecord] = (), cautions: dict[str, int] | None = None, **fields: Any) -> Run:
    requests = requests or [request()]
    batches = (batch(requests=requests, **fields),)
    return run(parts=(part("load", batches=batches, requests=len(requests), cautions=cautions or {}),))


def kinds(found: Run) -> list[str]:
    return [each.kind for each in judge(found)]


def test_a_quiet_run_has_no_warning() -> None:
    assert kinds(load()) == []


@pytest.mark.parametrize(
    ("fields", "limited"),
    [
        ({"client_cpu": 0.69}, False),
        ({"client_cpu": 0.71}, True),
        ({"client_lag_p99_ms": 4.9}, False),
        ({"client_lag_p99_ms": 5.1}, True),
        ({"client_lag_p99_ms": None}, False),
    ],
)
def test_the_client_was_the_limit_when_it_was_busy_or_late(fields: dict[str, Any], limited: bool) -> None:
    assert kinds(load(**fields)) == ["client_limit"] * limited


def test_a_late_client_matters_less_where_the_first_token_takes_long() -> None:
    assert kinds(load([request(ttft_ms=300.0)], client_lag_p99_ms=9.0)) == []
    assert kinds(load([request(ttft_ms=300.0)], client_lag_p99_ms=11.0)) == ["client_limit"]


@pytest.mark.parametrize("name", ["answers", "toolcalls", "functions"])
def test_answers_are_no_timing_so_that_a_busy_client_is_no_matter_there(name: str) -> None:
    slow = [*(request() for _ in range(5)), request(ttft_ms=900.0)]
    assert kinds(run(parts=(part(name, batches=(batch(client_cpu=0.9, requests=slow),)),))) == []


def test_what_is_in_no_figure_is_in_no_warning() -> None:
    slow = [*(request() for _ in range(5)), request(ttft_ms=900.0)]
    warm = batch("warm-up", client_cpu=0.9, requests=slow)
    assert kinds(run(parts=(part("knee", batches=(warm,)),))) == []


def test_the_client_was_the_limit_in_the_levels_that_it_was() -> None:
    load = part("load", batches=(batch("1", 1), batch("4", 4, client_cpu=0.9)))
    paced = part("paced", batches=(batch("closed loop", client_cpu=0.9), batch("50_percent")))
    drafters = part("drafters", batches=(batch("kind code", client_cpu=0.9), batch("at 4"), batch("at 16")))
    told = run(parts=(load, paced, drafters, part("decode", batches=(batch("short", 1),))))
    keys = {
        "load.1.tokens_per_second": False,
        "load.4.tokens_per_second": True,
        "load.4.usd_per_million": True,
        "paced.closed.per_second": True,
        "paced.50_percent.ttft_p50_ms": False,
        "paced.kept_up_per_second": True,
        "drafters.code.tokens_per_second": True,
        "drafters.at_4.tokens_per_second": False,
        "decode.tokens_per_second": False,
    }
    assert not any(client_limits(told)(key.split(".")[0], key) for key in keys)
    limited = client_limits(told.model_copy(update={"warnings": judge(told)}))
    assert {key: limited(key.split(".")[0], key) for key in keys} == keys


def test_a_run_that_says_the_client_was_the_limit_and_kept_no_batches_is_limited_in_all() -> None:
    told = {"warnings": (Caution(kind="client_limit", text="t"),), "parts": (part("load"), part("decode"))}
    limited = client_limits(run(**told))
    assert limited("load", "load.1.tokens_per_second")
    assert limited("decode", "decode.tokens_per_second")


def test_few_replies_in_one_piece_are_no_buffer_on_the_way() -> None:
    assert kinds(load([request()] * 4, cautions={"one_piece": 1})) == []
    assert kinds(load([request()] * 4, cautions={"one_piece": 2})) == ["one_piece"]


def test_labels_that_hold_almost_nothing_are_named() -> None:
    def mass(value: float) -> Run:
        return run(parts=(part("decisions", [rate("decisions.label_mass", "m", value, ())]),))

    (warning,) = judge(mass(0.005))
    assert warning.text.startswith("The labels of a decision hold 0.5 % of the probability (median)")
    assert kinds(mass(0.02)) == []


def test_a_host_that_slowed_down_is_noisy() -> None:
    assert kinds(run(host=STEADY.model_copy(update={"calibration_ms_after": (7.0,)}))) == ["noisy_host"]


def test_repeats_that_differ_widely_are_named() -> None:
    wide = part("load", [rate("load.4.tokens_per_second", "4 at once, tokens/s", 100, (90.0, 110.0))])
    close = part("load", [rate("load.4.tokens_per_second", "4 at once, tokens/s", 100, (98.0, 102.0))])
    assert kinds(run(parts=(wide,))) == ["unsteady"]
    assert kinds(run(parts=(close,))) == []


def test_an_accelerator_that_throttled_is_named() -> None:
    cool = Accelerator(name="L4", driver="1")
    assert kinds(run(accelerators=(cool,))) == []
    assert kinds(run(accelerators=(cool.model_copy(update={"throttled": ("hardware slowdown",)}),))) == ["throttled"]


def test_a_first_token_far_later_than_the_others_is_named_and_stays() -> None:
    usual = [request() for _ in range(5)]
    assert kinds(load([*usual, request(ttft_ms=240.0)])) == []
    assert kinds(load([*usual, request(ttft_ms=260.0)])) == ["slow_first"]


def test_what_is_counted_of_a_request() -> None:
    rows = [
        ({}, []),
        ({"tokens_from": "chunks"}, ["no_usage"]),
        ({"cached_tokens": 9}, []),
        ({"cached_tokens": 10}, ["cached_prompt"]),
        ({"tokens_from": "limit"}, ["no_usage"]),
        ({"tokens_from": "chunks", "kind": "cut"}, []),
        ({"last_ms": 52.2}, ["one_piece"]),
        ({"last_ms": 52.4}, []),
        ({"last_ms": 50.0, "chunks": 1, "tokens": 32}, ["one_piece"]),
        ({"last_ms": 50.0, "chunks": 1, "tokens": 31}, []),
        ({"ttft_ms": None, "last_ms": 50.0, "chunks": 0}, []),
    ]
    assert [(fields, list(request_cautions(request(**fields)))) for fields, _ in rows] == rows


@pytest.mark.parametrize("kind", ["no_usage", "cached_prompt", "one_piece", "empty"])
def test_what_was_counted_becomes_a_warning(kind: str) -> None:
    assert kinds(load(cautions={kind: 1})) == [kind]


@pytest.mark.parametrize("name", ["answers", "ladder", "toolcalls", "functions"])
@pytest.mark.parametrize("kind", ["cached_prompt", "one_piece"])
def test_where_no_time_to_a_first_token_is_told_a_cache_or_a_buffer_is_no_matter(name: str, kind: str) -> None:
    assert kinds(run(parts=(part(name, items=items(), cautions={kind: 4}),))) == []


def test_replies_that_were_cut_off_are_named_with_the_limit() -> None:
    (warning,) = judge(run(parts=(part("answers", items=items(), cautions={"cut_off": 3}),)))
    assert warning.text == (
        "Answers: 3 of 40 replies were cut off at 128 tokens; what they would have said is not known."
    )


def test_failed_requests_are_named_by_kind() -> None:
    failed = part("load", errors={"http_429": 2, "cut": 1}, requests=40, batches=(batch(requests=[request()]),))
    (warning,) = judge(run(parts=(failed,)))
    assert warning.text.startswith("Load: 3 of 40 requests failed and are in no timing: 2 http_429")


def test_decisions_that_follow_the_order_of_their_options_are_warned_of() -> None:
    def decided(changed: float) -> Run:
        figure = figure_of("decisions.larger.changed", "c", "answers", changed, (), formula="f", n=20)
        return made("a").model_copy(update={"parts": (part("decisions", (figure,)),)})

    (caution,) = judge(decided(18.0))
    assert (caution.kind, "18 of 20 (larger)" in caution.text) == ("order_bound", True)
    assert judge(decided(5.0)) == ()
