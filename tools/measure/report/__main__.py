"""Render runs again, on any machine.

    python -m tools.measure.report RUN.json|FOLDER ... [--out FOLDER]

Every run gets its pages beside its file, or in the folder named. What cannot be read is said, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from clouds.errors import InvalidInput
from tools.measure import store
from tools.measure.report import write_run


def main(arguments: Sequence[str]) -> int:
    """The exit code: 0 when every file was a run that could be rendered."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.report", description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=None)
    asked = parser.parse_args(arguments)
    failed = 0
    for path in _files(asked.runs):
        try:
            run = store.read(path)
        except InvalidInput as error:
            print(error, file=sys.stderr)
            failed += 1
            continue
        written = write_run((asked.out or path.parent) / path.name, run)
        failed += not written.paths
        print(written.note)
    return int(failed > 0)


def _files(given: Sequence[Path]) -> Iterator[Path]:
    for path in given:
        yield from sorted(path.glob("*.json")) if path.is_dir() else (path,)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
