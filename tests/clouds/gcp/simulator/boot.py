"""What a machine writes while it starts. Engine lines and times are those of the article of 2026-10-25."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from tests.clouds.gcp.simulator.project import Boot, Project

_MEMORY = (
    "INFO Memory statistics | total_hbm_limit_gb=15.75GiB | total_hbm_limit_cap_gb=14.49GiB | "
    "total_hbm_used_gb=8.97GiB | total_hbm_avail_gb=5.52GiB"
)
_CACHE = "INFO TPU KV cache size: 321,280 tokens, Maximum concurrency for 8,192 tokens per request: 39.22x"
_ALLOCATED = (
    "INFO Init kv-cache | num_total_layers=15 | num_blocks=[1255, ...] | regular_attn_shape=(num_blocks, (256, 1, 2, "
    "256)) | regular_attn_dtype=bfloat16 | hbm=[(14.51, 15.75)]Gb"
)
ENGINE = (
    (2.0, "INFO Init worker | rank=0 | hbm=[(0.0, 15.75)]GiB"),
    (60.0, "INFO Init model | hbm=[(8.97, 15.75)]GiB"),
    (62.0, _MEMORY),
    (63.0, _CACHE),
    (64.0, _ALLOCATED),
    (70.0, "INFO Precompile model with token size 16"),
    (500.0, "INFO init engine (profile, create kv cache, warmup model) took 502.84 s (compilation: 408.59 s)"),
    (502.0, "INFO Application startup complete."),
)
MARKS = ((5.0, "script began"), (40.0, "pulling image"), (120.0, "image pulled"))
SLOW = Boot(ENGINE, 510.0)
"""The article's own times."""
QUICK = Boot(((0.5, _CACHE),), 2.0)
BROKEN = Boot(((20.0, "ValueError: model type gemma9 is not known to this version"),), -1.0)
"""An engine that ends: the script says so after a while."""


def lines(project: Project, key: str, revision: int) -> Iterator[str]:
    """The console of one machine at this moment."""
    began = project.started.get(key)
    if began is None:
        return
    boot = project.boot or SLOW
    quick = boot is QUICK
    marks = ((0.2, "script began"), (0.4, "image pulled")) if quick else MARKS
    yield from _due(project, began, ((at, _mark(words, began, at)) for at, words in marks))
    start = project.started[f"{key} engine"]
    yield from _due(project, start, [(0.0, _mark(f"engine started r{revision}", start, 0.0))])
    yield from _due(project, start, boot.lines)
    end = abs(boot.done) if boot.done > 0 else 90.0
    words = f"engine answers r{revision}" if boot.done > 0 else f"engine failed: no answer from r{revision}"
    yield from _due(project, start, [(end, _mark(words, start, end))])


def _mark(words: str, start: datetime, seconds: float) -> str:
    return f"modelrig phase: {words} at {(start + timedelta(seconds=seconds)).strftime('%Y-%m-%dT%H:%M:%SZ')}"


def _due(project: Project, start: datetime, rows: object) -> Iterator[str]:
    for at, line in rows:  # type: ignore[attr-defined]
        if start + timedelta(seconds=at) <= project.now():
            yield line


def begin(project: Project, key: str) -> None:
    """The machine runs from now on; its engine begins when the image is there."""
    project.started[key] = project.now()
    after = 1.0 if (project.boot or SLOW) is QUICK else 122.0
    project.started[f"{key} engine"] = project.now() + timedelta(seconds=after)


def changed(project: Project, key: str) -> None:
    """Another program came through the metadata: the engine begins again."""
    project.started[f"{key} engine"] = project.now() + timedelta(seconds=2)
