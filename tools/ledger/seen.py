"""What a look at an endpoint teaches the ledger: that it bills, how long it took to start, what it serves now."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clouds.models import Change, Endpoint
    from tools.ledger import Book, Deployment

_STARTED = {"loading", "ready", "updating"}
_NOT_PLACED = {"waiting_for_capacity", "creating"}


def saw(book: Book, endpoint: Endpoint) -> None:
    """Keep what an endpoint shows now; what is not ours, or over, teaches nothing."""
    deployment = of(book, endpoint)
    if deployment is None:
        return
    kind = endpoint.hardware.instance_type if endpoint.hardware else ""
    if endpoint.billing:
        price = endpoint.price
        hourly = price.amount if price is not None and "hour" in price.unit else None
        book.spend.placed(deployment.id, usd_per_hour=hourly, instance_type=kind)
    elif endpoint.billing is False and endpoint.state in _NOT_PLACED:
        book.spend.waiting(deployment.id)
    elif endpoint.billing is False and endpoint.state in {"stopped", "failed", "deleted"}:
        book.spend.closed(deployment.id)
    if deployment.state in {"creating", "failed"} and endpoint.state in _STARTED:
        book.deployments.active(deployment.id)
    if endpoint.expires and deployment.expires != endpoint.expires:
        book.remember(deployment.id, {"expires": endpoint.expires})
    if endpoint.state == "ready" and "ready_at" not in deployment.facts:
        book.phases.record(deployment.id, endpoint.phases, kind)
        book.remember(deployment.id, {"ready_at": book.journal.now()})


def changed(book: Book, endpoint: Endpoint, change: Change) -> None:
    """Keep that an endpoint serves another spec from now on."""
    deployment = of(book, endpoint)
    if deployment is None:
        return
    spec = deployment.spec
    new = dataclasses.replace(
        spec,
        ttl_hours=spec.ttl_hours if change.ttl_hours is None else change.ttl_hours,
        model=spec.model if change.model is None else change.model,
        settings={**spec.settings, **(change.settings or {})},
    )
    book.deployments.changed(deployment.id, new)
    if endpoint.expires:
        book.remember(deployment.id, {"expires": endpoint.expires})


def of(book: Book, endpoint: Endpoint) -> Deployment | None:
    """The live deployment of an endpoint: by the id in its tags, else by its ref."""
    found = book.deployments.find(endpoint.deployment) if endpoint.deployment else ()
    found = found or book.deployments.find(endpoint.ref)
    return found[0] if len(found) == 1 else None
