"""Three ways to give a model the same question: a tool that counts, a tool that returns rows, and Python."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from clouds.errors import CloudError, InvalidInput
from tools.measure.toolcalls.counting import CountingQuestion
from tools.measure.toolcalls.filters import select
from tools.measure.toolcalls.sandbox import run_python

ArmName = Literal["count", "rows", "python"]
_WHERE = {
    "type": "object",
    "properties": {
        "where": {"type": "string", "description": 'A condition on id, for example "id > 4 and id <= 9". Empty: all.'}
    },
    "required": ["where"],
}
_CODE = {
    "type": "object",
    "properties": {"code": {"type": "string", "description": "Python. The list `ids` is defined. Print the result."}},
    "required": ["code"],
}
END = "Write the result on a last line of its own, in this form:\nAnswer: <number>"


@dataclass(frozen=True)
class Called:
    """One call that a model made: what it sent, what it got back, and how that stands to the question."""

    name: str
    sent: str
    returned: str
    selected_right: bool | None
    """Whether the filter selected the right ids; None where there is no filter or it could not be read."""
    value: float | None = None
    """The number that came back, where one did."""
    failed: bool = False


@dataclass(frozen=True)
class Arm:
    """One arm: its tool as an OpenAI function, what the prompt adds to a question, and how a call is answered."""

    name: ArmName
    tool: str
    description: str
    parameters: Mapping[str, Any]
    answer: Callable[[CountingQuestion, str], Called]

    @property
    def schema(self) -> dict[str, Any]:
        """The tool as it is sent."""
        function = {"name": self.tool, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}

    def prompt(self, question: CountingQuestion) -> str:
        """Only the Python arm shows the ids: in the other two they are behind the tool."""
        ids = f"\nids = {list(question.ids)}" if self.name == "python" else ""
        return f"{question.text} Use the tool {self.tool}.{ids}\n{END}"

    def call(self, question: CountingQuestion, name: str, arguments: str) -> Called:
        """Answer a call as the model made it. Never raises: what cannot be read is told to the model."""
        key = next(iter(self.parameters["properties"]))
        sent = _argument(arguments, key) if name == self.tool else None
        if sent is None:
            text = f"error: call {self.tool} with one string, {key}"
            return Called(name[:80], arguments[:500], text, None, failed=True)
        try:
            return self.answer(question, sent)
        except InvalidInput as error:
            return Called(self.tool, sent[:500], f"error: {error}. {error.fix}", None, failed=True)
        except CloudError as error:
            return Called(self.tool, sent[:500], f"error: {error}", None, failed=True)


def _argument(arguments: str, key: str) -> str | None:
    try:
        given = json.loads(arguments or "{}")
    except ValueError:
        return None
    sent = given.get(key) if isinstance(given, dict) else None
    return sent if isinstance(sent, str) else None


def _count(question: CountingQuestion, where: str) -> Called:
    chosen = select(where, question.ids)
    figures: dict[str, Any] = {"where": where, "count": len(chosen)}
    if chosen:
        figures |= {"min": min(chosen), "max": max(chosen), "sum": sum(chosen), "mean": sum(chosen) / len(chosen)}
    key = {"count": "count", "sum": "sum", "mean": "mean", "largest": "max"}[question.what]
    right = Counter(chosen) == question.selected
    return Called("count_ids", where, json.dumps(figures), right, float(figures.get(key, 0)))


def _rows(question: CountingQuestion, where: str) -> Called:
    chosen = select(where, question.ids)
    return Called("list_ids", where, json.dumps(chosen), Counter(chosen) == question.selected)


def _python(question: CountingQuestion, code: str) -> Called:
    ran = run_python(code, {"ids": list(question.ids)})
    value = _last_number(ran.printed)
    text = ran.printed or (f"error: {ran.error}" if ran.error else "(nothing was printed)")
    return Called("run_python", code[:2000], text, None, value, failed=bool(ran.error))


def _last_number(text: str) -> float | None:
    for word in reversed(text.replace(",", " ").split()):
        try:
            return float(word)
        except ValueError:
            continue
    return None


COUNT = Arm(
    "count", "count_ids", "Counts the ids that fulfil a condition; with their min, max, sum, mean.", _WHERE, _count
)
ROWS = Arm("rows", "list_ids", "Returns the ids that fulfil a condition.", _WHERE, _rows)
PYTHON = Arm("python", "run_python", "Runs Python and returns what it prints.", _CODE, _python)
ARMS = (COUNT, ROWS, PYTHON)
