"""What the ledger is told: each thing before it is made and after, and how what an earlier try left has ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clouds.base import Ledger, Step
from clouds.errors import Unexpected
from clouds.local import places
from clouds.local.endpoints import starting
from clouds.local.endpoints.reading import Seen
from clouds.local.places import Place
from clouds.models import Call

MODELS = frozenset({"FetchModel", "MakeModel"})
PROCESSES = frozenset({"StartEngine", "ReplaceEngine"})


class Made:
    """What this creation made so far, newest last, so that it can be undone."""

    def __init__(self, place: Place, ledger: Ledger, deployment: str) -> None:
        self._place, self._ledger, self._deployment = place, ledger, deployment
        self._open: int | None = None
        self._done: list[tuple[int, Path | None]] = []

    def intend(self, call: Call) -> None:
        """Write down what is about to be made."""
        self._open = self._ledger.intent(self._deployment, call)

    def done(self, result: dict[str, Any], made: Path | None = None) -> None:
        """Write down that it was made; `made` is the file to remove when it is undone."""
        if self._open is not None:
            self._ledger.done(self._open, result)
            self._done.append((self._open, made))
            self._open = None

    def undo(self) -> None:
        """End every process of ours, remove what was made, and write that down too."""
        left = starting.stop(self._place)
        if left:
            raise Unexpected(
                f"undoing {self._place.name}",
                answered=f"process {left[0]} does not end",
                fix=f"Delete the endpoint {self._place.name}.",
            )
        for step, made in reversed(self._done):
            if made is not None and not in_use(made, self._place):
                made.unlink(missing_ok=True)
            self._ledger.undone(step)
        if self._open is not None:
            self._ledger.undone(self._open)
        self._place.remove()


def in_use(model: Path, but: Place) -> bool:
    """Whether another endpoint was made with this file. A damaged file of another endpoint counts as yes."""
    for place in places.places(but.home):
        if place.name == but.name:
            continue
        try:
            written = [places.read(place.spec), places.read(place.state)]
        except ValueError:
            return True
        if any(each and (each.get("launch") or {}).get("model_path") == str(model) for each in written):
            return True
    return False


def adopt(ledger: Ledger, deployment: str, seen: Seen) -> None:
    """Close the steps that an interrupted creation left open: what they made is here, and was found."""
    running = seen.supervisor.started.start if seen.supervisor else ""
    for step in opened(ledger, deployment):
        if step.call.operation in PROCESSES and step.call.parameters.get("start", running) == running and running:
            ledger.done(step.id, {"pid": seen.state.get("pid"), "port": seen.state.get("port"), "adopted": True})
        else:
            _close(ledger, step)


def close(ledger: Ledger, deployment: str) -> None:
    """Close the open steps of a deployment of which no process is left."""
    for step in opened(ledger, deployment):
        _close(ledger, step)


def gone(ledger: Ledger, deployment: str) -> None:
    """Write down that the processes of a deployment are gone. Models stay: they are shared."""
    for step in ledger.steps(deployment):
        if step.call.operation in PROCESSES and step.state in {"intent", "done"}:
            ledger.undone(step.id)
    close(ledger, deployment)


def opened(ledger: Ledger, deployment: str) -> list[Step]:
    """Steps that were intended and of which nobody wrote down the end."""
    return [step for step in ledger.steps(deployment) if step.state == "intent"] if deployment else []


def _close(ledger: Ledger, step: Step) -> None:
    """A model is there or is not; a process that was not found is not."""
    path = Path(str(step.call.parameters.get("path", "")))
    if step.call.operation in MODELS and path.is_file():
        ledger.done(step.id, {"path": str(path), "bytes": path.stat().st_size})
    else:
        ledger.undone(step.id)
