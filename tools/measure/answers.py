"""Answers: forty questions with exact answers, scored by code, every reply kept.

They are the same in every run, so that runs are compared question by question. A failed request is a wrong answer and
stays among the forty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tools.measure.client import ChatRequest, Reply
from tools.measure.measurement import Ask, Bench, Measurement, Taken, figure_of
from tools.measure.questions import SEED, Question, make_questions
from tools.measure.record import Figure, Item, Scalar

LABEL = "answers"


@dataclass(frozen=True)
class AnswersPlan:
    """The questions, how many at once, and the limit of a reply."""

    seed: int
    streams: int
    max_tokens: int

    @property
    def questions(self) -> tuple[Question, ...]:
        """The set; the same seed gives the same."""
        return make_questions(self.seed)

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """The shape of the part."""
        return {
            "seed": self.seed,
            "questions": len(self.questions),
            "at_once": self.streams,
            "max_tokens": self.max_tokens,
            "temperature": 0,
        }

    @property
    def steps(self) -> int:
        """One: the set is asked in one go."""
        return 1


def plan(ask: Ask) -> AnswersPlan:
    """Pure: what will be asked."""
    tokens = ask.options.whole("answers.tokens", ask.profile.answer_tokens, 1, 32_768)
    return AnswersPlan(SEED, ask.profile.answer_streams, tokens)


async def run(plan: AnswersPlan, bench: Bench) -> None:
    """Ask all of them, so many at a time, and grade each."""
    questions = plan.questions
    requests = [ChatRequest(each.text, plan.max_tokens, label=each.id) for each in questions]
    says = f"answers: {len(questions)} questions, {plan.streams} at once"
    batch = await bench.client.in_flight(requests, plan.streams)
    bench.taken.items += [grade(question, reply) for question, reply in zip(questions, batch.replies, strict=True)]
    bench.keep(LABEL, plan.streams, batch, says)


def grade(question: Question, reply: Reply) -> Item:
    """One graded reply. Only the answer is read, never the reasoning before it."""
    said = question.read(reply.text) if reply.ok else ""
    return Item(
        id=question.id,
        kind=question.kind,
        question=question.text,
        expected=question.expected,
        reply=reply.text,
        said=said,
        right=reply.ok and said == question.expected,
        outcome=reply.kind,
        cut_off=reply.finish == "length",
        tokens=reply.tokens,
    )


def figures(plan: AnswersPlan, taken: Taken) -> tuple[Figure, ...]:
    """Right answers, in all and by kind, and the wall time of the set."""
    items = taken.items
    kinds = dict.fromkeys(item.kind for item in items)
    asked = len(plan.questions)
    walls = [batch.wall for batch in taken.labelled(LABEL)]
    found = [_right("answers.right", f"answers right of {asked}", items, main=True)]
    for kind in kinds:
        some = [item for item in items if item.kind == kind]
        found.append(_right(f"answers.right.{kind}", f"{kind}, right of {len(some)}", some))
    seconds = figure_of(
        "answers.wall_seconds",
        f"the {asked} questions, s",
        "s",
        walls[0] if walls else None,
        walls,
        formula="answers_wall",
        better="lower",
        why="not asked",
    )
    return (*found, seconds)


def _right(key: str, label: str, items: list[Item], *, main: bool = False) -> Figure:
    value = float(sum(item.right for item in items)) if items else None
    return figure_of(
        key, label, "answers", value, (), formula="right", better="higher", main=main, n=len(items), why="not asked"
    )


ANSWERS = Measurement(
    name="answers",
    title="forty questions with exact answers",
    plan=plan,
    run=run,
    figures=figures,
    formulas={
        "right": "replies whose last number, or the one after `Answer:` (the city's name for capitals), is the exact "
        "answer; a failed request counts as wrong",
        "answers_wall": "last token of the last good reply - first request, all questions",
    },
    options={"tokens": "limit of an answer; default the profile's"},
)
