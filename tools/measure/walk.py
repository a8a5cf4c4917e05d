"""Walk one endpoint, or several variants with the base again last: one run each, one after the other."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from clouds.base import Progress
from clouds.errors import Cancelled, CloudError
from clouds.models import Endpoint, Wire
from tools import starting
from tools.ledger import Book
from tools.measure import store
from tools.measure.comparing.differences import AGAIN, BASE
from tools.measure.cost import PriceUsed
from tools.measure.held import READY_SECONDS, Held, Undisturbed, started
from tools.measure.job import Job
from tools.measure.measurement import Ask, Measurement, Objective
from tools.measure.options import Options
from tools.measure.profiles import Profile
from tools.measure.record import PlanCited, Run, Subject
from tools.measure.registering.departures import cited, intended
from tools.measure.registering.plans import Wanted, write
from tools.measure.resuming import answered, earlier
from tools.measure.run import measure, refused
from tools.measure.variants import Variant


@dataclass(frozen=True)
class Wish:
    """What the caller wants measured, on whatever endpoint."""

    measurements: tuple[Measurement, ...]
    profile: Profile
    folder: Path
    objective: Objective
    levels: tuple[int, ...] = ()
    price: PriceUsed | None = None
    name: str = ""
    options: Options = field(default_factory=Options)
    plans: Wanted = field(default_factory=Wanted)

    def ask(self, context_tokens: int | None = None, price: PriceUsed | None = None, earlier: Run | None = None) -> Ask:
        """For one run: its prompts are like those of no other."""
        return Ask(
            self.profile,
            secrets.token_hex(3),
            self.levels,
            objective=self.objective,
            options=self.options,
            context_tokens=context_tokens,
            price=self.price or price,
            done=answered(earlier),
        )


@dataclass(frozen=True)
class Measured:
    """One run and its file; `error` says why a variant could not be measured."""

    path: Path
    run: Run
    error: str = ""


def walk(variants: Sequence[Variant], wish: Wish, book: Book, progress: Progress) -> tuple[Measured, ...]:
    """Measure each variant, and the base again when there is more than one.

    A base that cannot be measured raises CloudError. A variant that cannot be is a run with state `failed`. The base is
    put back as it was in every case, also when asked to stop.
    """
    base = variants[0]
    order = [*variants, Variant(BASE + AGAIN, base.target)] if len(variants) > 1 else [base]
    started(base.target, variants, progress)
    held = Held(base.target, variants, book)
    found: list[Measured] = []
    held.back(progress)  # what an earlier walk was killed over
    try:
        for position, variant in enumerate(order):
            if position and position == len(order) - 1:
                held.back(progress)
            found.append(_one(variant, wish, held, book, progress, position, [each.label for each in order]))
    except Cancelled as stopped:
        kept = [f"{each.path.stem} ({each.run.state})" for each in found] + ([stopped.left] if stopped.left else [])
        if kept:
            stopped.left = f"Kept: {', '.join(kept)}; list_runs shows what is there. The same call measures anew."
        raise
    finally:
        held.back(Undisturbed(progress))
    return tuple(found)


def _one(
    variant: Variant, wish: Wish, held: Held, book: Book, progress: Progress, position: int, labels: Sequence[str]
) -> Measured:
    runs = len(labels)
    label = variant.label if runs > 1 else ""
    name = wish.name or slug(variant.target.ref)
    stem = "-".join(part for part in (f"{datetime.now(UTC):%Y-%m-%d}", name, slug(label)) if part)
    operation = book.journal.operation
    left = earlier(wish.folder, operation, label)
    if left is not None and left[1].state == "complete":
        return Measured(*left)
    path, before = left or (store.claim(wish.folder, stem[:100].rstrip("-.")), None)

    def job(wire: Wire, endpoint: Endpoint | None) -> Job:
        engine = endpoint.engine if endpoint else None
        ask = wish.ask(engine.context_tokens if engine else None, listed_price(endpoint), before)
        steps = sum(each.plan(ask).steps for each in wish.measurements)
        return Job(
            wire=wire,
            subject=_subject(variant, endpoint, label),
            ask=ask,
            measurements=wish.measurements,
            path=path,
            name=name,
            engine=engine,
            hardware=endpoint.hardware if endpoint else None,
            price=ask.price,
            spent=_spent(endpoint, book),
            operation=operation,
            earlier=before,
            planned=_citing(wish, labels, label),
            done_before=position * steps,
            total=runs * steps,
        )

    try:
        held.become(variant, progress)
        endpoint = starting.ready(variant.target, READY_SECONDS, progress)
        with variant.target.wire() as wire:
            return Measured(path, measure(job(wire, endpoint), progress))
    except CloudError as error:
        if position == 0:
            _forget_if_empty(path)
            raise
        if not path.stat().st_size:
            return Measured(path, refused(job(Wire(url=""), None), error), str(error)[:300])
        return Measured(path, store.read(path), str(error)[:300])
    except BaseException as error:
        _forget_if_empty(path)
        if isinstance(error, Cancelled) and path.exists():
            error.left = f"{path.stem} (incomplete)"
        raise


def _citing(wish: Wish, labels: Sequence[str], label: str) -> Callable[[Job], PlanCited] | None:
    """How a run cites the plan that the caller named; None where there is none."""
    planned = wish.plans.follow
    if planned is None:
        return None

    def cite(job: Job) -> PlanCited:
        at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        return cited(planned, intended(job, labels, wish.plans.given), label, at)

    return cite


def planned_only(variants: Sequence[Variant], wish: Wish, path: Path) -> tuple[str, str]:
    """Write down what a walk would do, without asking the model anything. Returns the ref and the plan's hash."""
    base = variants[0]
    endpoint = base.target.endpoint()
    engine = endpoint.engine if endpoint else None
    labels = [each.label for each in variants] + ([BASE + AGAIN] if len(variants) > 1 else [])
    job = Job(
        wire=Wire(url=""),
        subject=_subject(base, endpoint, ""),
        ask=wish.ask(engine.context_tokens if engine else None, listed_price(endpoint)),
        measurements=wish.measurements,
        path=path,
        name=wish.name,
        engine=engine,
    )
    says = intended(job, labels, wish.plans.given)
    return base.target.ref, write(path, says, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", wish.plans.expects)


def _subject(variant: Variant, endpoint: Endpoint | None, label: str) -> Subject:
    return Subject(
        ref=variant.target.ref,
        model=endpoint.model if endpoint else "",
        variant=label,
        deployment=endpoint.deployment if endpoint else "",
    )


def _spent(endpoint: Endpoint | None, book: Book) -> Callable[[], tuple[float, float] | None]:
    def spent() -> tuple[float, float] | None:
        amount = book.spend.spent(endpoint.deployment) if endpoint and endpoint.deployment else None
        return None if amount is None else (amount.low, amount.high)

    return spent


def _forget_if_empty(path: Path) -> None:
    """Take back the file of a run that measured nothing."""
    try:
        empty = not path.stat().st_size or not store.read(path).parts
    except (OSError, CloudError):
        return
    if empty:
        path.unlink(missing_ok=True)


def listed_price(endpoint: Endpoint | None) -> PriceUsed | None:
    """The cloud's price of an endpoint, where it is one by the hour in US dollars; otherwise unknown."""
    price = endpoint.price if endpoint else None
    if price is None or price.currency != "USD" or "hour" not in price.unit or price.amount <= 0:
        return None
    return PriceUsed(usd_per_hour=price.amount, as_of=price.as_of, source=price.source, basis=price.basis)


def slug(text: str) -> str:
    """A short name for a file: the last part of a ref, host and port of a URL, a change with dashes."""
    if text.startswith(("http://", "https://")):
        parts = urlsplit(text)
        text = f"{parts.hostname or 'endpoint'}-{parts.port or parts.scheme}"
    else:
        text = text.rsplit(":", 1)[-1].rsplit("/", 1)[-1]
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:48]
