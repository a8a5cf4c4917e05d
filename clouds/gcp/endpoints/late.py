"""Settings that are accepted, cost a whole compile or more, and then fail or do not do what they say.

Each row has the day on which it was seen; a plan refuses it before anything is paid for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from clouds.errors import InvalidInput
from clouds.models import Setting

MOST_HBM = 0.92
"""Share of a TPU's memory that serves: 0.95 failed on v5e after a 691 s compile, twice (article of 2026-10-25)."""
MOVING = re.compile(r"(:latest|:nightly(?![-\w])|:main|:dev|:nightly-latest)$")
"""Tags that name another image tomorrow; `vllm/vllm-tpu:nightly` broke two 4-bit builds on 2026-10-02."""


@dataclass(frozen=True)
class Late:
    """One observation."""

    setting: str
    seen: str
    what: str
    fix: str


TPU: tuple[Late, ...] = (
    Late(
        "gpu_memory_utilization",
        "2026-10-25",
        "above 0.92 it failed on v5e after a 691-second compile, twice",
        "Use 0.92 or less.",
    ),
    Late(
        "--kv-cache-dtype",
        "2026-10-25",
        'fp8 is logged ("Automatically using fp8_e5m2") and bf16 is allocated on v6e: no memory is saved',
        "Leave it out; the line `Init kv-cache … dtype=` says what was allocated.",
    ),
    Late(
        "image",
        "2026-10-02",
        "the moving tag nightly broke two 4-bit builds overnight",
        "Give a release tag (it is resolved to its digest) or name@sha256:….",
    ),
)


def check_image(image: str) -> None:
    """Raises InvalidInput for a tag that moves, and for an image without a tag (which is `latest`)."""
    if "@sha256:" in image:
        return
    last = image.rsplit("/", 1)[-1]
    if ":" not in last or MOVING.search(last):
        row = next(row for row in TPU if row.setting == "image")
        raise InvalidInput("image", f"{image[:80]!r} is a tag that moves: {row.what} ({row.seen})", fix=row.fix)


def check_for_tpu(settings: Mapping[str, Setting], share: float) -> None:
    """Raises InvalidInput for a setting that is known to fail after the compile, or to do nothing of what it says."""
    by_name = {row.setting: row for row in TPU}
    if share > MOST_HBM:
        row = by_name["gpu_memory_utilization"]
        raise InvalidInput(row.setting, f"{share:g}: {row.what} ({row.seen})", fix=row.fix)
    dtype = str(settings.get("--kv-cache-dtype", ""))
    if dtype.startswith("fp8"):
        row = by_name["--kv-cache-dtype"]
        raise InvalidInput(row.setting, f"{dtype}: {row.what} ({row.seen})", fix=row.fix)
