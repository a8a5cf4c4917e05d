"""Ends an endpoint and reads back that nothing of it is left."""

from __future__ import annotations

from pathlib import Path

from clouds.base import Ledger, Progress
from clouds.errors import Conflict
from clouds.local import places, processes
from clouds.local.endpoints import booking, reading, starting
from clouds.local.endpoints.guarding import guarded
from clouds.local.endpoints.reading import Seen
from clouds.local.identity import LOCATION
from clouds.local.lock import Lock
from clouds.local.memory import size
from clouds.local.places import Place
from clouds.models import DeletedPart, Deletion, EndpointRef

WAIT = 60.0
"""Seconds that a creation under way is given to notice and to undo what it made."""


def delete(home: Path, ref: EndpointRef, ledger: Ledger, progress: Progress) -> Deletion:
    """End its processes (asked, then forced after 8 s), remove its files and key, and look again.

    What an interrupted deletion left is finished. Models stay in the models folder. Raises Conflict when another call
    that works on it does not give way.
    """
    place = Place(home, ref.name)
    places.sweep(home)
    seen = reading.see(place) if ref.location == LOCATION else None
    if seen is None:
        absent = DeletedPart(part=f"endpoint {ref.name}", outcome="was not there")
        return Deletion(ref, (absent,), gone=True, note="Nothing of that name was on this machine.")
    stop = Lock(place.stop)
    try:
        if not stop.take(seconds=WAIT):
            raise Conflict(
                f"deleting {ref}",
                answered="another call is deleting it",
                fix="Look again with list_endpoints.",
                sent=False,
            )
        with stop, guarded(place, progress, wait=WAIT):
            return _end(place, ref, reading.see(place) or seen, ledger, progress)
    except FileNotFoundError:
        # its folder went meanwhile: a creation that heard us undid itself, or another deletion was quicker
        return _end(place, ref, seen, ledger, progress)


def _end(place: Place, ref: EndpointRef, seen: Seen, ledger: Ledger, progress: Progress) -> Deletion:
    found = processes.scan(place.home, place.name)
    progress.report(f"ending {len(found)} processes of {place.name}")
    left = starting.stop(place)
    parts = [_ended(each.role, each.pid, left) for each in found]
    if not left:
        there = place.folder.is_dir()
        place.remove()
        files = "deleted" if there else "was not there"
        parts.append(DeletedPart(part="files and API key", outcome=files, detail=str(place.folder)))
        booking.gone(ledger, seen.deployment)
    parts += _model(seen)
    gone = reading.see(place) is None
    if left:
        note = f"Process {left[0]} does not end; it waits for the system. Delete it again."
    else:
        note = "Read back: no process and no file of it is left." if gone else "Something of it is there again."
    return Deletion(ref, tuple(parts), gone=gone, note=note)


def _ended(role: str, pid: int, left: tuple[int, ...]) -> DeletedPart:
    return DeletedPart(part=f"{role} process {pid}", outcome="still there" if pid in left else "deleted")


def _model(seen: Seen) -> list[DeletedPart]:
    """The model's file is not the endpoint's own: it is kept, and said to be."""
    launch = seen.launch
    path = Path(launch.model_path) if launch else None
    if path is None or not path.is_file():
        return []
    return [DeletedPart(part=f"model {path.name}", outcome="kept", detail=f"{path}, {size(path.stat().st_size)}")]
