"""A real local service in a home of its own, with the real ledger. Nothing of ours may run when a test has ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import Cancelled
from clouds.local import processes, tiny
from clouds.local.endpoints.llama import Llama
from clouds.models import DeploymentPlan, DeploymentSpec, Endpoint, EndpointRef, Scope, Setting
from tools.ledger import Book

FOREIGN = {"AWS_SECRET_ACCESS_KEY": "secret", "LLAMA_ARG_HOST": "0.0.0.0", "OMP_WAIT_POLICY": "passive"}  # noqa: S104 - it must not get through
"""Variables that are set where the standing endpoint is made: only the last is an engine's business."""
FAST: Mapping[str, Setting] = {"threads": 1, "slots": 1, "context": 256}


class Calm:
    """A Progress that keeps what it was told and can be asked to stop."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.cancel_at = ""

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        self.said.append(message)
        if self.cancel_at and self.cancel_at in message:
            raise Cancelled

    def check(self) -> None:
        """Nobody asked to stop."""

    def sleep(self, seconds: float) -> None:
        time.sleep(min(seconds, 0.02))


class Bench:
    """What a test works with: the service, the ledger, and short ways to plan, deploy and wait."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.llama = Llama(home)
        self.book = Book(home)
        self.progress = Calm()

    def plan(
        self, name: str = "one", model: str = "tiny-random", ttl_hours: float = 1.0, **settings: Setting
    ) -> DeploymentPlan:
        spec = DeploymentSpec("local", "llama", name, model, ttl_hours=ttl_hours, settings={**FAST, **settings})
        return self.llama.plan(spec)

    def begin(self, plan: DeploymentPlan) -> DeploymentPlan:
        """The plan, written down in the ledger."""
        return replace(plan, deployment=self.book.deployments.begin(plan.spec, plan))

    def create(self, plan: DeploymentPlan) -> Endpoint:
        return self.llama.create(plan, self.book, self.progress)

    def deploy(
        self, name: str = "one", model: str = "tiny-random", ttl_hours: float = 1.0, **settings: Setting
    ) -> DeploymentPlan:
        """Deploy and wait until it is ready."""
        plan = self.begin(self.plan(name, model, ttl_hours, **settings))
        self.create(plan)
        self.until(plan.ref, "ready")
        return plan

    def until(self, ref: EndpointRef, *states: str, seconds: float = 15.0) -> Endpoint:
        """Look until it is in one of these states."""
        endpoint = self.llama.get(ref)
        for _ in waiting(seconds):
            endpoint = self.llama.get(ref)
            if endpoint.state in states:
                return endpoint
            if endpoint.state in {"failed", "stopped"}:
                break
        pytest.fail(f"{endpoint.state} ({endpoint.reason}) and not {states} after {seconds} s")

    def delete(self, ref: EndpointRef) -> Any:
        return self.llama.delete(ref, self.book, self.progress)

    def names(self) -> list[str]:
        return [endpoint.ref.rpartition(":")[2] for endpoint in self.llama.list(scope=Scope()).found]

    def supervisor(self, ref: EndpointRef) -> processes.Found:
        """The process of an endpoint; fails when there is none."""
        return next(each for each in processes.scan(self.home, ref.name) if each.role == "supervisor")

    def steps(self, deployment: str) -> list[tuple[str, str]]:
        """The ledger's rows as (operation, state)."""
        return [(step.call.operation, step.state) for step in self.book.steps(deployment)]


def waiting(seconds: float) -> Iterator[float]:
    """Turns of 20 ms, until the time is over: a look takes 3 ms from what is waited for."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        yield left
        time.sleep(0.02)


def ours(under: Path) -> list[int]:
    """Every process of ours whose home is under this folder."""
    return sorted(each.pid for each in processes.live() if Path(each.started.home).is_relative_to(under))


@pytest.fixture
def nothing_left(tmp_path: Path) -> Iterator[None]:
    """No process of ours outlives its test."""
    yield
    left = ours(tmp_path)
    for pid in left:
        import psutil

        psutil.Process(pid).kill()
    assert left == [], "a test left processes running"


@pytest.fixture(scope="session")
def tiny_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny random model, made once."""
    path = tmp_path_factory.mktemp("models") / "tiny-random.gguf"
    tiny.write(path)
    return path


@pytest.fixture
def bench(tmp_path: Path, nothing_left: None) -> Iterator[Bench]:
    bench = Bench(tmp_path / "home")
    yield bench
    for endpoint in bench.llama.list(scope=Scope()).found:
        bench.delete(EndpointRef.parse(endpoint.ref))
    bench.book.close()


Standing = tuple[Bench, DeploymentPlan]


@pytest.fixture(scope="session")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """One ready endpoint, for tests that leave it as they found it. A credential was set where it was made."""
    bench = Bench(tmp_path_factory.mktemp("standing") / "home")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in FOREIGN.items():
            patch.setenv(name, value)
        plan = bench.deploy("one", slots=2, context=512, flags="--cache-type-k q8_0 --flash-attn on")
    yield bench, plan
    bench.delete(plan.ref)
    assert ours(bench.home) == []
    bench.book.close()


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Put a program of this text on the PATH."""
    import os

    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def put(name: str, text: str) -> Path:
        program = folder / name
        program.write_text(text)
        program.chmod(0o755)
        return program

    return put


@pytest.fixture
def benches(nothing_left: None) -> Iterator[Callable[[Path], Bench]]:
    """A bench on a home that somebody else left behind."""
    made: list[Bench] = []

    def make(home: Path) -> Bench:
        made.append(Bench(home))
        return made[-1]

    yield make
    for bench in made:
        bench.book.close()
