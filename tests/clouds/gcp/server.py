"""One small server on loopback that speaks for every host of Google's.

    with Google() as google:
        google.on("tpu.projects.locations.nodes.get", {"name": "…", "state": "READY"})
        google.on("compute.instances.insert", lambda asked: (200, {"name": "operation-1", "status": "RUNNING"}))
        google.api().send(Call("tpu", "projects.locations.nodes.get", {"name": "…"}), scope=Scope())
        google.asked[-1].headers, google.operations

A handler is an answer's body, a `(status, body)` or `(status, body, headers)`, a function from Asked to one of these,
or a list of them, of which each is served once and the last for ever. Bodies that are sent are held against Google's
own documents: what is unknown there is answered with 400 and fails the test when the server ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import urlsplit

from clouds.gcp import methods
from clouds.gcp.api import GcpApi
from clouds.gcp.session import Session, Source
from clouds.replay import Tap
from tests.clouds.gcp import schemas

PROJECT = "demo-project"


@dataclass(frozen=True)
class Asked:
    """One request as it arrived. `name` is `service.operation`, or the host where it is no API."""

    name: str
    parameters: Mapping[str, Any]
    headers: Mapping[str, str] = field(repr=False)
    path: str = ""
    content: bytes = b""

    @property
    def body(self) -> Any:
        return self.parameters.get("body")


Handler = Any
"""A body, a tuple with the status, a function of Asked, or a list of these."""


class FakeCredentials:
    """Like google-auth's: a token that is renewed when it was refused. `renew` may raise google-auth's errors."""

    def __init__(self, renew: Callable[[Any], str] | None = None, quota_project_id: str | None = None) -> None:
        self.token, self.valid, self.refreshed = "token-0", True, 0
        self.quota_project_id = quota_project_id
        self._renew = renew

    def refresh(self, request: Any) -> None:
        self.refreshed += 1
        self.token = self._renew(request) if self._renew else f"token-{self.refreshed}"
        self.valid = True


class Google:
    """The server. `asked` holds every request; `wrong` what Google's documents do not know."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.wrong: list[str] = []
        self._handlers: dict[str, Handler] = {}
        self._lock = Lock()
        self._apis: list[GcpApi] = []

    @property
    def operations(self) -> list[str]:
        """`service.operation` of everything asked, in order."""
        return [each.name for each in self.asked]

    def on(self, name: str, handler: Handler) -> None:
        """Answer an operation (`service.operation`) or a host that is no API (`oauth2.googleapis.com`)."""
        service, _, operation = name.partition(".")
        if service in methods.services() and "googleapis.com" not in name and operation not in methods.table(service):
            raise KeyError(f"{name} is not in methods/used.txt")
        self._handlers[name] = handler

    def api(self, *taps: Tap, attempts: int = 1, credentials: Any = None, project: str = PROJECT) -> GcpApi:
        """An api that asks this server for everything, signed with a fake token."""
        source = Source("authorized_user", "test")
        session = Session(source, project, "the test", "us-central1", credentials or FakeCredentials())
        made = GcpApi(build=lambda: session, taps=taps, attempts=attempts, base=self.url, sleep=lambda _: None)
        self._apis.append(made)
        return made

    def __enter__(self) -> Google:
        google = self

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        class Each(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_: Any) -> None:
                """Nothing on the terminal."""

            def serve(self) -> None:
                content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, body, headers = google.answer(self.command, self.path, self.headers, content)
                sent = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                given = {"Content-Type": "application/json", **headers, "Content-Length": str(len(sent))}
                for key, value in given.items():
                    self.send_header(key, value)
                with suppress(ConnectionError):  # who asked may have stopped listening
                    self.end_headers()
                    self.wfile.write(sent)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = serve  # noqa: N815 - the names that http.server calls

        self._server = Server(("127.0.0.1", 0), Each)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        for api in self._apis:
            api.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)
        if error[0] is None:
            assert self.wrong == []

    def answer(self, verb: str, path: str, headers: Mapping[str, str], content: bytes) -> tuple[int, Any, Any]:
        """The answer to one request, found by host, verb and path."""
        with self._lock:
            asked, body_schema = self._recognised(verb, path, headers, content)
            self.asked.append(asked)
            if body_schema:
                service = asked.name.partition(".")[0]
                problems = schemas.wrong(service, body_schema, asked.body)
                self.wrong += problems
                if problems:
                    return _status(400, "INVALID_ARGUMENT", "; ".join(problems))
            handler = self._handlers.get(asked.name)
            if handler is None:
                self.wrong.append(f"nobody answers {verb} {headers.get('Host')}{path} ({asked.name})")
                return _status(501, "UNIMPLEMENTED", f"the test answers no {asked.name}")
            if isinstance(handler, list):
                handler = handler.pop(0) if len(handler) > 1 else handler[0]
        found = handler(asked) if callable(handler) else handler
        if not isinstance(found, tuple):
            return 200, found, {}
        return found if len(found) == 3 else (*found, {})

    def _recognised(self, verb: str, path: str, headers: Mapping[str, str], content: bytes) -> tuple[Asked, str]:
        host = headers.get("Host", "").split(":")[0]
        body = None
        if content and "json" in headers.get("Content-Type", ""):
            body = json.loads(content)
        for service in methods.services():
            own, regional = _hosts(service)
            if (host in own or host.endswith(regional)) and (found := methods.recognise(service, verb, path, body)):
                method, parameters = found
                return Asked(f"{service}.{method.operation}", parameters, headers, path, content), method.body
        return Asked(host, {"body": body}, headers, path, content), ""


@cache
def _hosts(service: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The hosts of a service, and how those of its regions end."""
    every = methods.table(service).values()
    own = frozenset(str(urlsplit(each.root).hostname) for each in every)
    return own, tuple({f"-{urlsplit(each.root).hostname}" for each in every if each.regional})


def _status(code: int, status: str, message: str) -> tuple[int, Any, dict[str, str]]:
    return code, {"error": {"code": code, "status": status, "message": message}}, {}
