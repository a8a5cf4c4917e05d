"""Another revision of a service that is held: another model or flags. The service, its address and its end stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from clouds.base import PriceBook, Progress
from clouds.errors import CloudError, InvalidInput, Throttled, Unexpected, Unreachable
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints import model as models
from clouds.gcp.endpoints.machines import start
from clouds.gcp.endpoints.run import calls, create, settings, view
from clouds.models import Change, Endpoint, EndpointRef, Wire

BLIND_TRIES = 8


def revise(
    api: GcpApi,
    prices: PriceBook,
    ref: EndpointRef,
    row: Mapping[str, Any],
    change: Change,
    progress: Progress,
    now: Callable[[], datetime],
    connect: Callable[[EndpointRef], Wire],
) -> Endpoint:
    """Change the template, wait for the new revision, ask for one token. It is not ready until that came.

    Raises InvalidInput before anything is sent, Unexpected when the revision failed: the one before it then still
    answers.
    """
    told = view.serving(row)
    if "image" in (change.settings or {}):
        raise InvalidInput("settings", "image cannot change in place", fix="Delete it and deploy again.")
    merged = {**told.get("settings", {}), **(change.settings or {})}
    chosen = settings.choose(merged)
    model, image = change.model or str(told.get("model", "")), str(told.get("image", ""))
    models.check(model)
    labels = {**row.get("labels", {}), tags.READY: ""}
    kept = {**row.get("annotations", {}), calls.SERVING: calls.serving_text(image, model, merged)}
    before = now()
    create.patch(api, ref, {"template": calls.template(image, model, chosen), "labels": labels, "annotations": kept})
    fresh = _until_up(api, ref, progress)
    up = now()
    said = start.one_token(connect, ref)
    if not said:
        phases = [[create.COLD, round((up - before).total_seconds(), 1)]]
        phases.append([create.TOKEN, round((now() - up).total_seconds(), 1)])
        create.mark(api, ref, fresh, now(), phases)
        fresh = view.find(api, ref)
    found = view.build(ref, fresh, view.engine_lines(api, ref, fresh), prices)
    return found if not said else found.model_copy(update={"state": "loading", "reason": said})


def _until_up(api: GcpApi, ref: EndpointRef, progress: Progress) -> dict[str, Any]:
    waited, blind = 0.0, 0
    while True:
        try:
            row = view.find(api, ref)
            blind = 0
        except (Throttled, Unreachable, Unexpected):
            blind += 1
            if blind > BLIND_TRIES:
                raise
            progress.sleep(create.POLL)
            waited += create.POLL
            continue
        now = view.standing(row)
        if now.state in {"ready", "loading"}:
            return row
        if now.state == "failed":
            raise _failed(ref, now.reason)
        if waited >= create.STARTS_WITHIN:
            raise _failed(ref, f"the revision is not up after {waited:.0f} s")
        progress.report(f"{ref.location}: {waited:.0f} s; {now.reason}")
        progress.sleep(create.POLL)
        waited += create.POLL


def _failed(ref: EndpointRef, words: str) -> CloudError:
    return Unexpected(
        f"changing {ref}", answered=words, fix="The revision before it still answers; change it again or delete it."
    )
