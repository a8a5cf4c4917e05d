"""Requests of more than one message: examples before a question, tools, the model's calls and what they returned."""

from __future__ import annotations

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
    """The tool calls of a streamed reply, put together from their pieces."""
    parts: dict[int, dict[str, str]] = {}
    for piece in reply.tool_calls:
        for place, each in enumerate(piece if isinstance(piece, list) else [piece]):
            if not isinstance(each, Mapping):
                continue
            index = each.get("index")
            found = parts.setdefault(
                index if isinstance(index, int) else place, {"id": "", "name": "", "arguments": ""}
            )
            function = each.get("function", each)
            found["id"] = found["id"] or str(each.get("id") or "")
            if isinstance(function, Mapping):
                found["name"] = found["name"] or str(function.get("name") or "")
                arguments = function.get("arguments")
                found["arguments"] += arguments if isinstance(arguments, str) else ""
    made = [ToolCall(each["id"], each["name"], each["arguments"]) for _, each in sorted(parts.items())]
    return tuple(ToolCall(call.id or f"call-{place}", call.name, call.arguments) for place, call in enumerate(made))[
        :MOST_CALLS
    ]


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
