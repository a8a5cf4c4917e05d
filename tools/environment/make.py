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


def main(argv: list[str]) -> int:
    """0, or 1 with the reason on stderr."""
    if not argv:
        print(__doc__, file=sys.stderr)
        return 2
    prefix = Path(argv[0]).absolute()
    installer = Installer(os.environ, None, _say)
    bare = {extra.file.name for extra in EXTRAS if not extra.with_dependencies}
    try:
        if python_of(prefix) is None:
            installer.create(prefix)
            with contextlib.suppress(Failed):  # packages are installed without it, too
                installer.add_pip(prefix)
        for name in argv[1:]:
            print(name, file=sys.stderr)
            installer.install(prefix, ROOT / name, with_dependencies=name not in bare)
    except Failed as failed:
        fix = failed.problem.fix.replace(reasons.AGAIN, "run the same command again")
        print(f"Not installed: {failed.problem.reason}. {fix}", file=sys.stderr)
        return 1
    return 0


def _say(step: str, percent: int | None) -> None:
    print(f"  {step}" + (f" ({percent} %)" if percent else ""), file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
