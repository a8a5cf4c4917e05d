"""What a caller writes for several variants: other endpoints of ours, or changes to the one that is measured."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clouds.errors import InvalidInput
from clouds.models import Change, EndpointRef, Setting
from tools import history
from tools.context import Clouds, Target
from tools.ledger import Book
from tools.measure.comparing.differences import BASE

KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")


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


def checked(variants: Sequence[Variant], book: Book) -> tuple[Variant, ...]:
    """The same variants, after the service has planned each change: a value that it would refuse is refused before
    anything is measured. Raises InvalidInput.
    """
    for each in variants:
        if not each.changes or each.target.service is None:
            continue
        change = Change(model=each.model or None, settings=dict(each.settings) or None)
        try:
            history.try_change(each.target.service, book, each.target.ref, change)
        except InvalidInput as error:
            problem = f"{each.label[:80]!r} cannot be: {error}"
            raise InvalidInput("variants", problem, fix=error.fix, allowed=error.allowed) from error
    return tuple(variants)


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
