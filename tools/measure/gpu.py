"""NVIDIA accelerators of this machine as nvidia-smi shows them: memory after load and at its peak, heat, throttling.

One nvidia-smi process prints a line a second for the whole run, so that no process is started while timing.
"""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Sequence

from tools.measure.record import Accelerator

FIELDS = ("index", "name", "driver_version", "memory.total", "memory.used", "temperature.gpu")
EVENTS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
"""The same field under its name since driver 535 and before (nvidia-smi --help-query-gpu, read 2026-11-29)."""
REASONS = {
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}
"""Bits of nvmlClocksEventReasons (NVML API reference); idle (0x1) and clocks that were set by hand are no slowdown."""
MIB = 1024**2


class Watch:
    """Reads until it is stopped. Where nvidia-smi is not there or does not answer, there are simply no readings."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = []
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None

    def start(self) -> None:
        """One reading now, then one a second."""
        program = shutil.which("nvidia-smi")
        if program is None:
            return
        for events in EVENTS:
            command = [program, f"--query-gpu={','.join((*FIELDS, events))}", "--format=csv,noheader,nounits"]
            try:
                first = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
            except (OSError, subprocess.TimeoutExpired):
                return
            if first.returncode == 0:
                self._keep(first.stdout.splitlines())
                self._follow([*command, "-l", "1"])
                return

    def _follow(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True, name="nvidia-smi")
        self._reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            self._keep([line])

    def _keep(self, lines: Sequence[str]) -> None:
        self._rows += [
            row for line in lines if len(row := [cell.strip() for cell in line.split(",")]) == len(FIELDS) + 1
        ]

    def stop(self) -> tuple[Accelerator, ...]:
        """End the process and sum up, one record a GPU."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(5)
            if self._reader is not None:
                self._reader.join(5)
            if self._process.stdout is not None:
                self._process.stdout.close()
        return self.so_far()

    def so_far(self) -> tuple[Accelerator, ...]:
        """What the readings until now say."""
        rows = list(self._rows)
        return tuple(
            _summed([row for row in rows if row[0] == index]) for index in dict.fromkeys(row[0] for row in rows)
        )


def _summed(rows: Sequence[Sequence[str]]) -> Accelerator:
    used = [_number(row[4]) for row in rows]
    heat = [_number(row[5]) for row in rows]
    bits = 0
    for row in rows:
        bits |= _bits(row[6])
    return Accelerator(
        name=rows[0][1][:80],
        driver=rows[0][2][:40],
        memory_total_bytes=_bytes(_number(rows[0][3])),
        memory_after_load_bytes=_bytes(used[0]),
        memory_peak_bytes=_bytes(max((each for each in used if each is not None), default=None)),
        temperature_before_c=heat[0],
        temperature_peak_c=max((each for each in heat if each is not None), default=None),
        throttled=tuple(words for bit, words in REASONS.items() if bits & bit),
        readings=len(rows),
    )


def _number(text: str) -> float | None:
    """A number, or None for "[N/A]" and the like: unknown is not zero."""
    try:
        return float(text)
    except ValueError:
        return None


def _bytes(mebibytes: float | None) -> int | None:
    return None if mebibytes is None else int(mebibytes * MIB)


def _bits(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        return 0
