"""SSH to a machine with a key that lives a minute: pushed by EC2 Instance Connect, never written to a disk.

The machine's own key is checked against what its console showed; a machine that cannot be told from another is not
spoken to. The client reads nothing of the person's SSH files and uses no agent.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from clouds.aws.api import AwsApi
from clouds.errors import CloudError, Conflict, PermissionMissing, Unexpected, Unreachable
from clouds.models import Call, Scope

if TYPE_CHECKING:
    from asyncssh import SSHClientConnection, SSHKey

USER, CONNECT_SECONDS = "ubuntu", 20.0
T = TypeVar("T")


@dataclass(frozen=True)
class Machine:
    """Where to go, and how to know that we are there."""

    instance: str
    region: str
    zone: str
    host: str
    host_key: str
    port: int = 22

    def __str__(self) -> str:
        return f"{self.instance} at {self.host}"


class Shell:
    """One connection, on an event loop of its own thread."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"ssh {machine.instance}", daemon=True)
        self._thread.start()
        self._connection: SSHClientConnection | None = None

    def open(self, key: SSHKey) -> None:
        """Connect. Raises Unreachable, PermissionMissing, and Conflict for a host key that is not the machine's."""
        self._connection = self._run(self._connected(key), "opening SSH to")

    def forward(self, port: int) -> int:
        """A port on this machine's loopback that leads to one of the machine's. Returns our port."""
        return self._run(self._forwarded(port), "opening the tunnel to")

    def run(self, commands: str) -> str:
        """Run a script as root, given on its standard input. Raises Unexpected when it ends with a failure."""
        return self._run(self._ran(commands), "running commands on")

    def close(self) -> None:
        """End it; nothing is left on either side."""
        if self._loop.is_closed():
            return
        if self._connection is not None:
            asyncio.run_coroutine_threadsafe(self._closed(self._connection), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T], doing: str) -> T:
        """Await something on the loop; what asyncssh raises becomes an error of ours."""
        import asyncssh

        tried, machine = f"{doing} {self.machine}", self.machine
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except asyncssh.HostKeyNotVerifiable:
            raise Conflict(
                tried, answered="its host key is not the one that its console showed",
                fix="Do not use it: delete_endpoint, then deploy again.",
            ) from None  # fmt: skip
        except asyncssh.PermissionDenied as error:
            raise PermissionMissing(
                tried, answered=str(error)[:200], fix="Repeat it: a pushed key lives for a minute.",
            ) from None  # fmt: skip
        except asyncssh.ProcessError as error:
            raise Unexpected(
                tried, answered=f"it ended with {error.exit_status}: {_words(error.stderr)}",
                fix="Read the machine's log (get_endpoint_logs).",
            ) from None  # fmt: skip
        except (OSError, asyncssh.Error, TimeoutError) as error:
            raise Unreachable(
                tried, answered=_words(str(error) or type(error).__name__),
                fix=f"SSH is open to the address it was deployed from; see that port {machine.port} of {machine.host} "
                "can be reached from here.",
            ) from None  # fmt: skip

    async def _connected(self, key: SSHKey) -> SSHClientConnection:
        import asyncssh

        machine = self.machine
        known = asyncssh.import_public_key(machine.host_key)
        return await asyncio.wait_for(
            asyncssh.connect(
                machine.host,
                machine.port,
                username=USER,
                client_keys=[key],
                known_hosts=([known], [], []),
                server_host_key_algs=["ssh-ed25519"],
                agent_path=None,
                config=[],
                keepalive_interval=30,
                preferred_auth="publickey",
            ),
            CONNECT_SECONDS,
        )

    async def _forwarded(self, port: int) -> int:
        if self._connection is None:
            raise OSError("not connected")
        listener = await self._connection.forward_local_port("127.0.0.1", 0, "127.0.0.1", port)
        return int(listener.get_port())

    async def _ran(self, commands: str) -> str:
        if self._connection is None:
            raise OSError("not connected")
        done = await self._connection.run("sudo -n /bin/bash -s", input=commands, check=True)
        return str(done.stdout or "")

    @staticmethod
    async def _closed(connection: SSHClientConnection) -> None:
        connection.close()
        await connection.wait_closed()


def connect(api: AwsApi, machine: Machine) -> Shell:
    """A connection with a new key. Raises Conflict when the machine's host key is not known yet."""
    import asyncssh

    if not machine.host_key:
        raise Conflict(
            f"opening SSH to {machine}", answered="its host key is not in its console yet", fix="Ask again in a minute."
        )
    key = asyncssh.generate_private_key("ssh-ed25519")
    push = Call(
        "ec2-instance-connect",
        "SendSSHPublicKey",
        {
            "InstanceId": machine.instance,
            "InstanceOSUser": USER,
            "SSHPublicKey": key.export_public_key().decode().strip(),
            "AvailabilityZone": machine.zone,
        },
    )
    api.send(push, scope=Scope(machine.region))
    shell = Shell(machine)
    try:
        shell.open(key)
    except CloudError:
        shell.close()
        raise
    return shell


Connect = Callable[[AwsApi, Machine], Shell]


def _words(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:300]
