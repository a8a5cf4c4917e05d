"""Tool calls as servers stream them, put together again."""

from __future__ import annotations

from typing import Any

import pytest

from tools.measure.client import Reply
from tools.measure.turns import MOST_CALLS, ToolCall, calls_of


def piece(arguments: Any, **more: Any) -> list[dict[str, Any]]:
    return [{**more, "function": {"name": more.pop("name", "f"), "arguments": arguments}}]


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([piece('{"a"', index=0, id="x"), piece(": 1}", index=0)], [("x", '{"a": 1}')]),
        ([piece('{"a"', index=0, id="x"), piece(": 1}", index=0, id="x")], [("x", '{"a": 1}')]),
        ([piece("{}", index=0, id="x"), piece("[]", index=1, id="y")], [("x", "{}"), ("y", "[]")]),
        ([piece("{}", index=0, id="x"), piece("[]", index=0, id="y")], [("x", "{}"), ("y", "[]")]),
        ([piece("{}", id="x"), piece("[]", id="y")], [("x", "{}"), ("y", "[]")]),
        ([piece({"a": 1}, index=0)], [("call-0", '{"a": 1}')]),
        ([{"name": "f", "arguments": '{"a"'}, {"arguments": ": 1}"}], [("call-0", '{"a": 1}')]),
        ([["not a call"], None, {"index": 0, "function": "f"}], [("call-0", "")]),
        ([], []),
    ],
)
def test_pieces_of_one_call_belong_together_and_another_id_is_another_call(
    pieces: list[Any], calls: list[tuple[str, str]]
) -> None:
    found = calls_of(Reply("r", tool_calls=tuple(pieces)))
    assert [(call.id, call.arguments) for call in found] == calls


def test_a_reply_of_endless_calls_is_bounded() -> None:
    many = [piece("{}", index=n, id=str(n)) for n in range(100)]
    assert len(calls_of(Reply("r", tool_calls=tuple(many)))) == MOST_CALLS
    assert calls_of(Reply("r", tool_calls=tuple(many)))[0] == ToolCall("0", "f", "{}")
