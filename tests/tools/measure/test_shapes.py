"""Shapes of timed requests: 1,024 tokens in and 128 out, and others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from tests.tools.measure.asking import run_of
from tests.tools.measure.made import made, part
from tests.tools.measure.scripted import Said, speaking
from tests.tools.measure.scripted import run_of as asked_of
from tests.tools.measure.truth import Truth
from tools.measure.comparing.differences import shape_problems
from tools.measure.options import Options
from tools.measure.shapes import Shape, shape

Serve = Callable[..., Truth]


def test_a_shape_is_read_as_it_is_written() -> None:
    assert shape(Options({"a": "1024/128"}), "a", 256) == Shape(1024, 128)
    assert shape(Options({"a": "1,024/128"}), "a", 256) == Shape(1024, 128)
    assert shape(Options(), "a", 256) == Shape(0, 256)


@pytest.mark.parametrize("text", ["1024", "a/b", "1024/0", "1024/1", "-1/2", "99999999/2"])
def test_a_shape_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        shape(Options({"a": text}), "a", 256)
    assert caught.value.fix == "Give prompt/output tokens, such as 1024/128."


def test_prompts_have_the_length_that_was_asked_for(tmp_path: Path) -> None:
    """A server that counts four characters a token, as the filler's length is learnt from it."""
    lengths: list[int] = []

    def counting(body: dict[str, object]) -> Said:
        text = body["messages"][-1]["content"]  # type: ignore[index]
        lengths.append(len(text) // 4)
        return Said("word " * 20, finish="length", tokens=128, prompt_tokens=len(text) // 4)

    with speaking(counting) as server:
        run = asked_of(server, tmp_path, "load", "load.shape=1024/128", "load.warmup=1", levels=(1,))
    assert run.state == "complete"
    assert all(length == pytest.approx(1024, rel=0.03) for length in lengths[1:]), lengths
    load = run.part("load")
    assert load is not None
    assert (load.settings["prompt_tokens"], load.settings["tokens"], load.settings["warmup"]) == (1024, 128, 1)
    assert [batch.label for batch in load.batches] == ["sample", "warm-up", "1", "1"]


def test_what_warms_an_engine_up_is_in_no_figure(serve: Serve, tmp_path: Path) -> None:
    """The first request of an engine that compiles takes a second; it is kept, and no figure has it."""
    truth = serve(ttft=0.004, itl=0.0005, pause=lambda due: due)
    truth.fault = lambda n, _body: "slow" if n == 2 else ""
    truth.ttft = 0.020
    run = run_of(truth, tmp_path, "load", "load.warmup=1", "load.shape=0/8", levels=(1,))
    load = run.part("load")
    assert load is not None
    assert (load.batches[0].label, (load.batches[0].requests[0].ttft_ms or 0) > 150) == ("warm-up", True)
    ttft = run.figure("load.1.ttft_p99_ms")
    assert ttft is not None
    assert (ttft.n, (ttft.value or 0) < 120) == (2, True)  # of a machine that does much else beside it


def test_runs_of_two_shapes_are_given_no_verdict() -> None:
    first = made("a", parts=(part("load", settings={"tokens": 128, "prompt_tokens": 1024}),))
    second = made("b", parts=(part("load", settings={"tokens": 128}),))
    assert shape_problems(first, second, "load") == ("load prompt_tokens differs (1024, None)",)
