"""The supervisor's start: `python -P -m clouds.local.supervisor --home DIR --name NAME --deployment ID --start WORD`.

It leaves its parent's session and children, so that nothing that happens to the parent happens to it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from clouds.local.lock import Lock
from clouds.local.places import Place
from clouds.local.processes import parse
from clouds.local.supervisor.loop import Supervisor


def main() -> int:
    """Fork once, so that the parent has no child to bury; then serve until the end. 0 when another already serves."""
    started = parse([sys.executable, "-P", "-m", "clouds.local.supervisor", *sys.argv[1:]])
    if started is None:
        print("usage: --home DIR --name NAME --deployment ID --start WORD", file=sys.stderr)
        return 2
    if os.fork():
        os._exit(0)
    os.setsid()
    place = Place(Path(started.home), started.name)
    try:
        lock = Lock(place.lock)
        if not lock.take():
            return 0
    except FileNotFoundError:
        return 0  # deleted before it began
    with lock:
        return Supervisor(place, started).run()


if __name__ == "__main__":
    sys.exit(main())
