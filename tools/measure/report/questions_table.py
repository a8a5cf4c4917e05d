"""Questions of a run: what was right, and each that was not, with what was said instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tools.measure.lines import AGAIN
from tools.measure.record import Item, Part, Run
from tools.measure.report.page import Block, Cell, Lines, Section, Table

SHOWN = 100
"""Wrong answers on a page; the run file has all."""
LONGEST = 240


def question_sections(run: Run) -> Iterator[Section]:
    """A section for every measurement that asked something."""
    for part in run.parts:
        if part.items:
            yield Section(f"Questions of {part.name}", tuple(_blocks(part)), folded=True)


def _blocks(part: Part) -> Iterator[Block]:
    own = [item for item in part.items if AGAIN not in item.id]
    wrong = [item for item in own if not item.right]
    kinds = Counter(item.kind for item in own)
    right = Counter(item.kind for item in own if item.right)
    lines = [f"{len(own) - len(wrong):,} of {len(own):,} right."]
    if len(kinds) > 1:
        lines.append(
            "By kind: " + ", ".join(f"{kind} {right[kind]:,} of {count:,}" for kind, count in kinds.items()) + "."
        )
    if len(own) < len(part.items):
        lines.append(
            f"{len(part.items) - len(own):,} more were asked once more or in another order; they are not counted here."
        )
    if len(wrong) > SHOWN:
        lines.append(f"Wrong answers shown: {SHOWN} of {len(wrong):,}; the run file has all.")
    yield Lines(tuple(lines))
    yield Table(("id", "question", "expected", "said", "how"), tuple(map(_row, wrong[:SHOWN])))


def _row(item: Item) -> tuple[Cell, ...]:
    said = item.said or " ".join(item.reply.split())
    how = (
        item.outcome if item.outcome != "ok" else "cut off" if item.cut_off else "wrong" if item.said else "unreadable"
    )
    return (
        Cell(item.id),
        Cell(clipped(item.question)),
        Cell(clipped(item.expected)),
        Cell(clipped(said)),
        Cell(how, tone="bad"),
    )


def clipped(words: str, most: int = LONGEST) -> str:
    """Text on one line, cut where it is long, with how much was cut."""
    line = " ".join(words.split())
    return line if len(line) <= most else f"{line[:most].rstrip()}… ({len(line) - most:,} more characters)"


def passphrases(part: Part) -> Table | None:
    """Passphrases in long prompts: a row a depth, a column a length."""
    placed = {
        (_whole(item, "length"), _whole(item, "depth_percent")): item
        for item in part.items
        if item.kind == "passphrase"
    }
    lengths = sorted({length for length, _ in placed})
    depths = sorted({depth for _, depth in placed})
    if not placed:
        return None
    rows = []
    for depth in depths:
        cells = [_found(placed.get((length, depth))) for length in lengths]
        rows.append((Cell(f"at {depth} %"), *cells))
    heads = ("passphrase", *(f"about {length:,} tokens" for length in lengths))
    return Table(heads, tuple(rows))


def _found(item: Item | None) -> Cell:
    if item is None:
        return Cell("not asked", tone="quiet")
    seconds = f"{item.seconds:.3g} s" if item.seconds is not None else ""
    if item.right:
        return Cell("found", tone="good", small=seconds)
    word = "not found" if item.outcome == "ok" else item.outcome
    return Cell(word, tone="bad", small=seconds)


def _whole(item: Item, name: str) -> int:
    """The length is in the item's id, "LENGTH-DEPTH"; the depth among its facts."""
    if name == "length":
        head = item.id.partition("-")[0]
        return int(head) if head.isdecimal() else 0
    value = item.facts.get(name)
    return int(value) if isinstance(value, int | float) else 0
