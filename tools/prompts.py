"""The skills as text, so that a client without skills has them as MCP prompts. One source: skills/*/SKILL.md."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "skills"


@dataclass(frozen=True)
class Skill:
    """One skill: `text` is the body without its front matter."""

    name: str
    description: str
    text: str


def skills() -> tuple[Skill, ...]:
    """Every skill, by name. Raises ValueError naming the file whose front matter is not `key: value` lines."""
    return tuple(read(path) for path in sorted(FOLDER.glob("*/SKILL.md")))


def read(path: Path) -> Skill:
    """One file: front matter between two `---` lines, then the text."""
    content = path.read_text(encoding="utf-8")
    opening, separator, rest = content.partition("---\n")
    head, ending, text = rest.partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    if opening or not separator or not ending or len(fields) != len(head.splitlines()) or "name" not in fields:
        raise ValueError(f"{path}: the front matter is not `key: value` lines between two --- lines")
    return Skill(fields["name"], fields.get("description", ""), text.strip())
