"""Before any clock starts: is the endpoint there, which model does it serve, and which fields does it take."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clouds.errors import CloudError, NotFound, NotSignedIn, PermissionMissing, Throttled, Unexpected, Unreachable
from tools.measure.client.request import ChatRequest

if TYPE_CHECKING:
    from tools.measure.client.model_client import ModelClient
    from tools.measure.client.reply import Reply

TRIES = 6
PAUSES = (0.05, 0.1, 0.3, 1.0, 2.0)
"""Seconds between tries of the probe; nothing is being timed yet, so that it may be tried again."""
PROBE = ChatRequest("Count from one to four.", 4, label="probe", fixed_length=True)

LOG = "Read its log: get_endpoint_logs; of a bare URL, the server's own."


async def served(client: ModelClient) -> Mapping[str, Any]:
    """The first entry of the endpoint's model list; empty where it has none."""
    from pydantic_core import from_json

    path = client.wire.path
    if not path.endswith("/chat/completions"):
        return {}
    status, body = await client.get(path.removesuffix("/chat/completions") + "/models")
    if status != 200:
        return {}
    try:
        listed = from_json(body)["data"][0]
    except (ValueError, KeyError, IndexError, TypeError):
        return {}
    return listed if isinstance(listed, dict) else {}


async def learn(client: ModelClient) -> Mapping[str, Any]:
    """Set the client's model and dialect. Returns what the endpoint lists about its model.

    Raises NotSignedIn, PermissionMissing, NotFound, Throttled, Unreachable or Unexpected when no reply can be had.
    """
    listed = await served(client)
    if not client.model:
        client.model = str(listed.get("id", ""))[:200]
    tries = 0
    while True:
        reply = await client.one(PROBE)
        if reply.ok:
            return listed
        if reply.status in {400, 422} and (narrower := client.dialect.without(reply.detail)) is not None:
            client.dialect = narrower
            continue
        tries += 1
        if reply.kind == "short" and tries >= 2:
            return listed
        if reply.kind == "http_4xx" or tries >= TRIES:
            raise _error(client, reply)
        await asyncio.sleep(PAUSES[min(tries, len(PAUSES)) - 1])


def _error(client: ModelClient, reply: Reply) -> CloudError:
    tried = f"Asking {client.model or 'the model'} for a first reply"
    code = str(reply.status or "")
    if reply.status == 401:
        return NotSignedIn(
            tried, answered=reply.detail, code=code, fix="Name the variable that holds its key in api_key_env."
        )
    if reply.status == 403:
        return PermissionMissing(tried, answered=reply.detail, code=code, fix="Use a key that may call this model.")
    if reply.status == 404:
        return NotFound(
            tried, answered=reply.detail, code=code, fix="Check the URL; get_endpoint shows what is served."
        )
    if reply.kind == "http_429":
        return Throttled(tried, answered=reply.detail, code=code, fix="Repeat later.", retry_after=reply.retry_after)
    if reply.kind in {"refused", "timeout"} or reply.status == 503:
        return Unreachable(
            tried,
            answered=reply.detail,
            code=code,
            fix="Start it, or wait until it is ready (get_endpoint says so of one of ours).",
        )
    return Unexpected(tried, answered=f"{reply.kind}: {reply.detail}", code=code, fix=LOG)
