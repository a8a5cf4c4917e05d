"""nvidia-smi is replaced by a script of the same name on the PATH."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tools.measure.gpu import Watch
from tools.measure.record import Accelerator

SCRIPT = """#!{python}
import sys, time
if "clocks_event_reasons" in sys.argv[1] and {old}:
    print('Field "clocks_event_reasons.active" is not a valid field to query.'); sys.exit(2)
print("0, NVIDIA L4, 595.112.07, 23034, {first}, 41, 0x0000000000000001")
if "-l" in sys.argv:
    print("0, NVIDIA L4, 595.112.07, 23034, 6774, 77, 0x0000000000000020", flush=True)
    print("0, NVIDIA L4, 595.112.07, 23034, 6000, [N/A], 0x0000000000000001", flush=True)
    time.sleep(30)
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *, old: bool = False, first: str = "3952") -> None:
    program = folder / "nvidia-smi"
    program.write_text(SCRIPT.format(python=sys.executable, old=old, first=first), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def watched(readings: int) -> tuple[Accelerator, ...]:
    watch = Watch()
    watch.start()
    for _ in range(500):
        if sum(each.readings for each in watch.so_far()) >= readings:
            break
        time.sleep(0.01)
    return watch.stop()


@pytest.mark.parametrize("old", [False, True], ids=["new field", "old field"])
def test_memory_heat_and_throttling_are_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool) -> None:
    install(tmp_path, monkeypatch, old=old)
    assert watched(4) == (
        Accelerator(
            name="NVIDIA L4",
            driver="595.112.07",
            memory_total_bytes=23034 * 1024**2,
            memory_after_load_bytes=3952 * 1024**2,
            memory_peak_bytes=6774 * 1024**2,
            temperature_before_c=41,
            temperature_peak_c=77,
            throttled=("software thermal slowdown",),
            readings=4,
        ),
    )


def test_what_the_driver_does_not_say_is_unknown_and_not_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, first="[N/A]")
    assert watched(1)[0].memory_after_load_bytes is None


def test_without_nvidia_smi_there_are_no_accelerators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert watched(0) == ()


def test_an_nvidia_smi_that_fails_gives_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!{sys.executable}\nraise SystemExit(9)\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert watched(0) == ()
