"""A worker program of the tests' own: it runs the product's worker with a few small tools."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tools.ledger import Book, Operation
from tools.operations import start

ROOT = Path(__file__).resolve().parents[3]

PROGRAM = """
import os, signal, sys, time
from pathlib import Path

sys.path.insert(0, {root!r})
from clouds.errors import Cancelled
from tools.ledger import Book
from tools.operations import run_worker

home = Path(os.environ["MODELRIG_HOME"])


def mark(word):
    with (home / "marks").open("a") as file:
        file.write(word + "\\n")


def execute(tool, arguments, progress):
    mark(f"{{tool}} attempt {{progress.attempt}}")
    if tool == "echo":
        progress.report("halfway", 1, 2)
        return {{"echo": arguments, "argv": sys.argv[1:], "cwd": os.getcwd()}}
    if tool == "sleep":
        try:
            progress.report("sleeping", 0, 60)
            progress.sleep(300)
        except Cancelled:
            mark("undone")
            raise
    if tool == "spin":
        while True:
            progress.check()
    if tool == "stubborn":
        mark("working")
        while not (home / "enough").exists():
            time.sleep(0.01)
        return {{"ended": "well"}}
    if tool == "dies":
        if progress.attempt <= arguments["times"]:
            progress.report("about to die")
            os.kill(os.getpid(), signal.SIGKILL)
        return {{"attempt": progress.attempt}}


sys.exit(run_worker(Book(home, who="worker"), sys.argv[-1], execute))
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    script = tmp_path_factory.mktemp("program") / "program.py"
    script.write_text(PROGRAM.format(root=str(ROOT)), encoding="utf-8")
    return (sys.executable, str(script))


@pytest.fixture
def book(home: Path) -> Iterator[Book]:
    """A ledger; whatever worker is left when the test ends is ended too."""
    with ended_with_its_workers(home) as opened:
        yield opened


@contextmanager
def ended_with_its_workers(home: Path) -> Iterator[Book]:
    with Book(home) as opened:
        yield opened
        for each in opened.operations.unfinished():
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(each.pid or 2**22 + 1)
                if process.cmdline()[-2:] == ["work", each.id]:  # a worker of this very operation, and nothing else
                    process.kill()


@dataclass(frozen=True)
class Sleeping:
    """An operation whose worker sleeps, and has said so, for tests that leave it sleeping."""

    book: Book
    id: str

    @property
    def now(self) -> Operation:
        return self.book.operations.get(self.id)


@pytest.fixture(scope="session")
def sleeping(program: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sleeping]:
    with ended_with_its_workers(tmp_path_factory.mktemp("sleeping") / "home") as book:
        made = Sleeping(book, start(book, "sleep", {}, program=program).id)
        _wait_until(lambda: made.now.message)
        yield made


Until = Callable[[Callable[[], object]], None]


@pytest.fixture
def until() -> Until:
    """Wait for something that another process does; fails after ten seconds."""
    return _wait_until


def _wait_until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline, "it did not come true within 10 s"
        time.sleep(0.005)


@pytest.fixture
def marks(home: Path) -> Callable[[], list[str]]:
    def read() -> list[str]:
        file = home / "marks"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    return read


@pytest.fixture
def ended(book: Book, until: Until) -> Callable[[str], Operation]:
    """The operation once it is over."""

    def wait(operation: str) -> Operation:
        until(lambda: book.operations.get(operation).over)
        return book.operations.get(operation)

    return wait
