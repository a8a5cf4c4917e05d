"""Several variants on one machine: other endpoints, or changes to the one that is held; the base comes again last."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from clouds.base import Progress
from clouds.errors import Cancelled, InvalidInput, Unexpected
from clouds.models import Change, Endpoint, EndpointRef, Setting
from tools import history
from tools.context import Clouds, Target
from tools.figures import show
from tools.ledger import Book
from tools.measure.comparing.differences import BASE

READY_SECONDS = 3_600.0
LOOK_SECONDS = 0.5
KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")
FIELDS = {"context": "context_tokens"}
"""Settings whose value the engine reports under another name."""


@dataclass(frozen=True)
class Variant:
    """One thing to measure: a target, and what is changed on it first."""

    label: str
    target: Target
    model: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def changes(self) -> bool:
        """True when the engine has to be replaced for it."""
        return bool(self.model or self.settings)


def parse(texts: Sequence[str], base: Target, clouds: Clouds, book: Book) -> tuple[Variant, ...]:
    """The base, then each variant. `context=4096,slots=8` changes the base; anything else names an endpoint of ours.

    Raises InvalidInput or NotFound before anything is changed.
    """
    found = [Variant(BASE, base)]
    for text in texts:
        if "=" in text:
            base.ours()
            found.append(_change(text, base))
        else:
            found.append(Variant(text, _target(text, clouds, book)))
    return tuple(found)


def _target(text: str, clouds: Clouds, book: Book) -> Target:
    ref = next((ref for ref in book.refs() if ref.name == text), None) or EndpointRef.parse(text)
    return Target(str(ref), ref, clouds.get(ref.cloud), clouds.service(ref))


def _change(text: str, base: Target) -> Variant:
    settings: dict[str, Setting] = {}
    for pair in text.split(","):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not KEY.fullmatch(name) or name in settings:
            raise InvalidInput(
                "variants",
                f"{pair[:60]!r} is not a change",
                fix='Write each variant as "name=value,name=value", or as the ref of an endpoint.',
            )
        settings[name] = _typed(value)
    model = str(settings.pop("model", ""))
    return Variant(text, base, model, settings)


def _typed(text: str) -> Setting:
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


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


class Held:
    """The base endpoint while its engine is being replaced; it is put back as it was, whatever happens."""

    def __init__(self, base: Target, variants: Sequence[Variant], book: Book) -> None:
        """Raises InvalidInput when a value that would have to be put back is not known. Changes nothing yet."""
        self._base, self._book = base, book
        self._changed = False
        changing = [each for each in variants if each.changes]
        endpoint = base.endpoint() if changing else None
        deployment = history.live_at(book, endpoint.ref) if endpoint else None
        self._model = (deployment.spec.model if deployment else "") or (endpoint.model if endpoint else "")
        self._other_model = False
        names = dict.fromkeys(name for each in changing for name in each.settings)
        self._settings = {name: self._known(name, endpoint) for name in names} if endpoint else {}

    def _known(self, name: str, endpoint: Endpoint) -> Setting:
        deployment = history.live_at(self._book, endpoint.ref)
        given = deployment.spec.settings if deployment else {}
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

    def become(self, variant: Variant, progress: Progress) -> None:
        """Change the engine as the variant says, from the base's settings, and wait until it is ready."""
        if variant.changes:
            self._changed = True
            model = variant.model or (self._model if self._other_model else "")
            self._other_model = bool(variant.model)
            self._apply(model, {**self._settings, **variant.settings}, progress)

    def back(self, progress: Progress) -> None:
        """The base as it was. Does nothing when nothing was changed."""
        if self._changed:
            self._apply(self._model if self._other_model else "", self._settings, progress)
            self._changed = self._other_model = False

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
            progress.report(f"{endpoint.ref} is {endpoint.state}, waited {show('seconds', round(waited, 1))}")
            progress.sleep(LOOK_SECONDS)
            waited += LOOK_SECONDS
            endpoint = service.get(place)
