"""AWS event-stream frames (`application/vnd.amazon.eventstream`): binary messages whose payloads carry a reply's bytes.

A message is: its length and its headers' length (4 bytes each, big-endian), a CRC-32 of those 8 bytes, the headers, the
payload, and a CRC-32 of everything before it. The payloads of `PayloadPart` events, one after the other, are the
server-sent events of the model; SageMaker cuts them anywhere. A message of type exception or error ends the reply.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from zlib import crc32

from tools.measure.client.sse import SseFramer

Piece = tuple[float, bytes]

PRELUDE, LEAST, MOST = 12, 16, 24 * 1024 * 1024
"""Bytes: of the prelude, of the smallest message, and the length beyond which it is none (the format's bound)."""
_WIDTHS = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value by its type; types 6 and 7 (bytes, text) say their length themselves."""


class AwsEventStreamFramer:
    """Cuts a body of AWS frames into the model's own events. Implements the timing client's `Framer`."""

    def __init__(self) -> None:
        self._error = b""

    def events(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The payload of each server-sent event with the stamp of the read that completed it.

        An error in mid-stream is passed on as `{"error": {...}}`. Raises ValueError on a broken frame.
        """
        last = 0.0
        for at, payload in SseFramer().events(self._payloads(pieces)):
            last = at
            if self._error:
                break  # what was left half-way when the stream broke is no event
            yield at, payload
        if self._error:
            yield last, self._error

    def _payloads(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        for at, headers, payload in messages(pieces):
            kind = headers.get(":message-type", "")
            if kind == "event":
                if headers.get(":event-type") == "PayloadPart" and payload:
                    yield at, payload
                continue
            self._error = _told(headers, payload)
            return


def messages(pieces: Iterable[Piece]) -> Iterator[tuple[float, dict[str, str], bytes]]:
    """Every message with the stamp of the read that completed it: headers and payload. Both CRCs are checked.

    Raises ValueError for a wrong CRC, an impossible length, and a body that ends inside a message.
    """
    held = bytearray()
    for at, piece in pieces:
        held += piece
        while len(held) >= PRELUDE:
            total, head = _lengths(held)
            if len(held) < total:
                break
            message = bytes(held[:total])
            del held[:total]
            if crc32(message[:-4]) != int.from_bytes(message[-4:], "big"):
                raise ValueError("a frame's checksum is wrong")
            start = PRELUDE + head
            yield at, _headers(message[PRELUDE:start]), message[start:-4]
    if held:
        raise ValueError(f"the body ends inside a frame ({len(held)} bytes of one)")


def _lengths(held: bytearray) -> tuple[int, int]:
    total, head, check = struct.unpack_from(">III", held)
    if crc32(bytes(held[:8])) != check:
        raise ValueError("a frame's prelude has a wrong checksum")
    if not LEAST <= total <= MOST or head > total - LEAST:
        raise ValueError(f"a frame of {total} bytes with {head} bytes of headers")
    return total, head


def _headers(raw: bytes) -> dict[str, str]:
    """Names and textual values; values of other types are left out. Raises ValueError for what is no header."""
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(raw):
            size = raw[at]
            name = raw[at + 1 : at + 1 + size].decode("utf-8")
            at += 1 + size
            kind = raw[at]
            at += 1
            if kind in {6, 7}:
                (length,) = struct.unpack_from(">H", raw, at)
                at += 2
                if at + length > len(raw):
                    raise ValueError("a header reaches beyond its frame")
                if kind == 7:
                    found[name] = raw[at : at + length].decode("utf-8")
                at += length
            else:
                at += _WIDTHS[kind]
    except (IndexError, KeyError, struct.error) as error:
        raise ValueError("a frame's headers cannot be read") from error
    return found


def _told(headers: dict[str, str], payload: bytes) -> bytes:
    """An exception or error message as the event that the reply's reader takes for a refusal in words."""
    code = headers.get(":exception-type") or headers.get(":error-code") or "error"
    words = headers.get(":error-message", "")
    try:
        body = json.loads(payload) if payload else {}
    except ValueError:
        body = {}
    if isinstance(body, dict):
        words = str(body.get("Message") or body.get("message") or words)
        code = f"{code} ({body['ErrorCode']})" if body.get("ErrorCode") else code
    return json.dumps({"error": {"message": f"{code}: {words[:400]}", "code": code}}).encode()
