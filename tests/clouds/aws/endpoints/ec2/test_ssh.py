"""SSH with a key that lives a minute, over a real server on loopback: tunnel, commands, and whom it does not trust."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import asyncssh
import pytest

from clouds.aws.endpoints.ec2 import ssh
from clouds.errors import Conflict, PermissionMissing, Unexpected, Unreachable
from clouds.models import Wire
from clouds.openai import chat
from tests.clouds.aws.rig import Rig
from tests.clouds.aws.simulator.account import Account


class Sshd:
    """A machine's SSH server. It lets in whatever key EC2 Instance Connect was given for it, for a minute."""

    def __init__(self, account: Account) -> None:
        self.account, self.ran = account, list[tuple[str, str]]()
        self.status = 0
        self.key = asyncssh.generate_private_key("ssh-ed25519")
        self.host_key = " ".join(self.key.export_public_key().decode().split()[:2])
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(5)

    def _serve(self) -> None:
        outer = self

        class Server(asyncssh.SSHServer):
            def begin_auth(self, username: str) -> bool:
                return True

            def public_key_auth_supported(self) -> bool:
                return True

            def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
                pushed = outer.account["us-east-1"].pushed
                given = " ".join(key.export_public_key().decode().split()[:2])
                return any(
                    username == one["InstanceOSUser"] and given == " ".join(one["SSHPublicKey"].split()[:2])
                    for one in pushed
                    if outer.account.now() < one["until"]
                )

            def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> Any:
                return True

        async def process(run: asyncssh.SSHServerProcess[str]) -> None:
            outer.ran.append((run.command or "", await run.stdin.read()))
            run.stdout.write("done\n")
            run.stderr.write("it broke\n" if outer.status else "")
            run.exit(outer.status)

        async def main() -> None:
            self._stop = asyncio.Event()
            listener = await asyncssh.create_server(
                Server, "127.0.0.1", 0, server_host_keys=[self.key], process_factory=process
            )
            self.port = listener.get_port()
            self._ready.set()
            await self._stop.wait()
            listener.close()
            await listener.wait_closed()

        self._loop.run_until_complete(main())
        self._loop.close()

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)


@pytest.fixture
def rig(rented: Rig) -> Rig:
    """With a machine that stands."""
    return rented


@pytest.fixture
def sshd(rig: Rig) -> Iterator[Sshd]:
    made = Sshd(rig.account)
    yield made
    made.close()


@pytest.fixture
def machine(rig: Rig, sshd: Sshd) -> ssh.Machine:
    """A running instance whose SSH is the server on loopback."""
    (instance,) = rig.account["us-east-1"].instances
    return ssh.Machine(instance, "us-east-1", "us-east-1a", "127.0.0.1", sshd.host_key, sshd.port)


def test_the_model_s_port_is_reached_through_the_tunnel_and_closing_ends_it(
    rig: Rig, machine: ssh.Machine, engine: int
) -> None:
    shell = ssh.connect(rig.api, machine)
    port = shell.forward(engine)
    assert port != engine
    wire = Wire(url=f"http://127.0.0.1:{port}", model="m", close=shell.close)
    assert chat(wire, [{"role": "user", "content": "ok?"}], max_tokens=4).text == "ok"
    shell.close()
    with pytest.raises(Unreachable):
        chat(wire, [{"role": "user", "content": "ok?"}], max_tokens=4, timeout=2)
    shell.close()


def test_the_key_is_new_each_time_and_goes_to_this_machine_alone(rig: Rig, machine: ssh.Machine) -> None:
    for _ in range(2):
        ssh.connect(rig.api, machine).close()
    first, second = rig.account["us-east-1"].pushed
    assert first["SSHPublicKey"] != second["SSHPublicKey"]
    assert (first["InstanceId"], first["InstanceOSUser"], first["AvailabilityZone"]) == (
        machine.instance,
        "ubuntu",
        "us-east-1a",
    )


def test_commands_run_as_root_from_standard_input_and_nothing_is_on_a_command_line(
    rig: Rig, machine: ssh.Machine, sshd: Sshd
) -> None:
    shell = ssh.connect(rig.api, machine)
    assert shell.run("echo what is secret") == "done\n"
    shell.close()
    assert sshd.ran == [("sudo -n /bin/bash -s", "echo what is secret")]


def test_a_command_that_fails_is_an_error_with_its_words(rig: Rig, machine: ssh.Machine, sshd: Sshd) -> None:
    sshd.status = 3
    shell = ssh.connect(rig.api, machine)
    with pytest.raises(Unexpected, match="it ended with 3: it broke"):
        shell.run("false")
    shell.close()


def test_a_machine_with_another_host_key_is_not_spoken_to(rig: Rig, machine: ssh.Machine, sshd: Sshd) -> None:
    stranger = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    with pytest.raises(Conflict, match="is not the one that its console showed"):
        ssh.connect(rig.api, replace(machine, host_key=" ".join(stranger.split()[:2])))
    assert sshd.ran == []


def test_a_host_key_that_is_not_known_yet_is_waited_for_and_not_trusted(rig: Rig, machine: ssh.Machine) -> None:
    with pytest.raises(Conflict, match="not in its console yet"):
        ssh.connect(rig.api, replace(machine, host_key=""))
    assert rig.account["us-east-1"].pushed == []


def test_a_key_that_is_too_old_is_refused(rig: Rig, machine: ssh.Machine) -> None:
    shell = ssh.Shell(machine)
    key = asyncssh.generate_private_key("ssh-ed25519")
    text = key.export_public_key().decode().strip()
    pushed = {"InstanceOSUser": "ubuntu", "SSHPublicKey": text, "until": rig.account.now()}
    rig.account["us-east-1"].pushed.append(pushed)
    with pytest.raises(PermissionMissing):
        shell.open(key)
    shell.close()


def test_a_machine_that_does_not_answer_says_what_to_look_at(rig: Rig, machine: ssh.Machine, sshd: Sshd) -> None:
    sshd.close()
    with pytest.raises(Unreachable) as told:
        ssh.connect(rig.api, machine)
    assert f"port {machine.port} of 127.0.0.1" in told.value.fix
