"""SVG markup: elements, text of a known width, markers. No font is loaded: the reader's own sans serif is used."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from tools.result import visible

Value = str | float
FONT = 13.0
"""Units of ordinary text in a chart."""
WIDTHS = (("WM@%", 1.0), ("mw", 0.95), ("iljtf.,:;|' !()[]", 0.38))
"""Letters that are wider or narrower than most, in heights of the font."""
MARKERS = ("circle", "square", "triangle", "diamond", "cross", "ring")


def tag(name: str, *inside: str, **attributes: Value) -> str:
    """One element. An attribute's name has - for _, and a trailing _ is dropped: class_, font_size."""
    words = "".join(f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"' for key, value in attributes.items())
    return f"<{name}{words}>{''.join(inside)}</{name}>" if inside else f"<{name}{words}/>"


def text(x: float, y: float, words: str, *, anchor: str = "start", css: str = "", **attributes: Value) -> str:
    """Text from anywhere, escaped."""
    more: dict[str, Value] = {"class_": css} if css else {}
    if anchor != "start":
        more["text_anchor"] = anchor
    return tag("text", escape(visible(words), quote=False), x=x, y=y, **more, **attributes)


def title(words: str) -> str:
    """What is shown when an element is pointed at."""
    return tag("title", escape(visible(words), quote=False))


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    """A straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=css)


def place(value: float) -> str:
    """A coordinate to a hundredth of a unit."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def width_of(words: str, size: float = FONT) -> float:
    """About how wide text is in a wide sans serif: rather too much than too little, so that nothing is cut."""
    return size * sum(map(_width, words))


@lru_cache(maxsize=4_096)
def _width(char: str) -> float:
    other = 1.0 if ord(char) > 0x2E80 else 0.74 if char.isupper() else 0.6
    return next((wide for letters, wide in WIDTHS if char in letters), other)


def shortened(words: str, most: float, size: float = FONT) -> str:
    """Text that fits into a width, its end replaced by … where it does not."""
    clean = " ".join(words.split())
    if width_of(clean, size) <= most:
        return clean
    room, kept = most / size - _width("…"), 0
    for char in clean:
        room -= _width(char)
        if room < 0:
            break
        kept += 1
    return f"{clean[:kept].rstrip()}…"


def marker(shape: int, x: float, y: float, css: str, *inside: str, size: float = 4.5, **attributes: Value) -> str:
    """A point: series differ by shape as well as by colour."""
    kind = MARKERS[shape % len(MARKERS)]
    more: dict[str, Value] = {"class_": css, **attributes}
    if kind in {"circle", "ring"}:
        return tag(
            "circle", *inside, cx=x, cy=y, r=size, **{**more, "class_": f"{css} hollow" if kind == "ring" else css}
        )
    s = size
    outlines = {
        "square": [(-s, -s), (s, -s), (s, s), (-s, s)],
        "triangle": [(0, -s * 1.25), (s * 1.15, s * 0.9), (-s * 1.15, s * 0.9)],
        "diamond": [(0, -s * 1.3), (s * 1.3, 0), (0, s * 1.3), (-s * 1.3, 0)],
        "cross": [(-s, -s), (0, -s / 3), (s, -s), (s / 3, 0), (s, s), (0, s / 3), (-s, s), (-s / 3, 0)],
    }
    corners = " ".join(f"{place(x + dx)},{place(y + dy)}" for dx, dy in outlines[kind])
    # cx and cy are of no use to a polygon, but to whoever reads the points back
    return tag("polygon", *inside, points=corners, data_cx=x, data_cy=y, **more)


def _value(value: Value) -> str:
    return place(value) if isinstance(value, int | float) else escape(visible(value))
