"""Requests of more than one message: examples before a question, tools, the model's calls and what they returned."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.measure.client import Reply
from tools.measure.options import Options

MOST_CALLS = 16
"""Calls of one reply that are looked at."""


@dataclass(frozen=True)
class ToolCall:
    """One call as the model made it; `arguments` are its own text, which need not be JSON."""

    id: str
    name: str
    arguments: str


def messages(question: str, examples: Sequence[tuple[str, str]] = ()) -> list[dict[str, Any]]:
    """A question after worked examples as earlier turns."""
    made: list[dict[str, Any]] = []
    for asked, answered in examples:
        made += [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]
    return [*made, {"role": "user", "content": question}]


def thinking(options: Options, name: str) -> tuple[str, dict[str, Any]]:
    """What the record says of thinking, and what is sent for it; nothing where it was not asked for."""
    said = options.text(name, "", ("", "on", "off"))
    if not said:
        return "the engine's default", {}
    return said, {"chat_template_kwargs": {"enable_thinking": said == "on"}}


def calls_of(reply: Reply) -> tuple[ToolCall, ...]:
    """The tool calls of a streamed reply, put together from their pieces.

    Pieces of one call share an index. Some servers give every call the index 0, or none: another id is another call.
    Arguments are text; where a server sends the object itself, it is written as JSON.
    """
    made: list[dict[str, str]] = []
    at: dict[int, dict[str, str]] = {}
    for piece in reply.tool_calls:
        for place, each in enumerate(piece if isinstance(piece, list) else [piece]):
            if not isinstance(each, Mapping):
                continue
            index, id_ = each.get("index"), str(each.get("id") or "")
            index = index if isinstance(index, int) else place
            found = at.get(index)
            if found is None or (id_ and found["id"] and id_ != found["id"]):
                found = at[index] = {"id": "", "name": "", "arguments": ""}
                made.append(found)
            function = each.get("function", each)
            found["id"] = found["id"] or id_
            if isinstance(function, Mapping):
                found["name"] = found["name"] or str(function.get("name") or "")
                arguments = function.get("arguments")
                found["arguments"] += json.dumps(arguments) if isinstance(arguments, Mapping) else str(arguments or "")
    return tuple(
        ToolCall(each["id"] or f"call-{place}", each["name"], each["arguments"])
        for place, each in enumerate(made[:MOST_CALLS])
    )


def called(reply: Reply, answers: Sequence[tuple[ToolCall, str]]) -> list[dict[str, Any]]:
    """The turns that follow a reply with calls: what the model said, and what each call returned."""
    return [
        {
            "role": "assistant",
            "content": reply.text,
            "tool_calls": [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call, _ in answers
            ],
        },
        *({"role": "tool", "tool_call_id": call.id, "content": text} for call, text in answers),
    ]
