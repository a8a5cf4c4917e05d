"""The same rung twice: a moved answer means something only if the same question has the same answer every time."""

from __future__ import annotations

from collections.abc import Iterable

from clouds.errors import InvalidInput
from clouds.models import Record
from tools.measure.ladder.records import Rung, by_id


class Repeat(Record):
    """Two runs of one rung over the questions that both have; three zeros where the engine repeats itself."""

    rung: str
    n: int
    different_text: int
    different_answer: int
    different_grade: int
    right_first: int
    right_second: int
    not_shared: int
    """Questions that only one of the runs has."""

    @property
    def identical(self) -> bool:
        """Every character of every answer is the same."""
        return self.n > 0 and not self.different_text


def repeat(first: Rung, second: Rung) -> Repeat:
    """Raises InvalidInput when the two share no question."""
    one, other = by_id(first), by_id(second)
    ids = [id_ for id_ in one if id_ in other]
    if not ids:
        raise InvalidInput("second", "the two runs share no question", fix="Repeat with the same questions.")
    pairs = [(one[id_], other[id_]) for id_ in ids]
    return Repeat(
        rung=first.name,
        n=len(ids),
        different_text=sum((a.text, a.reasoning) != (b.text, b.reasoning) for a, b in pairs),
        different_answer=sum(a.said != b.said for a, b in pairs),
        different_grade=sum(a.right != b.right for a, b in pairs),
        right_first=sum(a.right for a, _ in pairs),
        right_second=sum(b.right for _, b in pairs),
        not_shared=len(one) + len(other) - 2 * len(ids),
    )


def repeat_note(repeats: Iterable[Repeat]) -> str:
    """The sentence that belongs under every ladder."""
    made = list(repeats)
    if not made:
        return "No rung was run twice: answers that moved may be the engine's own wavering."
    moved = [each for each in made if not each.identical]
    if not moved:
        names = ", ".join(dict.fromkeys(each.rung for each in made))
        return f"Run twice with the same text on every question: {names}; a moved answer comes from the weights."
    words = "; ".join(
        f"{each.rung}: {each.different_text} texts and {each.different_grade} grades of {each.n}" for each in moved
    )
    return f"The same rung run twice differs ({words}): up to that many moved answers mean nothing."
