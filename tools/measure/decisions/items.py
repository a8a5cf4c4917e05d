"""Typed questions: options, the true one, and the prompt that ends where the answer begins."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from clouds.errors import InvalidInput
from tools.measure.lines import AGAIN, json_lines, line

LARGEST = 64 * 1024 * 1024
SEED = 20_260_924
PROMPT = "{question}\n\n{options}\n\nAnswer with the letter of the right option only."


@dataclass(frozen=True)
class Item:
    """One decision. `truth` is the place of the true option; items of one `group` share a passage."""

    id: str
    task: str
    question: str
    options: tuple[str, ...]
    truth: int
    group: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The letters that are read, one an option."""
        return tuple(ascii_uppercase[: len(self.options)])

    def prompt(self, *, reversed_order: bool = False) -> str:
        """The question with its lettered options. Reversed, the first letter stands before the last option."""
        options = self.options[::-1] if reversed_order else self.options
        lines = "\n".join(f"{label}. {option}" for label, option in zip(self.labels, options, strict=True))
        return PROMPT.format(question=self.question, options=lines)


@dataclass(frozen=True)
class ItemSet:
    """Items with the hash of where they came from; checked before a run and kept in its record."""

    name: str
    sha256: str
    items: tuple[Item, ...]


def read_items(path: Path, *, limit: int | None = None, expected_sha256: str = "") -> ItemSet:
    """JSON lines: `question`, `options`, `answer` (an option or its place), and if given `id`, `task`, `group`."""
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise InvalidInput(
            "items", f"{path.name} is no file of at most {LARGEST:,} bytes", fix="Name a JSON-lines file."
        )
    data = path.read_bytes()
    found = sha256(data).hexdigest()
    if expected_sha256 and found != expected_sha256:
        problem = f"of {path.name} the sha256 is {found}, not {expected_sha256[:64]}"
        raise InvalidInput("options", problem, fix="Use the file that the hash was taken of.")
    return ItemSet(path.name, found, parse(json_lines(data), limit))


def parse(lines: Iterable[str], limit: int | None = None) -> tuple[Item, ...]:
    """Raises InvalidInput with the line that is wrong."""
    made: list[Item] = []
    for place, each in enumerate(lines, 1):
        if limit is not None and len(made) >= limit:
            break
        if each.strip():
            made.append(_item(place, each))
    if not made or len({item.id for item in made}) != len(made):
        raise InvalidInput("items", "there is none, or an id is there twice", fix="Give every item its own id.")
    return tuple(made)


def own_items() -> ItemSet:
    """80 items made by code: 40 comparisons of two numbers and 40 largest of three, always the same."""
    rng = random.Random(SEED)  # noqa: S311  the same items every time, nothing secret
    made = []
    for place in range(1, 41):
        first, second = rng.sample(range(10, 100), 2)
        truth = 0 if first > second else 1
        made.append(Item(f"larger-{place}", "larger of two", f"Is {first} larger than {second}?", ("yes", "no"), truth))
    for place in range(1, 41):
        three = rng.sample(range(10, 100), 3)
        options = tuple(str(each) for each in three)
        question = "Which of these numbers is the largest?"
        made.append(Item(f"largest-{place}", "largest of three", question, options, three.index(max(three))))
    lines = "".join(json.dumps([each.id, each.question, each.options, each.truth]) + "\n" for each in made)
    return ItemSet("own-80", sha256(lines.encode()).hexdigest(), tuple(made))


def _item(place: int, text: str) -> Item:
    """Options are one line each in the prompt, and so in the item."""
    try:
        entry: Any = json.loads(text)
        given, question, answer = entry["options"], str(entry["question"]), entry["answer"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _wrong(place, "has no question, options and answer") from error
    if not isinstance(given, list):
        raise _wrong(place, "has options that are no list")
    options = tuple(line(str(option)) for option in given)
    answer = line(answer) if isinstance(answer, str) else answer
    if not 2 <= len(options) <= len(ascii_uppercase) or len(set(options)) != len(options):
        raise _wrong(place, f"has {len(options)} options, which must be 2 to 26 and all different")
    if isinstance(answer, int) and not isinstance(answer, bool) and str(answer) not in options:
        truth = answer
    else:
        truth = options.index(str(answer)) if str(answer) in options else -1
    if not 0 <= truth < len(options):
        raise _wrong(place, "has an answer that is none of its options")
    task, group = line(str(entry.get("task") or "all"), 60), str(entry.get("group") or "")
    id_ = line(str(entry.get("id") or f"line-{place}"), 200)
    if AGAIN in id_:
        raise _wrong(place, f"has an id with {AGAIN}, which marks an item that is read twice")
    return Item(id_, task, question, options, truth, group)


def _wrong(place: int, problem: str) -> InvalidInput:
    return InvalidInput(
        "items",
        f"line {place} {problem}",
        fix='Write each line as {"id": "1", "question": "...", "options": ["yes", "no"], "answer": "yes"}.',
    )
