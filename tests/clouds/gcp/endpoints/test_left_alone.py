"""Whatever a dead process left on Google Cloud ends by itself, killed at every moment of every way to deploy."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from clouds.gcp import methods
from clouds.models import Scope
from tests.clouds.gcp import rig as rigs
from tests.clouds.gcp.endpoints.matrix import Moment
from tests.clouds.gcp.simulator import Fault, Killed
from tests.clouds.rows import ALL, some

WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("gce", {}),
    ("gce", {"market": "spot"}),
    ("gce", {"market": "flex-start"}),
    ("tpu", {}),
    ("tpu", {"market": "spot"}),
    ("tpu", {"market": "flex-start"}),
    ("tpu", {"queued": True}),
    ("run", {}),
    ("run", {"min_instances": 1}),
)


def moments(names: list[str]) -> Sequence[tuple[int, str]]:
    """After every call that changes something, and between two of them; of these every third in a usual run."""
    found = []
    for at, name in enumerate(names):
        service, _, operation = name.partition(".")
        if not methods.table(service)[operation].reads:
            found += [(at, "killed after"), (at + 1, "killed before")]
    return some([(at, kind) for at, kind in found if at < len(names)], 3)


USUAL = (WAYS[0], WAYS[3], WAYS[-1])


@pytest.mark.parametrize(("service", "settings"), WAYS if ALL else USUAL)
def test_nothing_bills_after_its_end_whenever_the_process_died(
    service: str, settings: dict[str, Any], tmp_path: Path, engine: int
) -> None:
    memory = Path("/dev/shm")  # noqa: S108 - a fresh folder in it
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        homes = Path(folder)
        (homes / "first").mkdir()
        first = rigs.rig(homes / "first", engine_port=engine)
        chosen = first.service(service)
        plan = first.begin(chosen.plan(first.spec(service, settings=settings, ttl_hours=2)))
        moment = Moment.of(first, plan, homes / "kept")
        sound = moment.again(homes / "sound")
        sound.service(service).create(plan, sound.book, sound.heard)
        sound.book.close()
        names = sound.seam.operations()
        for at, kind in moments(names):
            rig = moment.again(homes / f"{at}-{kind}")
            rig.seam.fault = Fault(at, kind)
            with pytest.raises(Killed):
                rig.service(service).create(plan, rig.book, rig.heard)
            rig.seam.fault, rig.seam.down = None, ""
            rig.project.clock.sleep(600)
            listed = {one.deployment for one in rig.service(service).list(scope=Scope()).found}
            assert listed in ({plan.deployment}, set()), names[at]
            assert bool(listed) >= bool(rig.project.billing()), names[at]
            rig.project.clock.sleep(4.5 * 3600)
            assert rig.project.billing() == [], f"{kind} {names[at]}"
            assert rig.project.misuse == []
            rig.book.close()
