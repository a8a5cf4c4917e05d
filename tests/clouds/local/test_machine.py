"""The machine and its GPUs, as far as they can be read; what cannot be read is not "none"."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from clouds.base import Missing
from clouds.local import connect, machine, nvidia
from clouds.local.capacity import ThisMachine
from clouds.local.identity import User
from clouds.models import Unread

GIB = 2**30
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
SMI = """#!/bin/sh
case "$1" in *{known}*) ;; *) echo "Field is not a valid field to query."; exit 2;; esac
echo 'NVIDIA L4, 23034, 8207, 575.51.03, 61, 0x0000000000000024'
echo 'NVIDIA L4, 23034, 0, 575.51.03, [N/A], [N/A]'
"""
SLOWED = ("software power cap", "software thermal slowdown")
FOUND = (
    nvidia.Gpu("NVIDIA L4", 23034 * 2**20, 8207 * 2**20, "575.51.03", 61, SLOWED),
    nvidia.Gpu("NVIDIA L4", 23034 * 2**20, 0, "575.51.03", None, None),
)  # fmt: skip

OnPath = Callable[[str, str], Path]


@pytest.mark.parametrize("known", nvidia.THROTTLE)
def test_gpus_are_read_with_the_field_names_of_new_and_old_drivers(on_path: OnPath, known: str) -> None:
    on_path("nvidia-smi", SMI.replace("{known}", known))
    assert nvidia.read() == nvidia.Gpus(FOUND)


def test_an_nvidia_smi_that_fails_says_why_and_shows_nothing(on_path: OnPath) -> None:
    on_path("nvidia-smi", "#!/bin/sh\necho NVIDIA-SMI has failed because it could not talk to the driver\nexit 9\n")
    assert nvidia.read() == nvidia.Gpus(
        unread="nvidia-smi failed: NVIDIA-SMI has failed because it could not talk to the driver"
    )


def test_an_nvidia_smi_that_hangs_is_given_up(on_path: OnPath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "SECONDS", 0.1)
    on_path("nvidia-smi", "#!/bin/sh\nexec sleep 5\n")
    assert nvidia.read() == nvidia.Gpus(unread="nvidia-smi did not answer: TimeoutExpired")


def test_hardware_holds_cpu_memory_and_gpus(on_path: OnPath) -> None:
    on_path("nvidia-smi", SMI.replace("{known}", nvidia.THROTTLE[0]))
    found = machine.hardware()
    assert found.accelerators == ("NVIDIA L4", "NVIDIA L4")
    assert (found.accelerator_memory_bytes, found.accelerator_memory_used_bytes) == (46068 * 2**20, 8207 * 2**20)
    assert (found.accelerator_temperature_c, found.driver) == (61, "575.51.03")
    assert found.accelerator_throttled == SLOWED
    assert found.cpu
    assert found.cores is not None
    assert found.memory_bytes is not None
    assert found.memory_free_bytes is not None
    assert 0 < found.memory_free_bytes < found.memory_bytes


def test_a_containers_limits_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    for name, text in (("memory.max", f"{GIB}"), ("memory.current", f"{GIB // 4}"), ("cpu.max", "100000 100000")):
        (tmp_path / name).write_text(text + "\n")
    assert machine.memory() == (GIB, GIB - GIB // 4)
    assert machine.cores() == 1
    for name in ("memory.max", "cpu.max"):
        (tmp_path / name).write_text("max 100000\n")
    assert machine.memory()[0] > GIB


def test_capacity_is_what_is_here_and_never_says_available(on_path: OnPath) -> None:
    on_path("nvidia-smi", SMI.replace("{known}", nvidia.THROTTLE[0]))
    read = ThisMachine(lambda: NOW).read(None, (), ())
    assert [(row.accelerator, row.answer) for row in read.found] == [
        ("CPU", "offered"), ("NVIDIA L4", "offered"), ("NVIDIA L4", "offered"),
    ]  # fmt: skip
    assert read.found[1].evidence == (
        "memory 8.01 GiB used of 22.49 GiB; driver 575.51.03; 61 °C; "
        "slowed by software power cap, software thermal slowdown"
    )
    assert read.found[2].evidence.endswith("slowed by unknown")
    assert read.complete
    assert ThisMachine().read("H100", (), ()).found[0].answer == "not offered"
    assert len(ThisMachine().read("l4", (), ()).found) == 2


def test_without_nvidia_smi_a_gpu_is_unknown_and_nothing_is_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    read = ThisMachine(lambda: NOW).read("L4", (), ())
    assert (read.found[0].answer, read.complete, len(read.not_applicable)) == ("unknown", True, 1)


def test_an_nvidia_smi_that_fails_leaves_capacity_unread(on_path: OnPath) -> None:
    on_path("nvidia-smi", "#!/bin/sh\necho broken\nexit 9\n")
    read = ThisMachine(lambda: NOW).read("L4", (), ())
    assert read.found[0].answer == "unknown"
    assert read.unread == (Unread(call="nvidia-smi", scope="this-machine", reason="nvidia-smi failed: broken"),)


def test_identity_is_user_and_host_without_a_credential() -> None:
    found = User().read()
    assert (found.kind, found.renews) == ("this machine", "nothing to renew: no credential is used")
    assert found.principal
    assert found.account


def test_the_cloud_says_which_ports_it_lacks_and_why(tmp_path: Path) -> None:
    cloud = connect(tmp_path / "home")
    assert (cloud.name, list(cloud.endpoints)) == ("local", ["llama"])
    assert cloud.quotas == Missing("your own machine has no quota")
    assert cloud.prices == Missing("your own machine: nobody bills for it")
    assert isinstance(cloud.api, Missing)
    assert list(cloud.endpoints["llama"].settings) == [
        "engine", "context", "slots", "threads", "port", "flags", "memory_check",
    ]  # fmt: skip
    assert not (tmp_path / "home").exists()
