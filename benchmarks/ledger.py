"""How fast the ledger is: opening and reading it, one committed step, a worker from start to result. Medians, in ms.

python benchmarks/ledger.py [REPEATS]
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from clouds.models import Call, DeploymentPlan, DeploymentSpec, EndpointRef
from tools import operations
from tools.ledger import Book
from tools.progress import CallProgress

DEPLOYMENTS = 200


def milliseconds(run: Callable[[], object], repeats: int) -> str:
    """Median and range of one thing done `repeats` times."""
    taken = []
    for _ in range(repeats):
        begun = time.perf_counter()
        run()
        taken.append(1000 * (time.perf_counter() - begun))
    return f"{statistics.median(taken):.2f} ({min(taken):.2f} to {max(taken):.2f})"


def filled(home: Path) -> str:
    """A ledger with many deployments that are over and ten that are live; returns one of these."""
    with Book(home) as book:
        for number in range(DEPLOYMENTS):
            spec = DeploymentSpec("local", "llama", f"g{number}", "m", settings={"context": 2048})
            found = book.deployments.begin(
                spec, DeploymentPlan(spec, EndpointRef("local", "llama", "here", spec.name), ())
            )
            if number < DEPLOYMENTS - 10:
                book.deployments.ended(found)
        return found


def main(repeats: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        deployment = filled(home)
        program = home / "program.py"
        program.write_text(
            f"import os, sys\nsys.path.insert(0, {os.fspath(Path(__file__).resolve().parent.parent)!r})\n"
            "from pathlib import Path\nfrom tools.ledger import Book\nfrom tools.operations import run_worker\n"
            "run_worker(Book(Path(os.environ['MODELRIG_HOME'])), sys.argv[-1], lambda *_: {'a': 1})\n",
            encoding="utf-8",
        )

        def opened() -> None:
            with Book(home) as book:
                assert len(book.deployments.live()) == 10

        print(f"open, read 10 live of {DEPLOYMENTS} deployments, close: {milliseconds(opened, repeats)}")
        with Book(home) as book:
            print(f"read 10 live deployments: {milliseconds(book.deployments.live, repeats)}")
            print(f"commit an intent: {milliseconds(lambda: book.intent(deployment, Call('x', 'Create')), repeats)}")
            begin = (sys.executable, str(program))

            def worked() -> None:
                operation = operations.start(book, "x", {}, program=begin)
                found = operations.wait(book, operation.id, 20, CallProgress(), program=begin)
                assert found.state == "done"

            print(f"a worker from being asked to its result: {milliseconds(worked, min(repeats, 10))}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
