"""Where else there is quota, for the account of a deployment that found no place in the regions it was given."""

from __future__ import annotations

from collections.abc import Sequence

from clouds.base import QuotaReader
from clouds.errors import CloudError, NoCapacity, QuotaTooSmall
from clouds.models import Scope

_MOST = 6


def told(
    error: CloudError, quotas: QuotaReader, types: Sequence[str], tried: Sequence[str], *, least: float = 1
) -> CloudError:
    """The same error, whose way out names the regions outside `tried` in which one of `types` has `least` quota left.

    Quota is permission to ask, and the words say so. Only for errors that another region would mend.
    """
    if isinstance(error, NoCapacity | QuotaTooSmall):
        error.fix = f"{error.fix.rstrip('.')}. {_words(quotas, types, tried, least)}"[:1200]
    return error


def _words(quotas: QuotaReader, types: Sequence[str], tried: Sequence[str], least: float) -> str:
    try:
        read = quotas.read(None, types, [Scope()])
    except CloudError as error:
        return f"Quota in other regions could not be read ({str(error)[:150]})."
    places: dict[str, list[str]] = {}
    for quota in read.found:
        left = quota.limit if quota.used is None or quota.limit is None else quota.limit - quota.used
        if quota.scope not in tried and left is not None and left >= least:
            places.setdefault(quota.scope, []).append(f"{quota.name}: {left:g}")
    unread = len({each.scope for each in read.unread if each.scope not in tried})
    rest = f"; {unread} region{'' if unread == 1 else 's'} could not be read" if unread else ""
    if not places:
        return f"No other region that could be read has quota for it{rest}."
    some = "; ".join(f"{region} ({', '.join(names[:2])})" for region, names in list(places.items())[:_MOST])
    more = f" and {len(places) - _MOST} more" if len(places) > _MOST else ""
    return f"Quota left elsewhere, which is no promise of capacity: {some}{more}{rest}."
