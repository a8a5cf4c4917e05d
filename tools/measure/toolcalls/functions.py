"""Single function calls graded by code on name and arguments: our own, and BFCL's simple set where it is installed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from math import isclose
from pathlib import Path
from typing import Any

from clouds.errors import InvalidInput, NotInstalled
from tools.measure.lines import json_lines

PACKAGE = "bfcl_eval"
QUESTIONS = "data/BFCL_v4_simple_python.json"
ANSWERS = "data/possible_answer/BFCL_v4_simple_python.json"
"""400 questions and their possible answers (bfcl-eval 2026.3.23, Apache-2.0, read 2026-11-29)."""
_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string", "list": "array", "int": "integer"}
_BARE = re.compile(r"[\s,./\-_*^]")


@dataclass(frozen=True)
class FunctionQuestion:
    """One request, the function that fits it, and for each argument the values that are right ("": may be left out)."""

    id: str
    text: str
    function: Mapping[str, Any]
    name: str
    accepted: Mapping[str, Sequence[Any]]

    @property
    def schema(self) -> dict[str, Any]:
        """The tool as it is sent. Dots are not allowed in a tool's name and become underscores."""
        return {
            "type": "function",
            "function": {
                "name": tool_name(self.name),
                "description": str(self.function.get("description", "")),
                "parameters": _standard(self.function.get("parameters", {})),
            },
        }


@dataclass(frozen=True)
class FunctionSet:
    """Questions with the hash of where they came from."""

    name: str
    sha256: str
    questions: tuple[FunctionQuestion, ...]


@dataclass(frozen=True)
class FunctionGrade:
    """Whether the one call is the right one, and if not, in one clause why."""

    id: str
    right: bool
    why: str = ""


def tool_name(name: str) -> str:
    """A function's name as a tool's name."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64]


def bfcl_simple(limit: int | None = None) -> FunctionSet:
    """Raises NotInstalled with the package's name."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise NotInstalled("reading BFCL's questions", fix="Install the package bfcl-eval without dependencies.")
    root = Path(next(iter(spec.submodule_search_locations)))
    data, answers = (root / QUESTIONS).read_bytes(), (root / ANSWERS).read_bytes()
    truths = {entry["id"]: entry["ground_truth"][0] for entry in _lines(answers)}
    made = [_bfcl(entry, truths[entry["id"]]) for entry in _lines(data)[:limit]]
    return FunctionSet("bfcl-simple", sha256(data + answers).hexdigest(), tuple(made))


def own_functions() -> FunctionSet:
    """24 requests made by code, always the same: a timer, a conversion, a reminder, a room."""
    made = []
    for place in range(6):
        minutes, amount, hour, people = 5 + 7 * place, 20 + 15 * place, 8 + place, 2 + place
        day = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")[place]
        source, target = (("km", "mile"), ("kg", "pound"), ("litre", "gallon"))[place % 3]
        made += [
            _own(f"timer-{place}", f"Set a timer for {minutes} minutes.", "set_timer", minutes=minutes),
            _own(
                f"convert-{place}",
                f"Convert {amount} {source} to {target}.",
                "convert",
                amount=amount,
                source=source,
                target=target,
            ),
            _own(f"remind-{place}", f"Remind me on {day} at {hour} o'clock.", "set_reminder", day=day, hour=hour),
            _own(f"room-{place}", f"Book a room for {people} people on {day}.", "book_room", people=people, day=day),
        ]
    lines = json.dumps([[each.id, each.text, dict(each.accepted)] for each in made])
    return FunctionSet("own-24", sha256(lines.encode()).hexdigest(), tuple(made))


def grade_call(question: FunctionQuestion, calls: Sequence[tuple[str, str]]) -> FunctionGrade:
    """`calls` are (name, arguments as JSON) in the order they were made; exactly one is right."""
    if len(calls) != 1:
        return FunctionGrade(question.id, right=False, why=f"{len(calls)} calls instead of one")
    name, text = calls[0]
    if name != tool_name(question.name):
        return FunctionGrade(question.id, right=False, why=f"called {name[:60]!r}")
    try:
        given = json.loads(text or "{}")
    except ValueError:
        given = None
    if not isinstance(given, dict):
        return FunctionGrade(question.id, right=False, why="its arguments are no JSON object")
    for key, value in given.items():
        if key not in question.accepted:
            return FunctionGrade(question.id, right=False, why=f"the argument {key[:60]!r} is not one of its own")
        if not any(_same(value, each) for each in question.accepted[key]):
            return FunctionGrade(question.id, right=False, why=f"{key} is {json.dumps(value)[:80]}")
    missing = [key for key, values in question.accepted.items() if key not in given and "" not in list(values)]
    if missing:
        return FunctionGrade(question.id, right=False, why=f"{missing[0]} is missing")
    return FunctionGrade(question.id, right=True)


def _same(value: Any, accepted: Any) -> bool:
    """Words without case and marks, whole numbers as numbers, lists in order, objects field by field."""
    if isinstance(value, bool) or isinstance(accepted, bool):
        return value is accepted
    if isinstance(value, int | float) and isinstance(accepted, int | float):
        return isclose(value, accepted, rel_tol=1e-9)
    if isinstance(value, str) and isinstance(accepted, str):
        return _bare(value) == _bare(accepted)
    if isinstance(value, list) and isinstance(accepted, list):
        return len(value) == len(accepted) and all(_same(a, b) for a, b in zip(value, accepted, strict=True))
    if isinstance(value, dict) and isinstance(accepted, dict):
        return _same_object(value, accepted)
    return value is None and accepted is None


def _same_object(value: Mapping[str, Any], accepted: Mapping[str, Any]) -> bool:
    """In an accepted object each field has the list of values that are right."""
    for key, each in value.items():
        choices = accepted.get(key)
        if choices is None or not any(_same(each, one) for one in _choices(choices)):
            return False
    return all(key in value or "" in _choices(choices) for key, choices in accepted.items())


def _choices(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _bare(text: str) -> str:
    return _BARE.sub("", text).casefold().replace("'", '"')


def _lines(data: bytes) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in json_lines(data) if line.strip()]
    except ValueError as error:
        raise InvalidInput("questions", "the package's file cannot be read", fix="Install it again.") from error


def _bfcl(entry: Mapping[str, Any], truth: Mapping[str, Mapping[str, Sequence[Any]]]) -> FunctionQuestion:
    name, accepted = next(iter(truth.items()))
    text = "\n".join(str(turn["content"]) for turn in entry["question"][0])
    return FunctionQuestion(str(entry["id"]), text, entry["function"][0], name, accepted)


def _standard(schema: Any) -> Any:
    """BFCL writes Python's names for types; a tool's schema needs JSON Schema's."""
    if isinstance(schema, dict):
        made = {key: _standard(value) for key, value in schema.items()}
        if isinstance(made.get("type"), str):
            made["type"] = _TYPES.get(made["type"].lower(), made["type"])
        return made
    return [_standard(each) for each in schema] if isinstance(schema, list) else schema


def _own(id_: str, text: str, name: str, **values: Any) -> FunctionQuestion:
    properties = {key: {"type": "integer" if isinstance(value, int) else "string"} for key, value in values.items()}
    function = {
        "name": name,
        "description": f"{name.replace('_', ' ').capitalize()}.",
        "parameters": {"type": "object", "properties": properties, "required": list(values)},
    }
    accepted = {key: [value] if isinstance(value, int) else [value, f"{value}s"] for key, value in values.items()}
    return FunctionQuestion(id_, text, function, name, accepted)
