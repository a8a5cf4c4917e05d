from __future__ import annotations

import random

import pytest

from tools.measure.client.sse import SseFramer


def events(*pieces: bytes) -> list[tuple[float, bytes]]:
    return list(SseFramer().events([(float(at), piece) for at, piece in enumerate(pieces)]))


def test_a_whole_event_in_one_piece_has_that_pieces_stamp() -> None:
    assert events(b"data: one\n\n", b"data: two\n\n") == [(0.0, b"one"), (1.0, b"two")]


def test_an_event_in_three_pieces_has_the_stamp_of_the_piece_that_completed_it() -> None:
    assert events(b"da", b"ta: on", b"e\n\n") == [(2.0, b"one")]


def test_two_events_in_one_piece_share_its_stamp() -> None:
    assert events(b"data: one\n\ndata: two\n\n") == [(0.0, b"one"), (0.0, b"two")]


def test_a_piece_may_end_one_event_and_begin_the_next() -> None:
    assert events(b"data: on", b"e\n\ndata: t", b"wo\n\n") == [(1.0, b"one"), (2.0, b"two")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_every_line_end_of_the_standard_is_read(end: bytes) -> None:
    assert events(b"data: one" + end + end + b"data: two" + end + end) == [(0.0, b"one"), (0.0, b"two")]


def test_a_line_end_of_two_characters_may_be_split() -> None:
    assert events(b"data: one\r", b"\n\r", b"\n") == [(2.0, b"one")]


def test_comments_other_fields_and_a_byte_order_mark_carry_nothing() -> None:
    assert events(b"\xef\xbb", b"\xbf: ping\n\nevent: x\nid: 1\ndata: one\n\n") == [(1.0, b"one")]


def test_several_data_lines_are_one_payload_and_the_space_is_optional() -> None:
    assert events(b"data:one\ndata: two\n\n") == [(0.0, b"one\ntwo")]


def test_an_error_field_is_passed_on_as_json() -> None:
    assert events(b'error: {"message": "no"}\n\n') == [(0.0, b'{"error": {"message": "no"}}')]


def test_what_follows_the_last_blank_line_is_passed_on_for_its_reader_to_judge() -> None:
    assert events(b"data: [DONE]") == [(0.0, b"[DONE]")]


def test_an_empty_body_has_no_event() -> None:
    assert events() == []


def test_however_the_bytes_are_cut_the_events_are_the_same() -> None:
    text = b"".join(
        b'data: {"n": %d}\r\n\r\n' % n if n % 2 else b": x\n\ndata: a\ndata: b%d\n\n" % n for n in range(40)
    )
    whole = [payload for _, payload in events(text)]
    source = random.Random(3)  # noqa: S311 - cuts that repeat
    for _ in range(200):
        cuts = sorted(source.choices(range(len(text)), k=source.randint(0, 60)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        assert [payload for _, payload in events(*pieces)] == whole
