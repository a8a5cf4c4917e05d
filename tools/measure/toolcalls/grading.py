"""Every answer judged, and every miss traced to the query, the count, or the telling of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from statistics import fmean
from typing import Literal

from clouds.errors import InvalidInput
from clouds.models import Record
from tools.measure.ladder.grader import number, stated
from tools.measure.toolcalls.arms import ArmName, Called
from tools.measure.toolcalls.counting import CountingQuestion

Miss = Literal[
    "wrong filter",
    "miscounted",
    "misquoted",
    "no call",
    "unreadable",
    "cut off",
    "not used",
    "no print",
    "wrong code",
    "error",
]
"""Six of the tools that count or list; Python's own are not used, no print and wrong code; an error is the server's."""
_NUMBERS = re.compile(r"(?<![\w.])[-−]?\d+(?:,\d{3})*(?:\.\d+)?")


@dataclass(frozen=True)
class Asked:
    """One question with everything that came of it."""

    question: CountingQuestion
    arm: ArmName
    calls: tuple[Called, ...]
    text: str
    finish: str = "stop"
    output_tokens: int | None = None
    input_tokens: int | None = None
    error: str = ""


class Graded(Record):
    """One answer: right or missed, and how."""

    id: str
    size: int
    arm: ArmName
    right: bool
    said: float | None
    expected: float
    miss: Miss | None
    filters: tuple[str, ...]
    filters_right: tuple[bool | None, ...]
    """By what each filter selects; None where it could not be read."""
    output_tokens: int | None


class SizeSummary(Record):
    """One arm at one list size."""

    arm: ArmName
    size: int
    n: int
    right: int
    misses: Mapping[str, int]
    wrong_filters: int
    """Filters sent that select other ids, whether or not the answer rests on them."""
    filters: int
    output_tokens: float | None
    """Mean a question."""
    usd_per_question: float | None


def grade(asked: Asked) -> Graded:
    """Right is the true number, however it was come by; a miss has the first cause that explains it."""
    said = said_number(asked.text)
    right = not asked.error and said is not None and _equal(said, asked.question)
    filters = [call for call in asked.calls if call.name != "run_python"]
    return Graded(
        id=asked.question.id,
        size=asked.question.size,
        arm=asked.arm,
        right=right,
        said=said,
        expected=asked.question.answer,
        miss=None if right else _miss(asked, said),
        filters=tuple(call.sent for call in filters),
        filters_right=tuple(call.selected_right for call in filters),
        output_tokens=asked.output_tokens,
    )


def said_number(text: str) -> float | None:
    """The number after the last `Answer:`, or the only one that the text has."""
    found = stated(text)
    if found is not None:
        return number(found)
    all_ = {float(each.replace(",", "").replace("−", "-")) for each in _NUMBERS.findall(text)}
    return all_.pop() if len(all_) == 1 else None


def _miss(asked: Asked, said: float | None) -> Miss:
    if asked.error:
        return "error"
    if asked.finish == "length":
        return "cut off"
    done = [call for call in asked.calls if not call.failed]
    if asked.arm == "python":
        return _python(asked, done, said)
    if not asked.calls:
        return "no call"
    if said is None:
        return "unreadable"
    if not done or not done[-1].selected_right:
        return "wrong filter"
    return "misquoted" if asked.arm == "count" else "miscounted"


def _python(asked: Asked, done: Sequence[Called], said: float | None) -> Miss:
    if not asked.calls:
        return "not used"
    if not any(call.value is not None for call in done):
        return "no print"
    if said is None:
        return "unreadable"
    printed = [call.value for call in done if call.value is not None]
    return "misquoted" if any(_equal(value, asked.question) for value in printed) else "wrong code"


def _equal(value: float, question: CountingQuestion) -> bool:
    """A mean is asked for to two decimals; everything else is exact."""
    return isclose(value, question.answer, rel_tol=1e-12, abs_tol=0.005 + 1e-9 if question.what == "mean" else 1e-9)


def summarize(graded: Sequence[Graded], *, usd_per_million_output: float | None = None) -> tuple[SizeSummary, ...]:
    """One row per arm and size, in that order; tokens are counted only where every reply told them."""
    rows = []
    for arm in dict.fromkeys(each.arm for each in graded):
        for size in sorted({each.size for each in graded if each.arm == arm}):
            own = [each for each in graded if each.arm == arm and each.size == size]
            tokens = [each.output_tokens for each in own if each.output_tokens is not None]
            mean = fmean(tokens) if len(tokens) == len(own) else None
            flags = [flag for each in own for flag in each.filters_right]
            cost = mean * usd_per_million_output / 1e6 if mean and usd_per_million_output is not None else None
            rows.append(
                SizeSummary(
                    arm=arm,
                    size=size,
                    n=len(own),
                    right=sum(each.right for each in own),
                    misses=dict(Counter(each.miss for each in own if each.miss is not None).most_common()),
                    wrong_filters=flags.count(False),
                    filters=len(flags),
                    output_tokens=mean,
                    usd_per_question=cost,
                )
            )
    return tuple(rows)


def without_parser(asked: Sequence[Asked], tool: str) -> str:
    """Why tool calls cannot be judged at this endpoint; empty when they can. Such an endpoint is not scored 0.

    It refuses tools, or it returns the call as text because no parser turns it into one.
    """
    if not asked:
        raise InvalidInput("asked", "nothing was asked", fix="Ask at least one question.")
    if any(each.calls for each in asked):
        return ""
    refused = next((each.error for each in asked if re.search(r"tool", each.error, re.IGNORECASE)), "")
    if refused and all(each.error for each in asked):
        return f"the endpoint refuses tools: {refused[:200]}"
    written = written_calls([each.text for each in asked], tool)
    if written:
        return f"{written} of {len(asked)} replies hold a tool call as text: the endpoint has no parser for this model"
    return ""


def written_calls(texts: Sequence[str], tool: str) -> int:
    """How many texts hold a call of the tool as a model writes it when nobody parses it: as JSON, as code, in tags."""
    name = re.escape(tool)
    written = re.compile(
        rf"<\|?tool_call|\[TOOL_CALLS\]|<{name}>|\bAction:\s*{name}\b|\bfunctions\.{name}\b"
        rf"|[\"'](?:name|tool|function|tool_name|action)[\"']\s*:\s*[\"']{name}[\"']"
        rf"|\b{name}[^\w(]{{0,12}}[{{\[]|\b{name}\s?\(\s*(?:\w+\s*[=:]|[\"'{{\[\d)])"
    )
    return sum(bool(written.search(text)) for text in texts)
