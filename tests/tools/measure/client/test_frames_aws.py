"""AWS event-stream frames: cut anywhere, broken anywhere, and errors in mid-stream."""

from __future__ import annotations

import json
import os

import pytest

from clouds.models import Wire
from tests.clouds.aws.simulator.runtime import Script, frame, frames
from tools.measure.client.frames import framer_for
from tools.measure.client.frames_aws import AwsEventStreamFramer, messages

WORDS = ("Hel", "lo", ", wörld")


def events(data: bytes, cut: int) -> list[bytes]:
    pieces = [(float(at), data[at : at + cut]) for at in range(0, len(data), cut)]
    return [payload for _, payload in AwsEventStreamFramer().events(pieces)]


def content(found: list[bytes]) -> str:
    chunks = [json.loads(payload) for payload in found if payload != b"[DONE]"]
    return "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c.get("choices"))


def test_the_timing_client_takes_the_framer_by_its_name() -> None:
    assert framer_for(Wire(url="https://x", frames="aws-event-stream")) is AwsEventStreamFramer


@pytest.mark.parametrize("payload", [1, 7, 23, 5000] if "MODELRIG_ALL" in os.environ else [7, 5000])
def test_a_reply_is_the_same_however_frames_and_network_cut_it(payload: int) -> None:
    body = b"".join(frames(Script(words=WORDS, cut=payload)))
    whole = events(body, len(body))
    assert content(whole) == "Hello, wörld"
    assert whole[-1] == b"[DONE]"
    for cut in (1, 2, 3, 11, 13, 64, 257):
        assert events(body, cut) == whole


def test_an_event_has_the_stamp_of_the_read_that_completed_it() -> None:
    first, second = frame(PART, b"data: {}\n"), frame(PART, b"\ndata: [DONE]\n\n")
    pieces = [(1.0, first), (2.0, second[:5]), (3.0, second[5:])]
    assert list(AwsEventStreamFramer().events(pieces)) == [(3.0, b"{}"), (3.0, b"[DONE]")]


PART = {":event-type": "PayloadPart", ":content-type": "application/octet-stream", ":message-type": "event"}


@pytest.mark.parametrize("breaks_after", [0, 1, 4])
def test_an_error_in_mid_stream_is_told_and_half_an_event_before_it_is_not(breaks_after: int) -> None:
    body = b"".join(frames(Script(words=WORDS, cut=40, breaks_after=breaks_after)))
    *before, last = events(body, 9)
    said = "ModelStreamError (ModelInvocationTimeExceeded)"
    assert json.loads(last) == {"error": {"message": f"{said}: the model stopped", "code": said}}
    assert all(b"error" not in payload for payload in before)


def test_an_error_without_a_body_is_told_by_its_headers() -> None:
    headers = {":message-type": "error", ":error-code": "InternalFailure", ":error-message": "no more"}
    assert [json.loads(payload)["error"]["message"] for payload in events(frame(headers, b""), 5)] == [
        "InternalFailure: no more"
    ]


def test_events_of_other_kinds_carry_nothing() -> None:
    other = frame({":event-type": "Heartbeat", ":message-type": "event"}, b"data: {}\n\n")
    assert events(other, 4) == []


def test_headers_of_every_type_are_read_over() -> None:
    head = b"\x01a\x00\x01b\x02\x07\x01c\x05" + b"\x00" * 8 + b"\x01d\x06\x00\x02xy" + b"\x01e\x09" + b"\x00" * 16
    head += b"\x01f\x07\x00\x03abc"
    raw = _message(head, b"payload")
    assert list(messages([(0.5, raw)])) == [(0.5, {"f": "abc"}, b"payload")]


def _message(head: bytes, payload: bytes) -> bytes:
    from struct import pack
    from zlib import crc32

    prelude = pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + pack(">I", crc32(prelude)) + head + payload
    return body + pack(">I", crc32(body))


GOOD = frame(PART, b"data: {}\n\n")
BROKEN = [
    ("a byte of the payload changed", GOOD[:-8] + bytes([GOOD[-8] ^ 1]) + GOOD[-7:], "checksum is wrong"),
    ("a byte of the length changed", bytes([GOOD[0], GOOD[1], GOOD[2], GOOD[3] ^ 1]) + GOOD[4:], "prelude"),
    ("the body ends inside a frame", GOOD + GOOD[:-1], "ends inside a frame"),
    ("headers that reach beyond the frame", _message(b"\x01f\x07\x00\xff" + b"abc", b""), "beyond its frame"),
    ("a header of an unknown type", _message(b"\x01f\x63abc", b""), "cannot be read"),
    ("text that is no frame at all", b"data: {}\n\ndata: [DONE]\n\n", "prelude"),
]


@pytest.mark.parametrize(("why", "body", "words"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_broken_frame_is_refused_and_not_read_over(why: str, body: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        events(body, 6)


def test_a_frame_longer_than_the_format_allows_is_refused() -> None:
    from struct import pack
    from zlib import crc32

    prelude = pack(">II", 25 * 1024 * 1024, 0)
    with pytest.raises(ValueError, match="a frame of 26214400 bytes"):
        list(messages([(0.0, prelude + pack(">I", crc32(prelude)))]))
