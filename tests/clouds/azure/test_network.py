from __future__ import annotations

import socket

import pytest


@pytest.mark.parametrize("host", ["192.0.2.1", "management.azure.com"])
def test_a_test_that_leaves_this_machine_fails(host: str) -> None:
    with pytest.raises(AssertionError, match="tried to reach"):
        socket.create_connection((host, 443), timeout=1)


def test_a_server_of_our_own_may_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), timeout=1):
        pass
