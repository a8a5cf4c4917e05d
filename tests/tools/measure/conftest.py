"""Shared by the tests of measuring: servers of known timing, a client in its own loop, and runs made by hand."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from typing import Any, TypeVar

import pytest

from clouds.models import Wire
from tests.tools.measure.truth import Truth, serving
from tools.measure import host
from tools.measure.client import Limits, ModelClient, model_client, stalls
from tools.measure.loop import loop_factory

T = TypeVar("T")
Use = Callable[[ModelClient], Coroutine[Any, Any, T]]


@pytest.fixture(scope="session", autouse=True)
def short_calibration() -> Iterator[None]:
    """A fortieth of the arithmetic that tells whether the machine is steady: some hundred runs are measured here. And
    servers that are a millisecond away need no quarter of a second for a connection."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host, "WORK", host.WORK // 40)
        patch.setattr(model_client, "AHEAD", 0.03)
        yield


@pytest.fixture
def short_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause of 280 ms is a stall, as the server's `stall` lasts a little longer."""
    monkeypatch.setattr(stalls, "SECONDS", 0.28)


@pytest.fixture
def no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without the package: where nobody looks at pictures, they would take most of the time."""
    monkeypatch.setitem(sys.modules, "resvg_py", None)


@pytest.fixture
def serve() -> Iterator[Callable[..., Truth]]:
    """Starts a server of known timing; all are ended with the test."""
    with ExitStack() as stack:
        yield lambda **fields: stack.enter_context(serving(Truth(**fields)))


@pytest.fixture
def with_client() -> Callable[..., Any]:
    """Runs a coroutine with a client of a server, in a loop like the real one."""

    def run(truth: Truth, use: Use[T], limits: Limits | None = None, **wire: Any) -> T:
        async def main() -> T:
            async with ModelClient(Wire(url=truth.url, **wire), limits) as client:
                return await use(client)

        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            return runner.run(main())

    return run
