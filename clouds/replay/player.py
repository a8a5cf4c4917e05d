"""Answers requests from fixtures. A request without one is an error and never reaches a network."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from threading import Lock
from typing import Any

from clouds.errors import CloudError
from clouds.replay.fixtures import Fixture, Scenario, names, plain
from clouds.replay.seam import Answer, Request

_Who = tuple[str, str, str]
REFUSED = frozenset({401, 403})
"""Statuses that say who may, and nothing of what is there."""


ASKED = 160
"""Characters of a request's parameters that a refusal quotes."""


class NotRecorded(CloudError):
    """A replay was asked for something that nobody recorded. In one line among others only that is said; what was
    asked and which fixtures come near is in `answered`, for whoever records."""

    def __str__(self) -> str:
        """`ec2.DescribeVolumes in us-east-2: not recorded`."""
        return f"{self.tried}: not recorded"


class Replay:
    """A tap that answers every request from its fixtures. Safe to share between threads.

    A sequence is counted for each place and account by itself and, where it names parameters, for each request: what
    one is answered does not depend on which others are asked meanwhile, so that threads cannot race for an answer.
    `sent` holds every request in order, so that a test can say what was not sent; `missed` those without an answer.
    """

    def __init__(self, scenarios: Iterable[Scenario], first: Iterable[Scenario] = ()) -> None:
        """Fixtures of later scenarios continue the sequences of earlier ones.

        Those of `first`, one coherent account, answer whatever they can; only what they lack is looked for elsewhere,
        and what somebody else was refused is no answer for it.
        """
        self.sent: list[Request] = []
        self.missed: list[Request] = []
        leading = tuple(fixture for scenario in first for fixture in scenario.fixtures)
        others = (fixture for scenario in scenarios for fixture in scenario.fixtures)
        self._fixtures = (*leading, *(each for each in others if not leading or each.answer.status not in REFUSED))
        self._leading = len(leading)
        self._places: dict[tuple[str, str], list[int]] = {}
        for place, each in enumerate(self._fixtures):
            self._places.setdefault((each.service, each.operation), []).append(place)
        self._served: Counter[tuple[int, _Who]] = Counter()
        self._lock = Lock()

    @property
    def operations(self) -> list[str]:
        """`service.Operation` of everything sent, in order."""
        return [request.name for request in self.sent]

    def before(self, request: Request) -> Answer:
        """The recorded answer. Raises NotRecorded, which names the request and the nearest fixtures."""
        asked = plain(request.parameters)
        with self._lock:
            self.sent.append(request)
            place = self._place(request, asked)
            if place is None:
                self.missed.append(request)
                error = NotRecorded(
                    f"{request}",
                    answered=f"nobody recorded it with {_cut(json.dumps(asked))}; {self._nearest(request)}",
                    fix="The recordings go no further: without --replay a real account answers; "
                    "or add a fixture of this request.",
                    sent=False,
                )
                error.add_note(error.answered)  # a test that fails by it shows which fixtures come near
                raise error
            self._served[place, _who(self._fixtures[place], request, asked)] += 1
            return self._fixtures[place].answer

    def after(self, request: Request, answer: Answer) -> None:
        """Nothing: a replay has no network to hear of."""

    def _place(self, request: Request, asked: Any) -> int | None:
        services = {request.service, request.alias}
        named = sorted(i for service in services for i in self._places.get((service, request.operation), ()))
        matching = [i for i in named if self._fixtures[i].answers(request, asked)]
        if not matching:
            return None
        matching = [i for i in matching if i < self._leading] or matching
        best = max(self._fixtures[i].weight for i in matching)
        first = next(i for i in matching if self._fixtures[i].weight == best)
        sequence = [i for i in matching if self._fixtures[i].conditions == self._fixtures[first].conditions]
        who = _who(self._fixtures[first], request, asked)
        for i in sequence[:-1]:
            if self._served[i, who] < (self._fixtures[i].times or 1):
                return i
        last = sequence[-1]
        times = self._fixtures[last].times
        return last if times is None or self._served[last, who] < times else None

    def _nearest(self, request: Request) -> str:
        same = [fixture for fixture in self._fixtures if fixture.operation == request.operation]
        if same:
            return "nearest: " + "; ".join(f"{item.name}: {_why(item, request)}" for item in same[:3])
        close = get_close_matches(request.name, sorted(set(names(self._fixtures))), n=3, cutoff=0.3)
        return f"no {request.operation} was recorded; nearest: {', '.join(close) or 'nothing alike'}"


def _who(fixture: Fixture, request: Request, asked: Any) -> _Who:
    """For whom a sequence is counted; one without parameters is an operation's answers in their order."""
    told = "" if fixture.parameters is None else json.dumps(asked)
    return request.location, request.account, told


def _cut(text: str) -> str:
    return text if len(text) <= ASKED else f"{text[:ASKED]}…"


def _why(fixture: Fixture, request: Request) -> str:
    return ", ".join(fixture.misses(request)[:3]) or f"was served {fixture.times} times and no more"
