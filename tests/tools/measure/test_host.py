from __future__ import annotations

import pytest

from tools.measure import host
from tools.measure.record import HostCheck


def check(**fields: object) -> HostCheck:
    return HostCheck.model_validate(
        {"calibration_ms_before": (5.0, 5.1, 5.2), "calibration_ms_after": (5.0,), **fields}
    )


def test_a_steady_machine_has_nothing_to_say() -> None:
    assert host.why_noisy(check(steal_percent=0.1, load_before=0.4), cores=2) == ""


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"calibration_ms_after": (6.6, 6.9)}, "5.1 ms before and 6.8 ms after"),
        ({"calibration_ms_after": (3.9, 3.8)}, "5.1 ms before"),
        ({"steal_percent": 3.0}, "3.0 % of its CPU time"),
        ({"load_before": 1.9}, "load was 1.9 on 2 cores"),
    ],
)
def test_an_unsteady_machine_is_named_with_its_reason(fields: dict[str, object], words: str) -> None:
    assert words in host.why_noisy(check(**fields), cores=2)


def test_what_is_not_known_is_no_reason() -> None:
    assert host.why_noisy(HostCheck(calibration_ms_before=(5.0,)), cores=2) == ""


def test_the_calibration_is_the_same_work_so_many_times() -> None:
    found = host.calibrate()
    assert len(found) == host.LOOPS
    assert min(found) > 0


def test_the_client_is_described_without_user_or_path() -> None:
    info = host.client_info("uvloop")
    assert info.cores >= 1
    assert "httptools" in info.versions
    assert "/" not in info.cpu
