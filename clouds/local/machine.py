"""The machine that we run on: CPU, GPUs, and the memory and cores that we may use (a container's limits count)."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from clouds.local import nvidia
from clouds.models import Hardware

FEATURES = ("avx", "avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_int8", "amx_bf16")
"""Instruction sets that change how fast an engine computes, as Linux names them."""
ARM_FEATURES = {"asimd": "neon", "asimddp": "dotprod", "i8mm": "i8mm", "sve": "sve", "bf16": "bf16"}
CGROUP = Path("/sys/fs/cgroup")


def hardware(gpus: nvidia.Gpus | None = None) -> Hardware:
    """Everything at once, read now."""
    gpus = nvidia.read() if gpus is None else gpus
    name, features = cpu()
    total, free = memory()
    sizes = [gpu.memory_bytes for gpu in gpus.found if gpu.memory_bytes is not None]
    used = [gpu.memory_used_bytes for gpu in gpus.found if gpu.memory_used_bytes is not None]
    return Hardware(
        instance_type="this machine",
        accelerators=tuple(gpu.name for gpu in gpus.found),
        cpu=name,
        cpu_features=features,
        cores=cores(),
        memory_bytes=total,
        memory_free_bytes=free,
        accelerator_memory_bytes=sum(sizes) if sizes else None,
        accelerator_memory_used_bytes=sum(used) if used else None,
        accelerator_temperature_c=max((gpu.temperature_c for gpu in gpus.found if gpu.temperature_c), default=None),
        accelerator_throttled=tuple(sorted({reason for gpu in gpus.found for reason in gpu.throttled or ()})),
        driver=next((gpu.driver for gpu in gpus.found if gpu.driver), ""),
    )


@lru_cache(maxsize=1)
def cpu() -> tuple[str, tuple[str, ...]]:
    """The CPU's name and the features of FEATURES that it has."""
    if sys.platform == "darwin":
        return _sysctl("machdep.cpu.brand_string"), ("neon",) if platform.machine() == "arm64" else ()
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return platform.processor() or platform.machine(), ()
    name = re.search(r"^(?:model name|Model|Hardware)\s*: (.+)$", text, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)\s*: (.+)$", text, re.MULTILINE)
    has = set(flags[1].split()) if flags else set[str]()
    found = [flag for flag in FEATURES if flag in has] + [word for flag, word in ARM_FEATURES.items() if flag in has]
    return (name[1].strip()[:120] if name else platform.machine()), tuple(found)


def _sysctl(name: str) -> str:
    try:
        run = subprocess.run(
            ["/usr/sbin/sysctl", "-n", name], capture_output=True, timeout=5, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return platform.machine()
    return run.stdout.decode("utf-8", "replace").strip()[:120] or platform.machine()


def cores() -> int:
    """Cores that this process may use: affinity and a container's quota count."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _cgroup("cpu.max").partition(" ")
    if quota.isdigit() and period.isdigit() and int(period):
        mine = min(mine, max(1, int(quota) // int(period)))
    return mine


def memory() -> tuple[int, int]:
    """Bytes of memory in all and free now, under a container's limit where there is one."""
    import psutil

    seen = psutil.virtual_memory()
    limit, current = _cgroup("memory.max"), _cgroup("memory.current")
    if limit.isdigit() and current.isdigit() and int(limit) < seen.total:
        return int(limit), min(seen.available, int(limit) - int(current))
    return seen.total, seen.available


def _cgroup(name: str) -> str:
    """A control file of our container (cgroup v2); empty where there is none."""
    try:
        return (CGROUP / name).read_text("ascii").strip()
    except OSError:
        return ""
