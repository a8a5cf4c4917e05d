"""Draws the plugin's icon, .claude-plugin/icon.png: three bars of a measurement on a rig. Standard library only.

python docs/icon.py
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

SIDE = 512
GRID = 3
"""Samples along a pixel's side."""
GROUND, RIG, BARS = (22, 36, 56), (226, 232, 240), ((94, 162, 233), (70, 200, 170), (250, 190, 88))
TARGET = Path(__file__).resolve().parents[1] / ".claude-plugin" / "icon.png"


def inside(x: float, y: float, left: float, top: float, right: float, bottom: float, radius: float) -> bool:
    """True when a point lies in a rectangle with round corners."""
    dx = max(left + radius - x, x - (right - radius), 0.0)
    dy = max(top + radius - y, y - (bottom - radius), 0.0)
    return dx * dx + dy * dy <= radius * radius


def colour(x: float, y: float) -> tuple[int, int, int, int]:
    """Red, green, blue and opacity at a point."""
    if not inside(x, y, 16, 16, 496, 496, 96):
        return (0, 0, 0, 0)
    for number, (height, fill) in enumerate(zip((110, 190, 270), BARS, strict=True)):
        left = 120 + 100 * number
        if inside(x, y, left, 374 - height, left + 72, 374, 12):
            return (*fill, 255)
    if (
        inside(x, y, 88, 390, 424, 414, 12)
        or inside(x, y, 120, 390, 140, 446, 10)
        or inside(x, y, 372, 390, 392, 446, 10)
    ):
        return (*RIG, 255)
    return (*GROUND, 255)


def pixel(column: int, row: int) -> bytes:
    """The mean of the samples in one pixel, weighted by opacity."""
    samples = [colour(column + (i + 0.5) / GRID, row + (j + 0.5) / GRID) for i in range(GRID) for j in range(GRID)]
    alpha = sum(sample[3] for sample in samples)
    mixed = [round(sum(each[k] * each[3] for each in samples) / alpha) if alpha else 0 for k in range(3)]
    return bytes([*mixed, round(alpha / len(samples))])


def chunk(kind: bytes, data: bytes) -> bytes:
    """One PNG chunk."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main() -> None:
    """Write the file."""
    rows = b"".join(b"\0" + b"".join(pixel(column, row) for column in range(SIDE)) for row in range(SIDE))
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 6, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    TARGET.write_bytes(b"\x89PNG\r\n\x1a\n" + parts)


if __name__ == "__main__":
    main()
