"""A tunnel through Google's relay, spoken to over real sockets on loopback."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from clouds.errors import PermissionMissing, Unexpected, Unreachable
from clouds.gcp.endpoints.tunnel import Target, Tunnel, open_tunnel
from tests.clouds.gcp.endpoints.tunnel.relay_server import Relay

BODY = bytes(range(256)) * 4096


class Large(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        got = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.send_header("X-Got", str(len(got)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="module")
def backend() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Large)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join(5)


def target(relay: Relay) -> Target:
    return Target("demo-project", "us-west4-a", "t1v-n-0001-w-0", 8000, host=f"ws://127.0.0.1:{relay.port}")


def test_a_request_and_a_large_answer_go_through_it(backend: int) -> None:
    with Relay(to_port=backend) as relay:
        port, close = open_tunnel(target(relay), lambda: "secret-token")
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        client.request("POST", "/v1", body=b"x" * 50_000)
        answer = client.getresponse()
        assert (answer.headers["X-Got"], answer.read()) == ("50000", BODY)
        until = time.monotonic() + 10  # the relay may read what was acknowledged after the client has read all
        while max(relay.acknowledged, default=0) <= len(BODY) - 40_000:
            assert time.monotonic() < until, "what was read is not acknowledged"
            time.sleep(0.005)
        client.close()
        close()
        assert relay.asked[0] == {
            "project": "demo-project", "port": "8000", "newWebsocket": "True", "zone": "us-west4-a",
            "instance": "t1v-n-0001-w-0", "interface": "nic0",
        }  # fmt: skip
        told = relay.headers[0]
        assert (told["origin"], told["sec-websocket-protocol"]) == ("bot:iap-tunneler", "relay.tunnel.cloudproxy.app")
        assert relay.largest == 16_384
        assert all(b - a > 32_768 for a, b in zip(relay.acknowledged, relay.acknowledged[1:], strict=False))


def test_closing_it_leaves_nothing_on_either_side(backend: int) -> None:
    with Relay(to_port=backend) as relay:
        port, close = open_tunnel(target(relay), lambda: "secret-token")
        held = socket.create_connection(("127.0.0.1", port))
        held.sendall(b"POST / HTTP/1.1\r\n")
        close()
        close()
        assert held.recv(10) == b""
        held.close()
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), timeout=1)
        deadline = time.monotonic() + 2
        while relay.open and time.monotonic() < deadline:
            threading.Event().wait(0.01)
        assert relay.open == 0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tunnel ")]


def test_a_token_that_is_refused_names_the_role(backend: int) -> None:
    with Relay(to_port=backend) as relay, pytest.raises(PermissionMissing, match="401") as told:
        open_tunnel(target(relay), lambda: "another")
    assert "roles/iap.tunnelResourceAccessor" in told.value.fix
    assert "another" not in str(told.value)


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [(4003, Unreachable, "35.235.240.0/20"), (4033, PermissionMissing, "tunnelResourceAccessor")],
)
def test_what_the_relay_closes_with_is_told_apart(code: int, kind: type[Exception], words: str) -> None:
    with Relay(close=code) as relay, pytest.raises(kind) as told:
        open_tunnel(target(relay), lambda: "secret-token")
    assert words in told.value.fix  # type: ignore[attr-defined]
    assert told.value.code == str(code)  # type: ignore[attr-defined]


def test_another_answer_than_an_upgrade_is_quoted(backend: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with Relay(refuse=418, to_port=backend) as relay, pytest.raises(Unexpected, match="HTTP 418 said"):
        open_tunnel(target(relay), lambda: "secret-token")


def test_no_relay_at_all_is_unreachable() -> None:
    there = Target("p", "us-west4-a", "n", 8000, host="ws://127.0.0.1:1")
    with pytest.raises(Unreachable, match="opening the tunnel to port 8000 of n in us-west4-a"):
        open_tunnel(there, lambda: "t")
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tunnel ")]


def test_a_tunnel_that_is_shown_holds_no_token() -> None:
    tunnel = Tunnel(Target("p", "z", "n", 8000), lambda: "secret-token")
    assert "secret-token" not in repr(vars(tunnel))
    tunnel.close()
