"""One word for what an app is, from the app, its revision and its replicas.

An app says Succeeded as soon as Azure has understood it, also when its image does not exist or no GPU is free: the
revision and the replicas decide, and that a token came is remembered in a tag. Replicas bill, nothing else here does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clouds.azure.endpoints import tags
from clouds.azure.endpoints.parts import BAD
from clouds.azure.errors import kind_of
from clouds.azure.words import bounded
from clouds.errors import CloudError, NoCapacity, NotOffered, PermissionMissing, QuotaTooSmall, Unexpected
from clouds.models import State

RESTARTS = 3
"""Restarts of the engine's container after which a start is given up: it fails in the same way each time."""
_IMAGE = ("ImagePullBackOff", "ErrImagePull", "ImagePullFailure", "InvalidImageName", "manifest unknown")


@dataclass(frozen=True)
class Standing:
    """Our word, whether it bills (None: nobody knows), and why."""

    state: State
    billing: bool | None
    reason: str = ""


@dataclass(frozen=True)
class Seen:
    """What was read of an app. `revision` and `replicas` are None where they could not be read.

    `others` is how many replicas older revisions have.
    """

    app: Mapping[str, Any]
    revision: Mapping[str, Any] | None
    replicas: Sequence[Mapping[str, Any]] | None
    others: int = 0

    @property
    def properties(self) -> Mapping[str, Any]:
        """The app's own."""
        return self.app.get("properties") or {}

    @property
    def revised(self) -> Mapping[str, Any]:
        """The revision's own."""
        return (self.revision or {}).get("properties") or {}

    @property
    def count(self) -> int | None:
        """Replicas now; None where nobody says."""
        if self.replicas is not None:
            return len(self.replicas)
        told = self.revised.get("replicas")
        return int(told) if isinstance(told, int) else None

    @property
    def containers(self) -> tuple[Mapping[str, Any], ...]:
        """The containers of all replicas."""
        return tuple(
            container
            for replica in self.replicas or ()
            for container in (replica.get("properties") or {}).get("containers") or ()
        )

    @property
    def up(self) -> bool:
        """A container answers its readiness probe."""
        return any(container.get("ready") is True for container in self.containers)

    @property
    def started(self) -> bool:
        """A container runs: its image was pulled."""
        return any(str(container.get("runningState", "")) == "Running" for container in self.containers)

    @property
    def restarts(self) -> int:
        """The most restarts of a container."""
        return max((int(container.get("restartCount") or 0) for container in self.containers), default=0)

    @property
    def words(self) -> str:
        """What Azure says of the revision, its replicas and containers: data, on one line."""
        said = [str(self.revised.get("provisioningError") or ""), str(self.revised.get("runningStateDetails") or "")]
        said += [str((one.get("properties") or {}).get("runningStateDetails") or "") for one in self.replicas or ()]
        said += [str(container.get("runningStateDetails") or "") for container in self.containers]
        return bounded("; ".join(dict.fromkeys(word for word in said if word)), 400)

    @property
    def status(self) -> str:
        """Azure's own words for it: the app's, then the revision's."""
        names = (self.properties.get("provisioningState"), self.properties.get("runningStatus"))
        revised = (self.revised.get("runningState"), self.revised.get("healthState"))
        return "/".join(dict.fromkeys(str(word) for word in (*names, *revised) if word)) or "unknown"

    @property
    def broken(self) -> bool:
        """It will not come up by itself."""
        if str(self.revised.get("provisioningState", "")).lower() in BAD or self.revised.get("provisioningError"):
            return True
        if str(self.revised.get("runningState", "")).lower() in {"failed", "degraded", "activationfailed"}:
            return not self.up
        return (self.restarts >= RESTARTS and not self.up) or any(word in self.words for word in _IMAGE)


def standing(seen: Seen) -> Standing:
    """Where an app stands."""
    state, count = str(seen.properties.get("provisioningState", "")).lower(), seen.count
    bills = True if seen.others else None if count is None else count > 0
    if state == "deleting":
        return Standing("deleting", bills)
    if str(seen.properties.get("runningStatus", "")).lower() in {"stopped", "suspended"}:
        return Standing("stopped", bills, "it was stopped; no request wakes it")
    if state in BAD:
        return Standing("failed", bills, seen.words or "Azure says no more")
    if seen.revision is None and count is None:
        if state == "inprogress":
            return Standing("creating", None, "no revision can be read yet")
        return Standing("unknown", None, "its revision could not be read")
    if seen.others and not seen.up:
        words = seen.words if seen.broken else "an older revision serves until the new one is up"
        return Standing("updating", True, words)
    if seen.broken:
        return Standing("failed", bills, seen.words or f"Azure says {seen.status}")
    return _sound(seen, bills)


def _sound(seen: Seen, bills: bool | None) -> Standing:
    generated = tags.moment(tags.read(seen.app).get(tags.READY, "")) is not None
    count, running = seen.count, str(seen.revised.get("runningState", "")).lower()
    scale = (seen.properties.get("template") or {}).get("scale") or {}
    if count == 0:
        if int(scale.get("minReplicas") or 0) == 0 and (generated or running == "scaledtozero"):
            return Standing("stopped", False, "scaled to zero: nothing bills, and the next request wakes it")
        return Standing("waiting_for_capacity", False, seen.words or "no replica has been placed yet; nothing bills")
    if seen.up:
        if generated:
            return Standing("ready", True)
        return Standing("loading", True, "a replica answers its probe; no token has been seen from it yet")
    if seen.started:
        return Standing("loading", True, seen.words or "the engine is starting; the model is being loaded")
    if seen.containers:
        return Standing("loading", bills, seen.words or "a replica was placed; its image is being pulled")
    return Standing("creating", None, seen.words or "a replica was asked for; nobody says yet whether it has a GPU")


def failure(seen: Seen, tried: str, said: Sequence[str] = ()) -> CloudError:
    """Why an app does not come up, as the error of its kind. `said` are the last error lines of its log."""
    words = seen.words or f"Azure says {seen.status}"
    kind = kind_of("", words)
    quoted = f" Its log ends with: {' | '.join(said)}" if said else ""
    if kind in (QuotaTooSmall, NoCapacity, NotOffered, PermissionMissing):
        return kind(tried, answered=words, code="RevisionFailed", fix="Name more regions, or the other accelerator.")
    fix = "Correct what its log says (get_endpoint_logs), then deploy again."
    if any(word in words for word in _IMAGE):
        fix = "Give an image that can be pulled without a login."
    elif seen.restarts >= RESTARTS:
        fix = "Its engine ends each time: read the log's words, take a smaller model or context, then deploy again."
    return Unexpected(tried, answered=f"{words}{quoted}", code="RevisionFailed", fix=fix)
