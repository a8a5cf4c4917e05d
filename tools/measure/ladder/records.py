"""What a ladder is made of: answers, rungs and the ladder itself."""

from __future__ import annotations

from collections.abc import Mapping

from clouds.errors import InvalidInput
from clouds.models import Record, Setting


class Answer(Record):
    """One question answered once. An error of the server is a wrong answer that stays in the denominator."""

    id: str
    expected: str
    said: str | None = None
    """What the grader read; None when there was nothing to read."""
    right: bool
    text: str = ""
    """The reply's content, the only part that is graded."""
    reasoning: str = ""
    """What came in the thinking block."""
    finish: str = ""
    """The engine's own word; "length" is a reply that was cut off at the limit."""
    tokens: int | None = None
    seconds: float | None = None
    tokens_per_second: float | None = None
    error: str = ""


class Rung(Record):
    """One quantization of a model on one machine, and all its answers."""

    name: str
    answers: tuple[Answer, ...]
    bytes: int | None = None
    sha256: str = ""
    tensors_sha256: str = ""
    """Of the tensors without metadata: what two machines must share for a comparison of hardware."""
    tokens_per_second: float | None = None
    """Median decode rate; None falls back on the median over the answers."""
    memory_bytes: int | None = None
    layers: int | None = None
    layers_on_accelerator: int | None = None
    settings: Mapping[str, Setting] = {}

    @property
    def right(self) -> int:
        """Answers that are right."""
        return sum(answer.right for answer in self.answers)

    @property
    def split(self) -> bool:
        """Some layers run beside the accelerator: its speed is another machine's speed."""
        return self.layers is not None and self.layers_on_accelerator not in {None, self.layers}


class Ladder(Record):
    """Rungs from the base down, on one machine with one set of settings. The base comes first."""

    name: str
    rungs: tuple[Rung, ...]
    settings: Mapping[str, Setting] = {}
    """What holds for every rung: engine, version, accelerator, thinking, token limit."""

    @property
    def base(self) -> Rung:
        """The rung that the others are counted against."""
        return self.rungs[0]

    def rung(self, name: str) -> Rung:
        """Raises InvalidInput with the names there are."""
        for rung in self.rungs:
            if rung.name == name:
                return rung
        raise InvalidInput(
            "rung",
            f"{self.name} has no rung {name[:40]!r}",
            fix="Name one of its rungs.",
            allowed=tuple(rung.name for rung in self.rungs),
        )


def ladder(name: str, rungs: tuple[Rung, ...], settings: Mapping[str, Setting] | None = None) -> Ladder:
    """Check that the rungs can be compared: at least a base, each name once, each question once and on every rung."""
    if not rungs:
        raise InvalidInput("rungs", "there is no rung", fix="Give the base first, then the other rungs.")
    names = [rung.name for rung in rungs]
    if len(set(names)) != len(names):
        raise InvalidInput("rungs", f"a name is there twice in {names}", fix="Name every rung differently.")
    wanted = {answer.id for answer in rungs[0].answers}
    for rung in rungs:
        ids = [answer.id for answer in rung.answers]
        if len(set(ids)) != len(ids):
            raise InvalidInput("rungs", f"{rung.name} answers a question twice", fix="Keep one answer a question.")
        if set(ids) != wanted:
            missing, more = len(wanted - set(ids)), len(set(ids) - wanted)
            raise InvalidInput(
                "rungs",
                f"{rung.name} lacks {missing} questions of {rungs[0].name} and has {more} others",
                fix="Finish the rung first: an incomplete run never stands for a complete one.",
            )
    return Ladder(name=name, rungs=rungs, settings=settings or {})


def by_id(rung: Rung) -> dict[str, Answer]:
    """A rung's answers by question."""
    return {answer.id: answer for answer in rung.answers}


def right_ids(rung: Rung) -> set[str]:
    """The questions that a rung answers right."""
    return {answer.id for answer in rung.answers if answer.right}
