"""Puts the project on the network seam: the real api and Google's own packages ask it, and every body is checked.

What is asked and what is answered is held against Google's discovery documents; what they do not know ends the test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clouds.gcp import methods
from clouds.replay import Answer, Request
from tests.clouds.gcp import schemas
from tests.clouds.gcp.simulator.faults import Fault, Killed
from tests.clouds.gcp.simulator.project import Project, Refused


class Drift(AssertionError):
    """What was asked or answered is not Google's API."""


@dataclass
class Sent:
    """One request that was sent."""

    number: int
    name: str
    parameters: Mapping[str, Any]
    outcome: str = ""

    def __str__(self) -> str:
        return self.name


@dataclass
class Seam:
    """A tap that answers everything from the project. `fault` strikes one call; once killed, nothing is sent."""

    project: Project
    sent: list[Sent] = field(default_factory=list)
    fault: Fault | None = None
    down: str = ""
    checked: bool = True

    def start(self, project: Project) -> None:
        """Speak for another project from now on."""
        self.project, self.sent, self.fault, self.down, self.checked = project, [], None, "", True

    def wait(self, seconds: float) -> None:
        """Let time pass in the project that it speaks for."""
        self.project.clock.sleep(seconds)

    def before(self, request: Request) -> Answer:
        if self.down:
            raise Killed(self.down)
        sent = Sent(len(self.sent), request.name, dict(request.parameters))
        self.sent.append(sent)
        if self.fault is not None and self.fault.hits(sent):
            return self.fault.strike(self, request, sent)
        return self.act(request, sent)

    def after(self, request: Request, answer: Answer) -> None:
        """Nothing goes past this tap."""

    def act(self, request: Request, sent: Sent) -> Answer:
        """What Google does and answers."""
        from tests.clouds.gcp.simulator import OPERATIONS

        handler = OPERATIONS.get(request.name)
        if handler is None:
            raise Drift(f"the simulated project has no {request.name}")
        method = methods.table(request.service)[request.operation]
        if self.checked and (wrong := schemas.wrong(request.service, method.body, request.parameters.get("body"))):
            raise Drift(f"{request.name} was sent {'; '.join(wrong[:5])}")
        try:
            body = handler(self.project, request.parameters)
        except Refused as error:
            sent.outcome = str(error.status)
            return Answer(error.status, error.body)
        if self.checked and (wrong := schemas.wrong_answer(request.service, request.operation, body)):
            raise Drift(f"{request.name} answered {'; '.join(wrong[:5])}")
        sent.outcome = "200"
        return Answer(200, body)

    def kill(self, sent: Sent) -> Answer:
        """The process is gone from here on."""
        self.down = f"at {sent}"
        raise Killed(self.down)

    def operations(self) -> list[str]:
        return [one.name for one in self.sent]
