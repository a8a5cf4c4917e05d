"""Figures quoted from elsewhere, as a file that `compare_runs` takes beside runs: shown, never judged.

    {"quoted": {"source": "https://...", "date": "2026-10-27", "method": "six prompts, 256 tokens, median of 3"},
     "figures": {"decode.tokens_per_second": 133.4, "load.64.tokens_per_second": 918.9}}

The keys are those of a run's own figures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clouds.errors import InvalidInput
from tools.measure.lines import line
from tools.measure.record import SCHEMA_VERSION, ClientInfo, Figure, Part, Quoted, Run, Subject

PROFILE = "quoted"
WORDS = "quoted, not measured here"
FIX = 'Give {"quoted": {"source", "date", "method"}, "figures": {key: number}}.'
MOST = 500
"""Figures of one file."""
LONGEST = 400
LARGEST = 1e300


def is_quoted(data: object) -> bool:
    """Whether a file's content is one of quoted figures."""
    return isinstance(data, dict) and "quoted" in data and "schema_version" not in data


def quoted_run(data: Mapping[str, Any], stem: str) -> Run:
    """The file as a run without samples. Raises InvalidInput that says what it lacks."""
    told, figures = data["quoted"], data.get("figures")
    if not isinstance(told, dict) or not isinstance(figures, dict) or not 0 < len(figures) <= MOST:
        raise InvalidInput("runs", f"{stem} has no quoted figures", fix=FIX)
    for name in ("source", "date", "method"):
        if not isinstance(told.get(name), str) or not told[name].strip():
            raise InvalidInput("runs", f"{stem} does not say the {name} of what it quotes", fix=FIX)
    parts: dict[str, list[Figure]] = {}
    for key, value in figures.items():
        known = line(str(key), 120)
        parts.setdefault(known.split(".")[0], []).append(_figure(known, value, stem))
    keys = [figure.key for rows in parts.values() for figure in rows]
    if len(set(keys)) < len(keys):
        raise InvalidInput("runs", f"{stem} has a figure twice", fix=FIX)
    source = line(told["source"], LONGEST)
    id_ = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).lstrip("._-")[:100] or "quoted"
    return Run(
        schema_version=SCHEMA_VERSION,
        id=id_,
        name=id_,
        state="complete",
        started=line(told["date"], 40),
        profile=PROFILE,
        subject=Subject(ref=f"quoted:{source}"[:400], model=line(str(data.get("model", "")), LONGEST)),
        client=ClientInfo(host="", cpu="", cores=0, python="", versions={}, loop=""),
        settings={},
        quoted=Quoted(source=source, date=line(told["date"], LONGEST), method=line(told["method"], LONGEST)),
        parts=tuple(
            Part(name=name, title=name, complete=True, settings={}, started="", seconds=0.0, figures=tuple(rows))
            for name, rows in parts.items()
        ),
        formulas={"quoted": "as its source says"},
    )


def _figure(key: str, value: Any, stem: str) -> Figure:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > LARGEST or not key:
        raise InvalidInput("runs", f"{key[:60] or 'a figure without a name'} of {stem} is no number", fix=FIX)
    return Figure(key=key, label=key, unit="", value=float(value), main=True, formula="quoted", n=0)
