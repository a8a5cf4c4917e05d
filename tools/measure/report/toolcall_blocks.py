"""Tool use on a page: who counted right, by arm and size of the list, and why each miss missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tools.measure.record import Item, Run
from tools.measure.report.cells import grid_chart
from tools.measure.report.page import Cell, Charts, Lines, Section, Table

BLIND = "no tool parser"


def toolcall_sections(runs: Sequence[Run], names: Mapping[str, str] = {}) -> Iterator[Section]:
    """A row an arm and size; a cell a question. Nothing where no run asked for counts."""
    rows: list[tuple[Cell, ...]] = []
    grid: dict[str, str] = {}
    ends: dict[str, str] = {}
    ids: list[str] = []
    blind: list[str] = []
    kinds = list(dict.fromkeys(_miss(item) for run in runs for item in _items(run) if _miss(item)))
    for run in runs:
        name = names.get(run.id, "")
        for arm in dict.fromkeys(item.kind for item in _items(run)):
            asked = sorted((item for item in _items(run) if item.kind == arm), key=_size)
            if any(item.outcome == BLIND for item in asked):
                blind.append(f"{name} {arm}".strip())
                continue
            label = f"{name} {arm}".strip()
            grid[label] = "".join("r" if item.right else "w" if item.outcome == "ok" else "e" for item in asked)
            ends[label] = f"{sum(item.right for item in asked)} of {len(asked)}"
            ids = [item.id.partition("-")[2] for item in asked] if len(asked) > len(ids) else ids
            rows += [
                _row(label, size, [item for item in asked if _size(item) == size], kinds) for size in _sizes(asked)
            ]
    if rows or blind:
        caption = "One cell a question, shorter lists first."
        chart = grid_chart("Questions answered right, by who counts", grid, ids, ends, caption=caption)
        heads = ("who counts", "ids in the list", "right", *kinds)
        said = tuple(f"{each} is not scored: the endpoint returns no tool calls that can be read." for each in blind)
        table = Table(heads, tuple(rows), frozenset(range(1, len(heads))))
        yield Section("Count it or compute it", (Charts((chart,) if chart else ()), table, Lines(said)))


def _items(run: Run) -> tuple[Item, ...]:
    part = run.part("toolcalls")
    return part.items if part else ()


def _row(label: str, size: int, items: Sequence[Item], kinds: Sequence[str]) -> tuple[Cell, ...]:
    missed = Counter(map(_miss, items))
    right = sum(item.right for item in items)
    counts = (Cell(f"{missed[kind]:,}", tone="bad" if missed[kind] else "quiet") for kind in kinds)
    return (Cell(label), Cell(f"{size:,}"), Cell(f"{right:,} of {len(items):,}"), *counts)


def _miss(item: Item) -> str:
    return str(item.facts.get("miss") or "")


def _size(item: Item) -> int:
    size = item.facts.get("size")
    return int(size) if isinstance(size, int | float) else 0


def _sizes(items: Sequence[Item]) -> Sequence[int]:
    return sorted({_size(item) for item in items})
