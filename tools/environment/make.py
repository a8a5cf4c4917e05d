"""Makes a named environment and installs requirements files into it; the Makefile and people call it.

python -m tools.environment.make FOLDER [requirements-x.txt ...]
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from tools.environment import reasons
from tools.environment.install import Failed, Installer
from tools.environment.places import EXTRAS, ROOT, python_of

BARE = frozenset({"requirements-actions.txt"})
"""Installed for a list inside them, without what they would bring; no user needs them."""


def main(argv: list[str]) -> int:
    """0, or 1 with the reason on stderr."""
    if not argv:
        print(__doc__, file=sys.stderr)
        return 2
    prefix = Path(argv[0]).absolute()
    steps = _Steps()
    installer = Installer(os.environ, None, steps)
    bare = BARE | {extra.file.name for extra in EXTRAS if not extra.with_dependencies}
    try:
        if python_of(prefix) is None:
            installer.create(prefix)
            with contextlib.suppress(Failed):  # packages are installed without it, too
                installer.add_pip(prefix)
        for name in argv[1:]:
            steps(f"{name}: starting", None)
            installer.install(prefix, ROOT / name, with_dependencies=name not in bare)
    except Failed as failed:
        fix = failed.problem.fix.replace(reasons.AGAIN, "run the same command again")
        steps.close()
        print(f"Not installed: {failed.problem.reason}. {fix}", file=sys.stderr)
        return 1
    steps.close()
    return 0


class _Steps:
    """Steps as lines; the many of one kind on one line of a terminal, and only the first of them in a log."""

    def __init__(self) -> None:
        self.kind = ""

    def __call__(self, step: str, percent: int | None) -> None:
        kind = step.split(" ", 1)[0]
        text = f"  {step}" + (f" ({percent} %)" if percent else "")
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif kind != self.kind:
            print(text, file=sys.stderr, flush=True)
        self.kind = kind

    def close(self) -> None:
        """End the line of a terminal."""
        if sys.stderr.isatty():
            print(file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
