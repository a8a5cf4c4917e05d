from __future__ import annotations

import socket
import threading
import time

import pytest

from clouds.azure.api import AzureApi
from clouds.errors import Unreachable
from clouds.models import Call, Scope
from tests.clouds.azure.rig import Credential


@pytest.mark.parametrize("host", ["192.0.2.1", "management.azure.com"])
def test_a_test_that_leaves_this_machine_fails(host: str) -> None:
    with pytest.raises(AssertionError, match="tried to reach"):
        socket.create_connection((host, 443), timeout=1)


def test_a_server_of_our_own_may_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), timeout=1):
        pass


class Proxy:
    """A proxy that refuses to connect, and knows what it was asked for."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.asked: list[bytes] = []
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self) -> None:
        connection, _ = self.server.accept()
        with connection:
            self.asked.append(connection.recv(4096))
            connection.sendall(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.getsockname()[1]}"

    def close(self) -> None:
        self.thread.join(5)
        self.server.close()


def test_the_proxy_of_the_environment_is_used_and_never_sees_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Proxy()
    monkeypatch.setenv("https_proxy", proxy.url)
    api = AzureApi(credential=lambda: Credential(time.time), attempts=1)
    try:
        with pytest.raises(Unreachable) as told:
            api.send(Call("tenants", "list"), scope=Scope())
    finally:
        proxy.close()
    assert (told.value.code, told.value.sent) == ("ProxyError", False)
    assert proxy.asked[0].startswith(b"CONNECT management.azure.com:443 ")
    assert b"token-of" not in proxy.asked[0]


def test_a_host_that_the_environment_keeps_from_its_proxy_is_kept_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "management.azure.com")
    api = AzureApi(credential=lambda: Credential(time.time), attempts=1)
    with pytest.raises(AssertionError, match="tried to reach management"):
        api.send(Call("tenants", "list"), scope=Scope())
