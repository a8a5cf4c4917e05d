"""Whether a plan's accounts are those that we are signed in to, or that these credentials reach."""

from __future__ import annotations

from clouds.base import Cloud, Progress
from clouds.errors import CloudError
from clouds.models import Scope
from tools.cleanup.rereading import pack_of
from tools.waste.rows import extract
from tools.waste.scan import reading_api


def problem(cloud: Cloud, accounts: set[str], progress: Progress) -> str:
    """Why a plan over these accounts cannot be carried out now; "" when it can.

    Where places are accounts (projects, subscriptions), each has to be among those that the cloud lists for us. When
    the list itself cannot be read, nothing is refused here: every resource is read again before it is touched.
    """
    progress.check()
    pack = pack_of(cloud)
    signed_in = cloud.identity.read().account
    other = sorted(accounts - {signed_in})
    if pack is None or not other:
        return ""
    if not pack.by_account:
        return f"was made in account {other[0]}, and you are signed in to {signed_in}"
    at = Scope(pack.home, signed_in)
    try:
        answer = reading_api(cloud, pack).send(pack.places.at(at), scope=at)
    except CloudError:
        return ""
    known = {pack.place(row) for row in extract(answer, pack.places.rows)}
    missing = [account for account in other if account not in known]
    return f"was made for {pack.scope_word} {missing[0]}, which these credentials do not reach" if missing else ""
