"""A Google Cloud project in memory with a clock of its own; `docs/gcp-simulator.md` describes its state machines."""

from __future__ import annotations

from tests.clouds.gcp.simulator import around, boot, gce, queued, run, tpu
from tests.clouds.gcp.simulator.faults import Fault, Killed
from tests.clouds.gcp.simulator.project import NAME, Project
from tests.clouds.gcp.simulator.seam import Drift, Seam, Sent

OPERATIONS = {**gce.OPERATIONS, **tpu.OPERATIONS, **queued.OPERATIONS, **run.OPERATIONS, **around.OPERATIONS}

__all__ = ["NAME", "OPERATIONS", "Drift", "Fault", "Killed", "Project", "Seam", "Sent", "boot"]
