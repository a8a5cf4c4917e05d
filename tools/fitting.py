"""A text of bounded length that keeps its ends.

Headline, notes and the next step stay whole; what stands between them is cut, the longest of it first, and says how
much of it is there and where the rest is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

REST = "the rest is in the structured result (--json in a shell)"
CELL = 500
"""Characters of a table's cell before rows are left out: what it carries for a machine would else take their place."""
LEAST = 300
"""Characters that a block keeps before whole blocks behind it are left out."""
NOTES_SHARE = 0.6
"""Of a limit, the part that notes may take: more than any result of ours has."""
_BORDER = re.compile(r"(?<!\\) \| ")


def joined(head: str, body: str, notes: Sequence[str], last: str) -> str:
    """The whole text: paragraphs, the notes as one of them; what is empty is left out."""
    return "\n\n".join(part for part in (head, body, "\n".join(note for note in notes if note), last) if part)


def fitted(head: str, body: str, notes: Sequence[str], last: str, limit: int) -> str:
    """The text in at most about `limit` characters."""
    whole = joined(head, body, notes, last)
    if len(whole) <= limit:
        return whole
    head = bounded(head, limit // 4)
    notes = _leveled([note for note in notes if note], int(limit * NOTES_SHARE))
    room = limit - len(joined(head, "", notes, last)) - 4
    return joined(head, _cut(body, max(room, LEAST)), notes, last)


def bounded(text: str, limit: int) -> str:
    """Text of at most `limit` characters that says how much was cut."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()}\n… ({len(text) - limit:,} more characters)"


def _leveled(texts: list[str], room: int) -> list[str]:
    """The texts, the longest of them cut so that all fit in `room`."""
    most = _level([len(text) for text in texts], room)
    return [bounded(text, most) for text in texts]


def _level(lengths: list[int], room: int) -> int:
    """The length above which each has to be cut so that all fit: whoever is shorter leaves its share to the others."""
    for done, length in enumerate(sorted(lengths)):
        share = max(room, 0) // (len(lengths) - done)
        if length > share:
            return share
        room -= length
    return max(lengths, default=0)


def _cut(body: str, room: int) -> str:
    blocks = [_clipped(block) for block in body.split("\n\n")]
    most = room // LEAST + 1
    left_out = ""
    if sum(map(len, blocks)) + 2 * len(blocks) > room and len(blocks) > most:
        left_out = f"… {len(blocks) - most:,} more paragraphs: {REST}"
        blocks = blocks[:most]
    room -= 2 * len(blocks) + len(left_out)
    level = _level([len(block) for block in blocks], room)
    return "\n\n".join([*(_shortened(block, level) for block in blocks), *([left_out] if left_out else ())])


def _clipped(block: str) -> str:
    """A table with long cells cut; anything else as it is."""
    if not _is_table(block):
        return block
    return "\n".join(" | ".join(map(_cell, _BORDER.split(line))) for line in block.split("\n"))


def _cell(text: str) -> str:
    if len(text) <= CELL:
        return text
    kept = text[:CELL].rstrip("\\ ")
    return f"{kept}… ({len(text) - len(kept):,} more characters){' |' if text.endswith(' |') else ''}"


def _is_table(block: str) -> bool:
    lines = block.split("\n", 2)
    return len(lines) > 2 and lines[0].startswith("| ") and lines[1].startswith("|-")


def _shortened(block: str, room: int) -> str:
    """Whole rows of a table, whole lines of a list, the beginning of anything else."""
    if len(block) <= room:
        return block
    lines = block.split("\n")
    top = 2 if _is_table(block) else 0
    room -= len(REST) + 30
    if top == 0 and (len(lines) == 1 or len(lines[0]) > room):
        kept = block[: max(room, 0)].rstrip()
        return f"{kept}… ({len(block) - len(kept):,} more characters; {REST})"
    shown, used = 0, sum(len(line) + 1 for line in lines[:top])
    for line in lines[top:]:
        used += len(line) + 1
        if used > room:
            break
        shown += 1
    word = "rows" if top else "lines"
    counted = f"… {shown:,} of {len(lines) - top:,} {word} here; {REST}"
    return "\n".join(lines[: top + shown]) + f"\n\n{counted}"
