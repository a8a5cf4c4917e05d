from __future__ import annotations

import socket
from typing import Any

import pytest

from clouds.errors import NotFound, NotSignedIn, PermissionMissing, Throttled, Unexpected, Unreachable
from tests.tools.measure.truth import Truth
from tools.measure.client import ModelClient
from tools.measure.client import learn as learning
from tools.measure.client.learn import learn


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "PAUSES", (0.001,))


def test_the_model_is_taken_from_the_list_and_what_is_refused_is_dropped_once(serve: Any, with_client: Any) -> None:
    truth = serve(rejects=("cache_prompt", "ignore_eos"), limit="max_completion_tokens")

    async def use(client: ModelClient) -> Any:
        listed = await learn(client)
        return listed["owned_by"], client.model, client.dialect.left_out, client.dialect.limit

    assert with_client(truth, use) == ("nobody", "truth", ("cache_prompt", "ignore_eos"), "max_completion_tokens")
    assert len(truth.bodies) == 4


def test_an_endpoint_that_takes_everything_is_asked_once(serve: Any, with_client: Any) -> None:
    truth = serve()

    async def use(client: ModelClient) -> Any:
        await learn(client)
        return client.dialect.left_out

    assert with_client(truth, use) == ()
    assert len(truth.bodies) == 1


def test_the_name_that_the_wire_gives_is_kept(serve: Any, with_client: Any) -> None:
    async def use(client: ModelClient) -> str:
        await learn(client)
        return client.model

    assert with_client(serve(), use, model="mine") == "mine"


def test_a_passing_fault_is_tried_again_before_any_clock_starts(serve: Any, with_client: Any) -> None:
    truth = serve(fault=lambda n, _body: {1: "429", 2: "cut", 3: "500"}.get(n, ""))
    with_client(truth, learn)
    assert len(truth.bodies) == 4


def test_an_endpoint_that_ignores_the_fixed_length_is_measured_all_the_same(serve: Any, with_client: Any) -> None:
    truth = serve(fault=lambda *_: "short")
    with_client(truth, learn)
    assert len(truth.bodies) == 2


@pytest.mark.parametrize(
    ("status", "error", "asked"),
    [("403", PermissionMissing, 1), ("404", NotFound, 1), ("418", Unexpected, 1), ("429", Throttled, 6),
     ("500", Unexpected, 6), ("503", Unreachable, 6)],
)  # fmt: skip
def test_a_lasting_refusal_says_what_to_do(
    serve: Any, with_client: Any, status: str, error: type[Exception], asked: int
) -> None:
    truth = serve(fault=lambda *_: status)
    with pytest.raises(error) as caught:
        with_client(truth, learn)
    assert caught.value.fix  # type: ignore[attr-defined]
    assert caught.value.code == status  # type: ignore[attr-defined]
    assert len(truth.bodies) == asked


def test_a_wrong_key_is_named_as_such_and_not_repeated(serve: Any, with_client: Any) -> None:
    truth = serve(key="right-key-1234")
    with pytest.raises(NotSignedIn, match="withheld") as caught:
        with_client(truth, learn, headers={"Authorization": "Bearer right-key-1234x"})
    assert "1234x" not in str(caught.value)


def test_where_nobody_listens_it_is_unreachable(with_client: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(Unreachable, match="refused"):
            with_client(Truth(url=f"http://127.0.0.1:{taken.getsockname()[1]}"), learn)
