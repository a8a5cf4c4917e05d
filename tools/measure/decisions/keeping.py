"""A decision in a run's record, and back: every label's log-probability is kept, so that nothing is read twice."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_uppercase

from tools.measure.client import Reply
from tools.measure.decisions.items import Item as Question
from tools.measure.decisions.reading import LabelRead
from tools.measure.decisions.summary import Decision
from tools.measure.record import Item, Scalar

LABEL, BOUND = "logprob.", "bound."


def item_of(decision: Decision, reply: Reply, order: str, how: str, tried: str = "") -> Item:
    """`said` is the predicted option's text, in whatever order the options stood; `tried` is what probing met."""
    question, read = decision.item, decision.read
    options = question.options[::-1] if order == "reversed" else question.options
    place = read.predicted if read is not None else None
    truth = question.options[question.truth]
    facts: dict[str, Scalar] = {"order": order, "read": how, "truth": options.index(truth), "group": question.group}
    facts |= {"tried": tried} if tried else {}
    if read is not None:
        facts |= {
            "label_mass": read.label_mass,
            "returned": read.returned,
            "top_is_label": read.top_is_label,
            **{f"{LABEL}{label}": value for label, value in zip(read.labels, read.logprobs, strict=True)},
            **{f"{BOUND}{label}": value for label, value in zip(read.labels, read.bounds, strict=True)},
        }
    return Item(
        id=question.id + ("" if order == "forward" else f"#{order}"),
        kind=question.task,
        question=question.prompt(reversed_order=order == "reversed"),
        expected=truth,
        reply=reply.text,
        said="" if place is None else options[place],
        right=place is not None and options[place] == truth,
        outcome=reply.kind if not reply.ok else "ok" if read is not None else "no log-probabilities",
        tokens=reply.tokens,
        seconds=decision.seconds,
        facts=facts,
    )


def decisions_of(items: Iterable[Item], order: str = "forward") -> tuple[Decision, ...]:
    """The decisions of one order as they were made. Options are those of the prompt, from its last lettered lines."""
    return tuple(_decision(item) for item in items if item.facts.get("order") == order)


def _decision(item: Item) -> Decision:
    facts = item.facts
    labels = tuple(name.removeprefix(LABEL) for name in facts if name.startswith(LABEL))
    truth = facts.get("truth")
    truth = truth if isinstance(truth, int) and truth >= 0 else 0
    options = _options(item.question)
    options += tuple(ascii_uppercase[len(options) : max(len(labels), truth + 1)])
    question = Question(
        id=item.id.partition("#")[0],
        task=item.kind,
        question=item.question,
        options=options,
        truth=truth,
        group=str(facts.get("group") or ""),
    )
    read = None
    if labels:
        read = LabelRead(
            labels=labels,
            logprobs=tuple(_number(facts[f"{LABEL}{label}"]) for label in labels),
            bounds=tuple(_number(facts[f"{BOUND}{label}"]) for label in labels),
            returned=int(_number(facts.get("returned"))),
            label_mass=_number(facts.get("label_mass")),
            top_is_label=bool(facts.get("top_is_label")),
            exact=facts.get("read") == "exact",
        )
    return Decision(question, read, item.seconds, "" if read else item.outcome)


def _options(prompt: str) -> tuple[str, ...]:
    """The texts of the last lettered lines of a prompt; the question before them may have lettered lines too."""
    found: list[str] = []
    for each in prompt.split("\n"):
        letter, dot, text = each.partition(". ")
        if dot and letter == "A":
            found = [text]
        elif dot and found and letter == ascii_uppercase[len(found) : len(found) + 1]:
            found.append(text)
    return tuple(found)


def _number(value: Scalar) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
