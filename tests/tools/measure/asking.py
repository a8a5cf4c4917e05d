"""One measurement of a server of known timing, as measure_model runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clouds.models import Wire
from tests.tools.measure.truth import Truth
from tools.measure import store
from tools.measure.catalogue import chosen, options_of
from tools.measure.job import Job
from tools.measure.measurement import Ask
from tools.measure.options import parse
from tools.measure.profiles import QUICK
from tools.measure.record import Run, Subject
from tools.measure.run import measure
from tools.progress import CallProgress


def run_of(truth: Truth, folder: Path, name: str, *options: str, **more: Any) -> Run:
    """The run, read back from its file."""
    asked = chosen((name,))
    ask = Ask(QUICK, "n0", options=parse(options, options_of(asked), (folder,)), **more)
    path = store.claim(folder, "run")
    measure(Job(Wire(url=truth.url), Subject(ref=truth.url, model=""), ask, asked, path, "run"), CallProgress())
    return store.read(path)


def value(run: Run, key: str) -> float:
    """One figure's value; it must be there."""
    figure = run.figure(key)
    assert figure is not None, key
    assert figure.value is not None, figure.why
    return figure.value
