"""NVIDIA GPUs as `nvidia-smi` shows them. Where it is not on the PATH, nothing is known: that is not "no GPU"."""

from __future__ import annotations

import csv
import shutil
import subprocess
from dataclasses import dataclass

SECONDS = 10.0
FIELDS = ("name", "memory.total", "memory.used", "driver_version", "temperature.gpu")
THROTTLE = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
"""Since driver 535 "event", before it "throttle" (NVIDIA's nvidia-smi manual, read 2026-11)."""
REASONS = {
    0x2: "application clocks setting",
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
    0x100: "display clock setting",
}
"""Bits of the reasons (nvml.h, nvmlClocksEventReason*); idle (0x1) is none."""


@dataclass(frozen=True)
class Gpu:
    """One GPU. None is what nvidia-smi did not say ("[N/A]")."""

    name: str
    memory_bytes: int | None
    memory_used_bytes: int | None
    driver: str
    temperature_c: int | None
    throttled: tuple[str, ...] | None


@dataclass(frozen=True)
class Gpus:
    """All GPUs, or why they could not be read (then `found` is empty and says nothing)."""

    found: tuple[Gpu, ...] = ()
    unread: str = ""


def read() -> Gpus:
    """Ask nvidia-smi once, or twice for an old driver. Never raises."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return Gpus(unread="nvidia-smi is not on the PATH; GPUs of other makers are not looked at")
    problem = ""
    for throttle in THROTTLE:
        query = [program, f"--query-gpu={','.join((*FIELDS, throttle))}", "--format=csv,noheader,nounits"]
        try:
            run = subprocess.run(query, capture_output=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired) as error:
            return Gpus(unread=f"nvidia-smi did not answer: {type(error).__name__}")
        text = run.stdout.decode("utf-8", "replace")
        if run.returncode == 0:
            rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if row]
            return Gpus(tuple(_gpu(row) for row in rows if len(row) == len(FIELDS) + 1))
        problem = (text + run.stderr.decode("utf-8", "replace")).strip()[:200]
    return Gpus(unread=f"nvidia-smi failed: {' '.join(problem.split())}")


def _gpu(row: list[str]) -> Gpu:
    name, total, used, driver, temperature, reasons = row
    return Gpu(
        name=name[:80],
        memory_bytes=_mebibytes(total),
        memory_used_bytes=_mebibytes(used),
        driver=driver[:40],
        temperature_c=int(temperature) if temperature.isdigit() else None,
        throttled=_reasons(reasons),
    )


def _reasons(text: str) -> tuple[str, ...] | None:
    if not text.lower().startswith("0x"):
        return None
    bits = int(text, 16)
    return tuple(word for bit, word in REASONS.items() if bits & bit)


def _mebibytes(text: str) -> int | None:
    return int(text) * 2**20 if text.isdigit() else None
