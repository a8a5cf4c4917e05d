"""Single function calls, asked and graded by name and arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.measure.client import ChatRequest, Reply
from tools.measure.measurement import Ask, Bench, Measurement, Taken, figure_of
from tools.measure.record import Figure, Item, Scalar
from tools.measure.toolcalls.functions import FunctionQuestion, FunctionSet, bfcl_simple, grade_call, own_functions
from tools.measure.toolcalls.grading import written_calls
from tools.measure.turns import calls_of, messages, thinking

AT_A_STEP = 32
FIRST = 3


@dataclass(frozen=True)
class FunctionsPlan:
    """The requests, how many at once, and the limit of a reply."""

    set: FunctionSet
    streams: int
    max_tokens: int
    thinks: str
    extra: Mapping[str, object]

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """The shape of the part."""
        return {
            "set": self.set.name,
            "sha256": self.set.sha256,
            "questions": len(self.set.questions),
            "at_once": self.streams,
            "max_tokens": self.max_tokens,
            "thinking": self.thinks,
            "temperature": 0,
        }

    @property
    def steps(self) -> int:
        """One for the first requests, one for some of the others."""
        return 1 + -(-max(0, len(self.set.questions) - FIRST) // AT_A_STEP)


def plan(ask: Ask) -> FunctionsPlan:
    """What will be asked. Reads BFCL's files where they are wanted."""
    options = ask.options
    limit = options.whole("functions.limit", 100_000, 1, 100_000)
    which = options.text("functions.set", "own", ("own", "bfcl-simple"))
    found = bfcl_simple(limit) if which == "bfcl-simple" else own_functions()
    thinks, extra = thinking(options, "functions.thinking")
    return FunctionsPlan(
        FunctionSet(found.name, found.sha256, found.questions[:limit]),
        options.whole("functions.at_once", 8, 1, 64),
        options.whole("functions.tokens", 512, 16, 131_072),
        thinks,
        extra,
    )


async def run(plan: FunctionsPlan, bench: Bench) -> None:
    """The first few show whether the endpoint returns calls at all; one that does not is named, not scored."""
    questions = plan.set.questions
    await _some(plan, bench, questions[:FIRST])
    if _blind(bench.taken.items):
        return
    for start in range(FIRST, len(questions), AT_A_STEP):
        await _some(plan, bench, questions[start : start + AT_A_STEP])


async def _some(plan: FunctionsPlan, bench: Bench, questions: Sequence[FunctionQuestion]) -> None:
    requests = [
        ChatRequest(
            "",
            plan.max_tokens,
            each.id,
            extra={**plan.extra, "messages": messages(each.text), "tools": [each.schema], "tool_choice": "auto"},
        )
        for each in questions
    ]
    batch = await bench.client.in_flight(requests, plan.streams)
    bench.taken.items += [item_of(each, reply) for each, reply in zip(questions, batch.replies, strict=True)]
    bench.keep("functions", plan.streams, batch, f"functions: {len(bench.taken.items)} of {len(plan.set.questions)}")


def item_of(question: FunctionQuestion, reply: Reply) -> Item:
    """One request in a run's record."""
    calls = [(call.name, call.arguments) for call in calls_of(reply)] if reply.ok else []
    grade = grade_call(question, calls)
    why = grade.why
    if reply.ok and not calls and written_calls([reply.text], str(question.schema["function"]["name"])):
        why = "the call came as text"
    return Item(
        id=question.id,
        kind=question.name,
        question=question.text,
        expected=f"{question.name} {json.dumps({key: values[0] for key, values in question.accepted.items()})}"[:300],
        reply=reply.text,
        said="; ".join(f"{name} {text}" for name, text in calls)[:300],
        right=reply.ok and grade.right,
        outcome=reply.kind,
        cut_off=reply.finish == "length",
        tokens=reply.tokens,
        facts={"why": reply.detail[:200] if not reply.ok else why},
    )


def _blind(items: Sequence[Item]) -> str:
    """Why calls cannot be judged here; empty when they can."""
    if any(item.said for item in items):
        return ""
    written = sum(item.facts.get("why") == "the call came as text" for item in items)
    refused = next(
        (str(i.facts.get("why")) for i in items if i.outcome != "ok" and "tool" in str(i.facts.get("why"))), ""
    )
    if refused and all(item.outcome != "ok" for item in items):
        return f"the endpoint refuses tools: {refused}"
    return f"{written} of {len(items)} replies hold the call as text: no parser for this model" if written else ""


def figures(plan: FunctionsPlan, taken: Taken) -> tuple[Figure, ...]:
    """Right calls of all requests."""
    blind = _blind(taken.items)
    value = float(sum(item.right for item in taken.items)) if taken.items and not blind else None
    label = f"function calls, right of {len(plan.set.questions)}"
    return (
        figure_of(
            "functions.right",
            label,
            "answers",
            value,
            (),
            formula="functions_right",
            better="higher",
            main=True,
            n=len(taken.items),
            why=blind or "not asked",
        ),
    )


FUNCTIONS = Measurement(
    name="functions",
    title="single function calls",
    plan=plan,
    run=run,
    figures=figures,
    formulas={
        "functions_right": "requests answered by exactly one call whose name and arguments are right by code",
    },
    options={
        "set": "own or bfcl-simple (package bfcl-eval); default own",
        "limit": "requests; default all",
        "tokens": "limit of a reply; default 512",
        "thinking": "on or off; default: as the engine does",
        "at_once": "default 8",
    },
)
