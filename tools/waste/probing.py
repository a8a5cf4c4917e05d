"""Which permissions of a waste scan are there: every listing is sent once, in one place; nothing is judged.

What is read of single resources (their tags, their details) cannot be tried without one, so those permissions are
counted as not tried rather than taken for granted.
"""

from __future__ import annotations

import time

from clouds.base import Cloud, Missing, Progress
from clouds.errors import CloudError, NotOffered, PermissionMissing, Unreachable
from clouds.models import Record, Scope
from clouds.models.waste import Listing
from tools.waste.reading import NOT_APPLICABLE
from tools.waste.scan import ReadsOnly
from tools.waste.sight import why
from tools.waste.traffic import Traffic


class Probed(Record):
    """What an identity may read of what a scan of one cloud needs."""

    cloud: str
    place: str
    requests: int
    allowed: int
    not_here: int
    denied: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    not_tried: int = 0
    """Permissions for reads of single resources."""


def probe(cloud: Cloud, progress: Progress, place: str = "") -> Probed | None:
    """Try the reads of every check once. None where the cloud has no checks. Raises Cancelled."""
    pack = cloud.waste
    if isinstance(pack, Missing) or isinstance(cloud.api, Missing):
        return None
    where = place or (cloud.identity.read().account if pack.by_account else pack.home)
    here = pack.scope(where, "") if pack.by_account else Scope(where)
    listings = {f"{pack.places.service}.{pack.places.operation}": pack.places}
    for check in pack.checks:
        for read in check.all_reads:
            if isinstance(read, Listing):
                listings.setdefault(f"{read.service}.{read.operation}", read)
    guarded = cloud.reading(pack.reads) if cloud.reading is not None else cloud.api
    traffic = Traffic(ReadsOnly(guarded, pack.reads), in_flight=pack.in_flight, clock=time.monotonic)
    allowed = not_here = 0
    denied: set[str] = set()
    unclear: list[str] = []
    try:
        for read in listings.values():
            at = Scope(pack.home) if read.once else here
            traffic.ask(read.at(at), at, read)
        while traffic.open:
            read, _, error = traffic.take(progress)
            absent = isinstance(error, Unreachable) and not pack.offered(read.service, where)
            if isinstance(error, PermissionMissing):
                denied.update(pack.permissions(read.service, read.operation))
            elif absent or isinstance(error, (*NOT_APPLICABLE, NotOffered)):
                not_here += 1
            elif error is None or (isinstance(error, CloudError) and error.code in read.nothing_on):
                allowed += 1
            else:
                unclear.append(f"{read.service}.{read.operation}: {why(error)}")
    finally:
        traffic.close()
    tried = {name for call in listings for name in pack.permissions(*call.split(".", 1))}
    needed = {name for call in pack.reads for name in pack.permissions(*call.split(".", 1))}
    return Probed(
        cloud=cloud.name,
        place=where,
        requests=sum(traffic.sent.values()),
        allowed=allowed,
        not_here=not_here,
        denied=tuple(sorted(denied)),
        unclear=tuple(sorted(unclear)),
        not_tried=len(needed - tried),
    )
