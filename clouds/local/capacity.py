"""What this machine has: its CPU and each GPU that nvidia-smi shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from clouds.local import machine, nvidia
from clouds.local.identity import LOCATION
from clouds.local.memory import size
from clouds.models import Capacity, Read, Scope, Unread


def _now() -> datetime:
    return datetime.now(UTC)


class ThisMachine:
    """The CapacityReader of the local cloud. What is here is "offered"; whether it is idle is in the evidence."""

    def __init__(self, now: Callable[[], datetime] = _now) -> None:
        self._now = now

    def read(self, accelerator: str | None, types: Sequence[str], scopes: Sequence[Scope]) -> Read[Capacity]:
        """The CPU (when no accelerator is asked for) and every GPU whose name holds `accelerator`.

        Types and scopes mean nothing here: there is one machine. GPUs that could not be read are `unread`.
        """
        del types, scopes
        gpus = nvidia.read()
        found = [self._gpu(gpu) for gpu in gpus.found if accelerator is None or accelerator.lower() in gpu.name.lower()]
        if accelerator is None:
            found.insert(0, self._cpu())
        elif not found:
            answer = "unknown" if gpus.unread else "not offered"
            shown = ", ".join(gpu.name for gpu in gpus.found) or "no GPU"
            found.append(self._row(accelerator, answer, gpus.unread or f"nvidia-smi shows {shown}"))
        absent = gpus.unread.startswith("nvidia-smi is not")
        unread = (Unread(call="nvidia-smi", scope=LOCATION, reason=gpus.unread),) if gpus.unread else ()
        # a machine without the tool has nothing to ask; a tool that fails hides what is there
        return Read(tuple(found), () if absent else unread, unread if absent else ())

    def _cpu(self) -> Capacity:
        name, features = machine.cpu()
        total, free = machine.memory()
        return self._row(
            "CPU",
            "offered",
            f"{name}, {machine.cores()} cores, {' '.join(features) or 'features unknown'}; "
            f"memory {size(free)} free of {size(total)}",
        )

    def _gpu(self, gpu: nvidia.Gpu) -> Capacity:
        used = "unknown" if gpu.memory_used_bytes is None else size(gpu.memory_used_bytes)
        total = "unknown" if gpu.memory_bytes is None else size(gpu.memory_bytes)
        parts = [f"memory {used} used of {total}", f"driver {gpu.driver}"]
        if gpu.temperature_c is not None:
            parts.append(f"{gpu.temperature_c} °C")
        slowed = "unknown" if gpu.throttled is None else ", ".join(gpu.throttled) or "nothing"
        parts.append(f"slowed by {slowed}")
        return self._row(gpu.name, "offered", "; ".join(parts))

    def _row(self, accelerator: str, answer: str, evidence: str) -> Capacity:
        as_of = self._now().isoformat(timespec="seconds")
        return Capacity(accelerator=accelerator, scope=LOCATION, answer=answer, evidence=evidence, as_of=as_of)
