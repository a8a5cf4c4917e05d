"""Runs that a machine made of itself: watched until it is gone, then brought home as run records."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from clouds.base import Ledger, PriceBook
from clouds.errors import Cancelled, CloudError, NotFound, Throttled, Unexpected, Unreachable
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import model as models
from clouds.gcp.endpoints.machines import create, marks, selfrun, view
from clouds.gcp.endpoints.machines.held import Held
from clouds.models import Call, DeploymentPlan, Endpoint, EndpointRef, Scope

POLL, BLIND_TRIES, MOST_OBJECTS = 30.0, 10, 200
_RUN = re.compile(r"[a-z0-9][a-z0-9._-]{0,120}\.json")


def listed(api: GcpApi, place: str) -> tuple[str, ...]:
    """Names of the objects under a folder, the folder's own name left away. Raises what cannot be read."""
    bucket, prefix = _split(place)
    answer = api.send(
        Call("storage", "objects.list", {"bucket": bucket, "prefix": prefix, "maxResults": 1000}), scope=Scope()
    )
    return tuple(str(row["name"]).removeprefix(prefix) for row in answer.get("items", []))


def finished(api: GcpApi, ledger: Ledger, plan: DeploymentPlan, results: str) -> tuple[str, ...] | None:
    """What an earlier try of this deployment has written, when it came to its end; None when it did not.

    Raises what cannot be read: without knowing, a second machine would be paid for.
    """
    if not any(step.state in {"done", "intent"} for step in ledger.steps(plan.deployment)):
        return None
    try:
        names = listed(api, selfrun.folder(results, plan.deployment))
    except NotFound:
        return None
    return names if selfrun.DONE in names else None


def brought(
    api: GcpApi, ledger: Ledger, plan: DeploymentPlan, results: str, names: tuple[str, ...], ref: str = ""
) -> Endpoint:
    """Copy the run records into the data directory's `runs`; the endpoint that is not there any more says how many."""
    place = selfrun.folder(results, plan.deployment)
    kept, refused = fetch(api, place, names, ledger.home / "runs")
    for step in ledger.steps(plan.deployment):
        if step.state in {"intent", "done"}:
            ledger.undone(step.id)
    ledger.remember(plan.deployment, {"ended": True, "results": place, "runs": [path.name for path in kept]})
    words = f"{len(kept)} run records of {place} are in runs"
    if refused:
        words += f"; {len(refused)} files there are no run records or could not be read: {', '.join(refused[:5])}"
    return Endpoint(
        ref=ref or str(plan.ref),
        state="deleted",
        cloud_status="measured itself and deleted itself",
        billing=False,
        model=plan.spec.model,
        reason=words,
        deployment=plan.deployment,
    )


def fetch(api: GcpApi, place: str, names: tuple[str, ...], folder: Path) -> tuple[list[Path], list[str]]:
    """The run records among the objects, written to `folder` under names nobody has; and what is none."""
    bucket, prefix = _split(place)
    kept, refused = list[Path](), list[str]()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in names[:MOST_OBJECTS]:
        last = name.rsplit("/", 1)[-1]
        if name.count("/") != 1 or not _RUN.fullmatch(last) or last == "answer.json":
            continue
        call = Call("storage-media", "objects.get", {"bucket": bucket, "object": f"{prefix}{name}", "alt": "media"})
        try:
            body: Any = api.send(call, scope=Scope())
        except CloudError:
            refused.append(name)
            continue
        if not isinstance(body, dict) or "schema_version" not in body:
            refused.append(name)
            continue
        path = _free(folder, f"{place.rsplit('/', 1)[-1]}-{name.replace('/', '-')}")
        path.write_text(json.dumps(body, separators=(",", ":")) + "\n", encoding="utf-8")
        kept.append(path)
    return kept, refused


def until_done(run: create.Run, api: GcpApi, prices: PriceBook, ref: EndpointRef, results: str) -> Endpoint:
    """Watch until the machine has deleted itself. Being asked to stop takes it back; what it wrote stays."""
    try:
        held = _watch(run, ref)
    except Cancelled:
        parts = create.undo(run, [ref.location, "global"])
        run.remember(ended=all(part.outcome != "still there" for part in parts))
        raise
    if held is not None:
        found = view.build(ref, held, run.world.lines(held), prices, run.world.shapes)
        return found.model_copy(update={"reason": f"it still runs; its results come to {results}"})
    place = selfrun.folder(results, run.plan.deployment)
    names = listed(api, place)  # before anything is taken away: what cannot be read now is brought by the next call
    create.undo(run, [ref.location, "global"])  # its rule and its job, and a husk
    found = brought(api, run.maker.ledger, run.plan, results, names, str(ref))
    if selfrun.DONE not in names:
        ended = "it ended before it was done (taken back, failed, or its time was over)"
        return found.model_copy(update={"state": "failed", "reason": f"{ended}; {found.reason}"})
    return found


def _watch(run: create.Run, ref: EndpointRef) -> Held | None:
    """The machine when it is there past its end, None once it is gone or dead."""
    progress, blind = run.maker.progress, 0
    while True:
        try:
            held = run.world.find(ref)
            blind = 0
        except NotFound:
            return None
        except (Throttled, Unreachable, Unexpected):
            blind += 1
            if blind >= BLIND_TRIES:
                raise
            progress.sleep(POLL)
            continue
        if held.dead:
            return None
        if run.now() > run.end:
            return held
        words = marks.progress(run.world.lines(held) or ())
        progress.report(f"{ref.location}: {held.status}; {words}")
        progress.sleep(POLL)


def _split(place: str) -> tuple[str, str]:
    """Bucket, and prefix with its slash."""
    bucket = models.bucket_of(place)
    rest = place.removeprefix(f"gs://{bucket}").strip("/")
    return bucket, f"{rest}/" if rest else ""


def _free(folder: Path, name: str) -> Path:
    for number in range(1, 1000):
        path = folder / (name if number == 1 else name.replace(".json", f"-{number}.json"))
        if not path.exists():
            return path
    return folder / name
