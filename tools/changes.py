"""update_endpoint and delete_endpoint: change or end what is held, after showing the steps."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from clouds.base import Missing, Progress
from clouds.errors import InvalidInput, NotFound
from clouds.models import Change, DeletedPart, Endpoint
from tools import history
from tools.context import Target
from tools.ledger import Book
from tools.plan import EngineSettings
from tools.registry import Effect, Preview, Tool
from tools.result import Result

NewEnd = Annotated[float, Field(ge=0, le=720, description="new end, hours from now; 0: as it is")]
SOON_HOURS = 1 / 12
"""Five minutes: a new end that is nearer is a deletion, or a mistyped unit, and is asked about."""
NewModel = Annotated[str, Field(max_length=400, description="model id, catalogue name or GGUF path; empty: as it is")]


class Updated(Result):
    """An endpoint after a change."""

    endpoint: str
    state: str
    changed: tuple[str, ...]
    expires: str = ""


def _held(ref: Target) -> Endpoint:
    service, place = ref.ours()
    return service.get(place)


def _preview_update(
    ref: Target, book: Book, ttl_hours: float, model: str, settings: dict[str, str | int | float | bool]
) -> Preview | None:
    """Replacing the engine asks, and an end within minutes; any other new end acts at once."""
    if not (ttl_hours or model or settings):
        raise InvalidInput("ttl_hours", "nothing to change was given", fix="Give ttl_hours, model or settings.")
    endpoint = _held(ref)
    ends: tuple[str, ...] = ()
    if 0 < ttl_hours < SOON_HOURS:
        ends = (f"end and delete it in {ttl_hours * 3600:.3g} seconds: can be undone with deploy_endpoint",)
    if not (model or settings):
        asked = f"Ends `{endpoint.ref}`, which serves {endpoint.model}."
        return Preview(asked, ends, _state(endpoint, book)) if ends else None
    history.try_change(ref.ours()[0], book, ref.ref, Change(model=model or None, settings=dict(settings) or None))
    wanted = [f"model {model}"] if model else []
    wanted += [f"{key} {value}" for key, value in settings.items()]
    return Preview(
        headline=f"Replaces the engine of `{endpoint.ref}`; requests in flight are cut off.",
        steps=(
            f"stop the engine that serves {endpoint.model}",
            f"start it again with {', '.join(wanted)} on the machine that is held: can be undone the same way",
            *ends,
        ),
        stays=("the machine and its address",) if ends else ("the machine, its end and its address",),
        state=_state(endpoint, book),
    )


def _state(endpoint: Endpoint, book: Book) -> dict[str, str]:
    return {"state": endpoint.state, **_read_from(endpoint, book)}


def update_endpoint(
    ref: Target,
    book: Book,
    progress: Progress,
    ttl_hours: NewEnd = 0,
    model: NewModel = "",
    settings: EngineSettings = {},  # noqa: B006 - never changed
) -> Updated:
    """Give an endpoint a new end (at once), or another model or settings on the machine held (after confirm)."""
    service, place = ref.ours()
    change = Change(ttl_hours=ttl_hours or None, model=model or None, settings=dict(settings) or None)
    history.take(book, ref.ref)
    endpoint = service.update(place, change, book, progress)
    history.changed(book, endpoint, change)
    words = [f"end {endpoint.expires[:16].replace('T', ' ')} UTC"] if ttl_hours else []
    words += [f"model {model}"] if model else []
    words += [f"{key} {value}" for key, value in settings.items()]
    return Updated(
        headline=f"`{endpoint.ref}` now has {', '.join(words)}; it is {endpoint.state.replace('_', ' ')}.",
        endpoint=endpoint.ref,
        state=endpoint.state,
        changed=tuple(words),
        expires=endpoint.expires,
        next=f'`query_model("{endpoint.ref}")`, or `measure_model` for figures.'
        if endpoint.state == "ready"
        else f'`get_endpoint("{endpoint.ref}")` until it is ready.',
    )


class Deleted(Result):
    """What a deletion found and did, read back."""

    endpoint: str
    gone: bool
    parts: tuple[DeletedPart, ...]
    spent_usd: str = ""


def _read_from(endpoint: Endpoint, book: Book) -> dict[str, str]:
    """What the steps rest on: another engine, other settings, another end or another deployment refuses the token."""
    deployment = history.live_at(book, endpoint.ref)
    spec = deployment.spec if deployment else None
    return {
        "deployment": endpoint.deployment,
        "created": endpoint.created,
        "expires": endpoint.expires,
        "model": spec.model if spec else endpoint.model,
        "settings": ", ".join(f"{key}={value}" for key, value in sorted(spec.settings.items())) if spec else "",
    }


def _preview_delete(ref: Target, book: Book) -> Preview:
    try:
        endpoint = _held(ref)
    except NotFound:
        deployment = history.live_at(book, ref.ref)
        if deployment is None:
            raise
        return Preview(
            headline=f"Clears `{ref.ref}` from the ledger: its cloud shows nothing of that name.",
            steps=("look once more for every part of it", "delete whatever is found: cannot be undone"),
            state={"state": "unknown", "deployment": deployment.id},
        )
    own = ref.cloud is not None and isinstance(ref.cloud.prices, Missing)
    return Preview(
        headline=f"Deletes `{endpoint.ref}`, which serves {endpoint.model}.",
        steps=(
            f"delete the endpoint {ref.ref}: can be undone with deploy_endpoint"
            + ("" if own else ", capacity may not come back"),
            f"delete its {'files and key' if own else 'configuration and schedules'}: can be undone the same way",
            "read back until nothing of it is left",
        ),
        stays=("downloaded model files and measured runs",),
        state=_read_from(endpoint, book),
    )


def delete_endpoint(ref: Target, book: Book, progress: Progress) -> Deleted:
    """Delete an endpoint and all that was made for it, read back until gone. First call: steps and a confirm token."""
    service, place = ref.ours()
    deployment = history.take(book, ref.ref)
    if deployment is not None:
        book.deployments.deleting(deployment.id)
    deletion = service.delete(place, book, progress)
    if deletion.gone and deployment is not None:
        book.deployments.ended(deployment.id, "deleted as asked")
    left = [part.part for part in deletion.parts if part.outcome == "still there"]
    return Deleted(
        headline=f"`{ref.ref}` is deleted and read back: nothing of it is left."
        if deletion.gone
        else f"`{ref.ref}` is NOT gone: {', '.join(left) or deletion.note} is still there.",
        endpoint=ref.ref,
        gone=deletion.gone,
        parts=deletion.parts,
        spent_usd=history.spent(book, deployment.id) if deployment else "",
        notes=(deletion.note,) if deletion.note else (),
        next="`list_endpoints` shows what else exists and bills."
        if deletion.gone
        else "the same call again; `list_endpoints` shows what still exists.",
    )


UPDATE_ENDPOINT = Tool(
    update_endpoint,
    title="Update endpoint",
    effect=Effect.WRITE,
    preview=_preview_update,
    long=True,
    aliases={"endpoint": "ref"},
)
DELETE_ENDPOINT = Tool(
    delete_endpoint,
    title="Delete endpoint",
    effect=Effect.DESTRUCTIVE,
    preview=_preview_delete,
    long=True,
    aliases={"endpoint": "ref"},
)
