"""Runs one call of the local service again and again, and kills itself outright (SIGKILL) at the steps that are named.

Each line of its input is a task of three words with a tab between two:

    ROOT  create|update|delete  1-99      at its 1st, 2nd, ... step, until it was not killed

A step is each write to the ledger or a file, each process start and each signal; between two of them nothing changes,
so after each one is every moment there is. Every try has a home of its own, `ROOT/<number>`. Prints one line a try: its
number and after what it was killed ("done": nothing); then an empty line. Ends with the status of a try that failed.
"""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from clouds.local import places, processes, tiny
from clouds.local.endpoints.llama import Llama
from clouds.models import Change, DeploymentSpec
from tools.ledger import Book

SETTINGS = {"threads": 1, "slots": 1, "context": 256}


class Steps:
    """Counts steps and kills this process at the one that is asked for; 0 never."""

    def __init__(self) -> None:
        self.count, self.fatal, self.note = 0, 0, Path()

    def pass_by(self, name: str) -> None:
        if not self.fatal:
            return
        self.count += 1
        if self.count == self.fatal:
            self.note.write_text(name)
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, owner: Any, *names: str) -> None:
        for name in names:
            setattr(owner, name, self._watched(getattr(owner, name), f"{getattr(owner, '__name__', owner)}.{name}"))

    def _watched(self, call: Any, name: str) -> Any:
        @functools.wraps(call)
        def watched(*arguments: Any, **named: Any) -> Any:
            result = call(*arguments, **named)
            self.pass_by(name)
            return result

        return watched


class Calm:
    def report(self, *_: Any) -> None: ...
    def check(self) -> None: ...

    def sleep(self, seconds: float) -> None:
        time.sleep(min(seconds, 0.02))


def main(home: Path, action: str, steps: Steps, fatal: int) -> None:
    llama, book = Llama(home), Book(home)
    plan = llama.plan(DeploymentSpec("local", "llama", "one", "tiny-random", settings=SETTINGS))
    plan = replace(plan, deployment=book.deployments.begin(plan.spec, plan))
    if action != "create":
        llama.create(plan, book, Calm())
    steps.fatal, steps.note = fatal, home / "killed-at"
    if action == "create":
        llama.create(plan, book, Calm())
    elif action == "update":
        llama.update(plan.ref, Change(settings={"context": 512}, ttl_hours=2), book, Calm())
    else:
        llama.delete(plan.ref, book, Calm())


def tries(root: Path, action: str, first: int, last: int, steps: Steps) -> None:
    """Each try in a fork, so that what a Python imports is imported once for all of them."""
    for number in range(first, last + 1):
        home = root / str(number)
        home.mkdir()
        child = os.fork()
        if child == 0:
            main(home, action, steps, number)  # an error ends this try with a traceback, and then all
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        note = home / "killed-at"
        print(number, note.read_text() if note.exists() else "done", flush=True)
        if not os.WIFSIGNALED(status):
            if code := os.WEXITSTATUS(status):
                sys.exit(code)
            return


if __name__ == "__main__":
    import gguf  # these once, before the tries fork
    import psutil

    del gguf, psutil
    steps = Steps()
    steps.watch(Book, "intent", "done", "undone")
    steps.watch(places, "write", "make_key")
    steps.watch(places.Place, "remove")
    steps.watch(processes, "end")
    steps.watch(subprocess.Popen, "__init__")
    steps.watch(tiny, "write")
    for line in sys.stdin:
        root, action, numbers = line.rstrip("\n").split("\t")
        first, last = map(int, numbers.split("-"))
        tries(Path(root), action, first, last, steps)
        print(flush=True)
