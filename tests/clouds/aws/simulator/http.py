"""The runtime of a SageMaker endpoint on a loopback socket, for what no botocore event shows: our own signed requests.

Every request's signature is computed again from what arrived. Answers come as AWS event-stream frames in HTTP chunks.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.clouds.aws.simulator.runtime import Script, completion, frame, frames, sse

KEY, SECRET = "AKIASIMULATED", "not-a-secret"
PART = {":event-type": "PayloadPart", ":content-type": "application/octet-stream", ":message-type": "event"}


@dataclass
class RuntimeServer:
    """Serves `script`. With `first` and `each` (seconds) tokens come one by one at known moments."""

    script: Script = field(default_factory=Script)
    region: str = "us-east-2"
    first: float = 0.0
    each: float = 0.0
    status: int = 200
    refusal: dict[str, Any] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    port: int = 0

    def __enter__(self) -> RuntimeServer:
        ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(5)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)

    def _serve(self, ready: threading.Event) -> None:
        async def main() -> None:
            self._stop = asyncio.Event()
            server = await asyncio.start_server(self._client, "127.0.0.1", 0, backlog=256)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()
            await self._stop.wait()
            server.close()
            for task in (open_still := asyncio.all_tasks() - {asyncio.current_task()}):
                task.cancel()
            await asyncio.gather(*open_still, return_exceptions=True)  # a socket left open fails some later test

        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(main())
        self._loop.close()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.CancelledError, ConnectionError, asyncio.IncompleteReadError):
            while line := await reader.readline():
                began = asyncio.get_running_loop().time()
                method, path, _ = line.decode().split(" ", 2)
                headers = {}
                while (head := (await reader.readline()).decode().strip()) != "":
                    name, _, value = head.partition(":")
                    headers[name.strip().lower()] = value.strip()
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                await self._answer(writer, method, path, headers, body, began)
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _answer(
        self, writer: asyncio.StreamWriter, method: str, path: str, headers: dict[str, str], body: bytes, began: float
    ) -> None:
        said = {"path": path, "body": json.loads(body), "type": headers.get("content-type", "")}
        self.asked.append({**said, "token": headers.get("x-amz-security-token", "")})
        if not signed_well(method, headers["host"], path, headers, body, self.region):
            return await self._plain(writer, 403, {"message": "The request signature we calculated does not match"})
        if self.status != 200:
            return await self._plain(writer, self.status, self.refusal)
        if not path.endswith("-response-stream"):
            return await self._plain(writer, 200, completion(self.script.words, said["body"]))
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.amazon.eventstream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        async for piece in self._pieces(began):
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        writer.write(b"0\r\n\r\n")
        return await writer.drain()

    async def _pieces(self, began: float) -> AsyncIterator[bytes]:
        if not self.each:
            yield b"".join(frames(self.script))
            return
        events = sse(self.script.words).split(b"\n\n")[:-1]
        clock = asyncio.get_running_loop().time
        sent: list[float] = []
        for number, event in enumerate(events):
            if number < len(self.script.words):
                await asyncio.sleep(max(0.0, began + self.first + number * self.each - clock()))
                sent.append(clock() - began)
            if b'"usage"' in event:
                # what this server really did, so that its own lateness is not read as the client's
                told = {**json.loads(event[6:]), "timings": {"first_s": sent[0], "last_s": sent[-1]}}
                event = b"data: " + json.dumps(told).encode()  # noqa: PLW2901
            yield frame(PART, event + b"\n\n")

    @staticmethod
    async def _plain(writer: asyncio.StreamWriter, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        await writer.drain()


def signed_well(method: str, host: str, path: str, headers: dict[str, str], body: bytes, region: str) -> bool:
    """Whether the signature is what AWS would compute from the request as it arrived."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import ReadOnlyCredentials

    given = headers.get("authorization", "")
    if "SignedHeaders=" not in given:
        return False
    names = given.split("SignedHeaders=", 1)[1].split(",", 1)[0].split(";")
    request = AWSRequest(method=method, url=f"http://{host}{path}", data=body, headers={n: headers[n] for n in names})
    request.context["timestamp"] = headers.get("x-amz-date", "")
    auth = SigV4Auth(ReadOnlyCredentials(KEY, SECRET, headers.get("x-amz-security-token")), "sagemaker", region)
    wanted = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    return given.endswith(f"Signature={wanted}")
