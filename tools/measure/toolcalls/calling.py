"""Counting questions asked with tools: every arm, all conversations of an arm in step, each call answered here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from clouds.errors import InvalidInput
from tools.measure.client import ChatRequest, Reply
from tools.measure.cost import PriceUsed
from tools.measure.measurement import Ask, Bench, Measurement, Taken, figure_of
from tools.measure.record import Figure, Item, Scalar
from tools.measure.toolcalls.arms import ARMS, Arm, Called
from tools.measure.toolcalls.counting import SIZES, CountingQuestion, What, counting_questions
from tools.measure.toolcalls.grading import Asked, grade, without_parser
from tools.measure.turns import called, calls_of, messages, thinking

ROUNDS = 4
"""Replies of one conversation: a model that still calls after them has not answered."""
FIRST = 3
"""Questions of an arm that are asked before the rest, to see whether the endpoint returns calls at all."""
AT_A_STEP = 16
WHATS: tuple[What, ...] = ("count", "sum", "mean", "largest")


@dataclass(frozen=True)
class ToolCallsPlan:
    """The arms, the questions, how many at once, and the limit of a reply."""

    arms: tuple[Arm, ...]
    questions: tuple[CountingQuestion, ...]
    what: What
    harder: bool
    streams: int
    max_tokens: int
    thinks: str
    extra: Mapping[str, object]
    price: PriceUsed | None

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """The shape of the part."""
        return {
            "arms": ", ".join(arm.name for arm in self.arms),
            "questions": len(self.questions),
            "sizes": ", ".join(str(size) for size in dict.fromkeys(each.size for each in self.questions)),
            "what": self.what,
            "harder": self.harder,
            "at_once": self.streams,
            "max_tokens": self.max_tokens,
            "rounds": ROUNDS,
            "thinking": self.thinks,
            "temperature": 0,
        }

    @property
    def steps(self) -> int:
        """One for the first questions of an arm, one for some of the others."""
        return len(self.arms) * (1 + -(-max(0, len(self.questions) - FIRST) // AT_A_STEP))


@dataclass
class _Talk:
    """One conversation as it goes."""

    question: CountingQuestion
    turns: list[dict[str, object]]
    calls: list[Called] = field(default_factory=list)
    reply: Reply | None = None
    output_tokens: int = 0
    input_tokens: int = 0
    replies: int = 0


def plan(ask: Ask) -> ToolCallsPlan:
    """Pure: what will be asked."""
    options = ask.options
    names = dict.fromkeys(each.strip() for each in options.text("toolcalls.arms", "count,rows").split(","))
    arms = tuple(_arm(name) for name in names)
    what: What = next(each for each in WHATS if each == options.text("toolcalls.what", "count", WHATS))
    sizes = options.wholes("toolcalls.sizes", SIZES, 11, 330)
    harder = options.flag("toolcalls.harder")
    thinks, extra = thinking(options, "toolcalls.thinking")
    return ToolCallsPlan(
        arms=arms,
        questions=tuple(each for each in counting_questions(what, harder=harder) if each.size in sizes),
        what=what,
        harder=harder,
        streams=options.whole("toolcalls.at_once", 4, 1, 64),
        max_tokens=options.whole("toolcalls.tokens", 8192, 16, 131_072),
        thinks=thinks,
        extra=extra,
        price=ask.price,
    )


def _arm(name: str) -> Arm:
    """Raises InvalidInput with those there are."""
    for arm in ARMS:
        if arm.name == name:
            return arm
    known = tuple(arm.name for arm in ARMS)
    raise InvalidInput("options", f"toolcalls.arms={name[:40]} is no arm", fix="Name arms, with commas.", allowed=known)


async def run(plan: ToolCallsPlan, bench: Bench) -> None:
    """Arm by arm. An arm whose first questions show that the endpoint returns no calls is left, and says why."""
    for arm in plan.arms:
        asked = await _some(plan, bench, arm, plan.questions[:FIRST])
        why = without_parser(asked, arm.tool)
        bench.taken.items += [item_of(each, why) for each in asked]
        bench.stepped(f"toolcalls: {arm.name}, first {len(asked)}")
        if why:
            continue
        rest = plan.questions[FIRST:]
        for start in range(0, len(rest), AT_A_STEP):
            some = rest[start : start + AT_A_STEP]
            bench.taken.items += [item_of(each) for each in await _some(plan, bench, arm, some)]
            bench.stepped(f"toolcalls: {arm.name}, {FIRST + start + len(some)} of {len(plan.questions)}")


async def _some(plan: ToolCallsPlan, bench: Bench, arm: Arm, questions: Sequence[CountingQuestion]) -> list[Asked]:
    talks = [_Talk(question, [*messages(arm.prompt(question))]) for question in questions]
    going = talks
    for _ in range(ROUNDS):
        requests = [_request(plan, arm, talk) for talk in going]
        batch = await bench.client.in_flight(requests, plan.streams)
        bench.taken.batches.append((f"toolcalls {arm.name}", plan.streams, batch))
        pairs = list(zip(going, batch.replies, strict=True))
        answered = await asyncio.gather(*(_answer(arm, talk, reply) for talk, reply in pairs))
        going = [talk for (talk, _), more in zip(pairs, answered, strict=True) if more]
        if not going:
            break
    return [_asked(arm, talk) for talk in talks]


def _request(plan: ToolCallsPlan, arm: Arm, talk: _Talk) -> ChatRequest:
    extra = {**plan.extra, "messages": talk.turns, "tools": [arm.schema], "tool_choice": "auto"}
    return ChatRequest("", plan.max_tokens, f"{arm.name} {talk.question.id}", extra=extra)


async def _answer(arm: Arm, talk: _Talk, reply: Reply) -> bool:
    """Take a reply in; True when it called a tool and waits for what that returns."""
    talk.reply = reply
    talk.replies += 1
    talk.output_tokens += reply.tokens
    talk.input_tokens += reply.prompt_tokens or 0
    calls = calls_of(reply) if reply.ok else ()
    if not calls:
        return False
    made = await asyncio.gather(
        *(asyncio.to_thread(arm.call, talk.question, call.name, call.arguments) for call in calls)
    )
    talk.calls += made
    talk.turns += called(reply, [(call, each.returned) for call, each in zip(calls, made, strict=True)])
    return True


def _asked(arm: Arm, talk: _Talk) -> Asked:
    reply = talk.reply
    failed = reply is None or not reply.ok
    return Asked(
        question=talk.question,
        arm=arm.name,
        calls=tuple(talk.calls),
        text="" if reply is None else reply.text,
        finish="" if reply is None else reply.finish,
        output_tokens=talk.output_tokens,
        input_tokens=talk.input_tokens,
        error=(reply.detail or reply.kind if reply is not None else "not asked") if failed else "",
    )


def item_of(asked: Asked, without: str = "") -> Item:
    """One question in a run's record. `without` is why the endpoint's calls cannot be judged."""
    graded = grade(asked)
    said = graded.said
    return Item(
        id=f"{asked.arm}-{asked.question.id}",
        kind=asked.arm,
        question=asked.question.text,
        expected=f"{asked.question.answer:g}",
        reply=asked.text,
        said="" if said is None else f"{said:g}",
        right=graded.right,
        outcome="no tool parser" if without else "failed" if asked.error else "ok",
        cut_off=asked.finish == "length",
        tokens=asked.output_tokens or 0,
        facts={
            "size": asked.question.size,
            "miss": graded.miss or "",
            "calls": len(asked.calls),
            "filters": json.dumps(graded.filters)[:2000],
            "filters_right": json.dumps(graded.filters_right),
            "input_tokens": asked.input_tokens,
            "detail": (without or asked.error)[:300],
        },
    )


def figures(plan: ToolCallsPlan, taken: Taken) -> tuple[Figure, ...]:
    """Right answers by arm and size with tokens and cost, misses by kind, and wrong filters."""
    found: list[Figure] = []
    for arm in plan.arms:
        items = [item for item in taken.items if item.kind == arm.name]
        blind = next((item.facts.get("detail") for item in items if item.outcome == "no tool parser"), "")
        found.append(
            _right(f"toolcalls.{arm.name}.right", f"{arm.name}, right of {len(items)}", items, str(blind or ""))
        )
        if blind:
            continue
        for size in dict.fromkeys(item.facts.get("size") for item in items):
            some = [item for item in items if item.facts.get("size") == size]
            name = f"{arm.name}, {size} ids"
            key = f"toolcalls.{arm.name}.{size}"
            found.append(_right(f"{key}.right", f"{name}, right of {len(some)}", some))
            found += _tokens(key, name, some, plan.price)
        misses = [str(item.facts["miss"]) for item in items if item.facts.get("miss")]
        for miss in dict.fromkeys(misses):
            value = float(misses.count(miss))
            key, label = f"toolcalls.{arm.name}.{miss.replace(' ', '_')}", f"{arm.name}, {miss}"
            found.append(
                figure_of(key, label, "answers", value, (), formula="toolcalls_miss", better="lower", n=len(items))
            )
    return tuple(found)


def _right(key: str, label: str, items: Sequence[Item], blind: str = "") -> Figure:
    value = float(sum(item.right for item in items)) if items and not blind else None
    return figure_of(
        key,
        label,
        "answers",
        value,
        (),
        formula="toolcalls_right",
        better="higher",
        main=key.count(".") == 2,
        n=len(items),
        why=blind or "not asked",
    )


def _tokens(key: str, label: str, items: Sequence[Item], price: PriceUsed | None) -> list[Figure]:
    out = fmean([item.tokens for item in items])
    made = [
        figure_of(f"{key}.tokens", f"{label}, output tokens a question", "tokens", out, (), formula="toolcalls_tokens")
    ]
    if price is not None and price.usd_per_million_output is not None:
        into = fmean([float(item.facts.get("input_tokens") or 0) for item in items])
        usd = (out * price.usd_per_million_output + into * (price.usd_per_million_input or 0)) / 1e6
        made.append(
            figure_of(f"{key}.usd", f"{label}, $ a question", "$", usd, (), formula="toolcalls_usd", better="lower")
        )
    return made


TOOLCALLS = Measurement(
    name="toolcalls",
    title="who counts what a tool returns",
    plan=plan,
    run=run,
    figures=figures,
    formulas={
        "toolcalls_right": "answers that are the true number; failed requests count as wrong",
        "toolcalls_miss": "wrong answers whose first cause this is",
        "toolcalls_tokens": "output tokens of all replies of a conversation, mean over questions",
        "toolcalls_usd": "tokens of a conversation x their prices, mean over questions",
    },
    options={
        "arms": "count, rows, python, with commas; default count,rows",
        "what": "count, sum, mean or largest; default count",
        "sizes": "11,110,330",
        "harder": "on or off: compound filters too; default off",
        "tokens": "limit of a reply; default 8192",
        "thinking": "on or off; default: as the engine does",
        "at_once": "default 4",
    },
)
