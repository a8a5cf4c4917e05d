"""The base endpoint while its engine is replaced for variants: it is put back as it was, whatever happens.

What it was is in the ledger before the first change, so that a walk that was killed is put right by the next one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from clouds.base import Progress
from clouds.errors import Cancelled, CloudError, InvalidInput, Unexpected
from clouds.models import Change, Endpoint, Setting
from tools import history, starting
from tools.context import Target
from tools.figures import duration
from tools.ledger import Book
from tools.measure.variants import Variant

FACT = "measured_base"
"""The fact of a deployment under which its model and settings are kept while a variant is in their place."""
READY_SECONDS = 3_600.0
LOOK_SECONDS = 0.5
FIELDS = {"context": "context_tokens"}
"""Settings whose value the engine reports under another name."""


class Undisturbed:
    """A progress that nobody can stop: for putting back what was changed."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        """Pass it on, unless that would stop us."""
        with suppress(Cancelled):
            self._progress.report(message, done, total)

    def check(self) -> None:
        """Never raises."""

    def sleep(self, seconds: float) -> None:
        """Wait to the end."""
        time.sleep(seconds)


def started(base: Target, variants: Sequence[Variant], progress: Progress) -> None:
    """Wait until the base runs where variants change it: while it loads it does not say what would be put back.

    A start that fails, or is not seen to its end, is judged by what comes after. Raises Cancelled.
    """
    if any(each.changes for each in variants):
        with suppress(CloudError):
            starting.ready(base, READY_SECONDS, progress)


class Held:
    """Changes the engine of one endpoint, and changes it back."""

    def __init__(self, base: Target, variants: Sequence[Variant], book: Book) -> None:
        """Raises InvalidInput when a value that would have to be put back is not known. Changes nothing yet."""
        self._base, self._book = base, book
        deployment = history.live_at(book, base.ref) if base.service is not None else None
        self._deployment = deployment.id if deployment else ""
        left = (deployment.facts.get(FACT) if deployment else None) or {}
        changing = [each for each in variants if each.changes]
        endpoint = base.endpoint() if changing else None
        given = dict(deployment.spec.settings) if deployment else {}
        given |= left.get("settings", {})
        names = dict.fromkeys(name for each in changing for name in each.settings)
        known = {name: _known(name, given, endpoint) for name in names} if endpoint else {}
        self._settings: dict[str, Setting] = {**left.get("settings", {}), **known}
        self._model = left.get("model") or (deployment.spec.model if deployment else endpoint.model if endpoint else "")
        self._changed = bool(left)
        self._other_model = bool(left)

    def become(self, variant: Variant, progress: Progress) -> None:
        """Change the engine as the variant says, from the base's settings, and wait until it is ready."""
        if variant.changes:
            self._remember({"model": self._model, "settings": self._settings})
            self._changed = True
            model = variant.model or (self._model if self._other_model else "")
            self._other_model = bool(variant.model)
            self._apply(model, {**self._settings, **variant.settings}, progress)

    def back(self, progress: Progress) -> None:
        """The base as it was. Does nothing when nothing was changed."""
        if self._changed:
            self._apply(self._model if self._other_model else "", self._settings, progress)
            self._changed = self._other_model = False
            self._remember(None)

    def _remember(self, value: Mapping[str, object] | None) -> None:
        if self._deployment:
            self._book.remember(self._deployment, {FACT: value})

    def _apply(self, model: str, settings: Mapping[str, Setting], progress: Progress) -> None:
        service, place = self._base.ours()
        change = Change(model=model or None, settings=dict(settings) or None)
        endpoint = service.update(place, change, self._book, progress)
        history.changed(self._book, endpoint, change)
        waited = 0.0
        while endpoint.state != "ready":
            if endpoint.state in {"failed", "stopped", "deleted"} or waited > READY_SECONDS:
                raise Unexpected(
                    f"Replacing the engine of {endpoint.ref}",
                    answered=f"{endpoint.state}: {endpoint.reason or endpoint.cloud_status}",
                    fix="get_endpoint_logs shows why; update_endpoint puts another model or setting in.",
                )
            progress.report(f"{endpoint.ref} is {endpoint.state}, waited {duration(waited)}")
            progress.sleep(LOOK_SECONDS)
            waited += LOOK_SECONDS
            endpoint = service.get(place)


def _known(name: str, given: Mapping[str, Setting], endpoint: Endpoint) -> Setting:
    """What a setting is now: as it was given, else as the engine reports it."""
    engine = endpoint.engine
    reported = dict(engine.settings) if engine else {}
    value = given.get(name, reported.get(name, getattr(engine, FIELDS.get(name, name), None)))
    if value is None and name == "flags":
        return ""
    if not isinstance(value, str | int | float | bool):
        raise InvalidInput(
            "variants",
            f"what {name} is now is not known, so that it could not be put back",
            fix=f"Deploy the base with {name} given, then repeat.",
        )
    return value
