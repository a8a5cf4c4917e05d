"""A model that calls our tools through MCP: the tools' schemas go to an OpenAI-shaped endpoint, its calls come back.

The model is scripted (it is the network here); the client, the server and the tools are real.
"""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio.to_thread
import jsonschema
import pytest

from tests.e2e.conftest import Kept

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


class ScriptedModel(BaseHTTPRequestHandler):
    """Calls list_endpoints with its first reply; answers with the count it was given in the second."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        last = body["messages"][-1]
        for tool in body["tools"] if last["role"] == "user" else ():  # they are the same in every turn
            jsonschema.Draft202012Validator.check_schema(tool["function"]["parameters"])
        if last["role"] == "tool":
            message: dict[str, Any] = {
                "role": "assistant",
                "content": f"{json.loads(last['content'])['count']} endpoints",
            }
        else:
            call = {"name": "list_endpoints", "arguments": json.dumps({"cloud": "local"})}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "type": "function", "function": call}],
            }
        data = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def model() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), ScriptedModel)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1/chat/completions"
    server.shutdown()
    server.server_close()
    thread.join()


def ask(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return dict(json.loads(answer.read())["choices"][0]["message"])


async def test_a_model_lists_endpoints_through_mcp_and_quotes_the_count(kept: Kept, model: str) -> None:
    two = kept.two
    tools = [
        {
            "type": "function",
            "function": {"name": t.name, "description": t.description, "parameters": t.input_schema},
        }
        for t in (await two.client.list_tools()).tools
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "How many endpoints are running here?"}]
    for _ in range(4):
        reply = await anyio.to_thread.run_sync(ask, model, {"messages": messages, "tools": tools})
        messages.append(reply)
        if not reply.get("tool_calls"):
            break
        for call in reply["tool_calls"]:
            found = await two.call(call["function"]["name"], **json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(found)})
    assert messages[-1]["content"] == "1 endpoints"
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
