"""Server-sent events: `data:` lines up to a blank line, split by the network wherever it likes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

BOM = b"\xef\xbb\xbf"
LARGEST = 16 * 1024 * 1024
"""Bytes of one event; more is no event of a model, and looking for its end in ever more bytes takes ever longer."""


class SseFramer:
    """Cuts a body into events by the rules of the HTML standard (section 9.2): LF, CRLF or CR end a line, `:` starts a
    comment, several `data:` lines are one payload, other fields carry nothing for us. A field that is no event field
    but holds an `error` is passed on, since llama.cpp once sent refusals as `error: {...}`."""

    def events(self, pieces: Iterable[tuple[float, bytes]]) -> Iterator[tuple[float, bytes]]:
        """The payload of each event with the stamp of the read that completed it. Raises ValueError without end."""
        rest = b""
        started = False
        for at, piece in pieces:
            # The common case: one whole event in one piece. Everything else takes the slow path below.
            if (
                not rest
                and piece.startswith(b"data: ")
                and piece.find(b"\n") == len(piece) - 2
                and piece.endswith(b"\n\n")
            ):
                started = True
                yield at, piece[6:-2]
                continue
            text = rest + piece
            if not started:
                if BOM.startswith(text):
                    rest = text
                    continue
                text, started = text.removeprefix(BOM), True
            # A lone CR at the very end may be the first half of CRLF: it waits for the next piece.
            held = b"\r" if text.endswith(b"\r") else b""
            blocks = _unix(text[: len(text) - len(held)]).split(b"\n\n")
            rest = blocks.pop() + held
            if len(rest) > LARGEST:
                raise ValueError(f"an event of more than {LARGEST:,} bytes")
            for block in blocks:
                if payload := _payload(block):
                    yield at, payload
        if payload := _payload(_unix(rest)):
            # The standard drops an event without its blank line; whether the reply was cut, its reader decides.
            yield at, payload


def _unix(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def _payload(block: bytes) -> bytes:
    if block.startswith(b"data: ") and b"\n" not in block:
        return block[6:]
    lines = []
    for line in block.split(b"\n"):
        name, colon, value = line.partition(b":")
        if colon and name in {b"data", b"error"}:
            value = value.removeprefix(b" ")
            lines.append(value if name == b"data" else b'{"error": ' + value + b"}")
    return b"\n".join(lines)
