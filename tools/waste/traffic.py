"""Sends reads in parallel under a limit for each service in each place, and hands the answers back to one thread.

Only workers block; whoever drives a scan lives in one thread and needs no lock. A service that throttles gets half its
limit and the request another turn.
"""

from __future__ import annotations

import heapq
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any

from clouds.base import Api, Progress
from clouds.errors import CloudError, Throttled
from clouds.models import Call, Scope

WORKERS = 256
"""Requests in flight in all; a waiting thread costs about 40 KB."""
TRIES = 4
BACK_OFF_SECONDS = 0.5


@dataclass(order=True)
class _Job:
    """One request on its way. Deeper chains go first, so that the longest one does not start last."""

    rank: int
    number: int
    call: Call = field(compare=False)
    scope: Scope = field(compare=False)
    token: Any = field(compare=False)
    key: tuple[str, Scope] = field(compare=False)
    tries: int = field(compare=False, default=0)


class Traffic:
    """`ask` queues a request, `take` waits for the next answer; `sent` counts requests by operation."""

    def __init__(self, api: Api, *, in_flight: int, clock: Callable[[], float], workers: int = WORKERS) -> None:
        self._api, self._clock, self._workers = api, clock, workers
        self._at_once = bool(getattr(api, "at_once", False))  # recorded answers: nobody has to wait for them
        self._limits: dict[tuple[str, Scope], int] = defaultdict(lambda: in_flight)
        self._running: Counter[tuple[str, Scope]] = Counter()
        self._waiting: dict[tuple[str, Scope], list[_Job]] = defaultdict(list)
        self._later: list[tuple[float, _Job]] = []
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[_Job, Any, BaseException | None]] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._given = 0
        self._numbers = count()
        self.open = 0
        self.done = 0
        self.sent: Counter[str] = Counter()

    def ask(self, call: Call, scope: Scope, token: Any, *, depth: int = 0) -> None:
        """Queue one request; its answer comes back from `take` with `token`."""
        self.open += 1
        self._queue(_Job(-depth, next(self._numbers), call, scope, token, (call.service, scope)))

    def take(self, progress: Progress) -> tuple[Any, Any, BaseException | None]:
        """The next (token, answer, error). Raises Cancelled when we are asked to stop."""
        while True:
            progress.check()
            wait = 0.5
            if self._later:
                wait = min(wait, max(0.0, self._later[0][0] - self._clock()))
            try:
                job, answer, error = self._answers.get(timeout=wait)
            except Empty:
                self._wake()
                continue
            self._given -= 1
            key = job.key
            self._running[key] -= 1
            if isinstance(error, Throttled) and job.tries < TRIES:
                self._limits[key] = max(1, self._limits[key] // 2)
                due = self._clock() + (error.retry_after or BACK_OFF_SECONDS * 2**job.tries)
                job.tries += 1
                heapq.heappush(self._later, (due, job))
                self._start(key)
                continue
            self.open -= 1
            self.done += 1
            self._start(key)
            return job.token, answer, error

    def close(self) -> None:
        """Let the workers go; requests under way end by themselves."""
        for _ in self._threads:
            self._jobs.put(None)

    def _wake(self) -> None:
        now = self._clock()
        while self._later and self._later[0][0] <= now:
            self._queue(heapq.heappop(self._later)[1])

    def _queue(self, job: _Job) -> None:
        heapq.heappush(self._waiting[job.key], job)
        self._start(job.key)

    def _start(self, key: tuple[str, Scope]) -> None:
        waiting = self._waiting[key]
        while waiting and self._running[key] < self._limits[key]:
            job = heapq.heappop(waiting)
            self._running[key] += 1
            self._given += 1
            self.sent[str(job.call)] += 1
            if self._at_once:
                self._answers.put(self._answered(job))
                continue
            if self._given > len(self._threads) and len(self._threads) < self._workers:
                thread = threading.Thread(target=self._work, name="modelrig-scan", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._jobs.put(job)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._answers.put(self._answered(job))

    def _answered(self, job: _Job) -> tuple[_Job, Any, BaseException | None]:
        try:
            return job, self._api.send(job.call, scope=job.scope), None
        except CloudError as error:
            return job, None, error
        except Exception as error:  # noqa: BLE001 - one bad answer never stops a scan; it is reported as unread
            return job, None, error
