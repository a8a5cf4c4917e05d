"""What the ledger learns from looking at an endpoint, and what it can say about one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from clouds.base import EndpointService
from clouds.errors import CloudError, InvalidInput
from clouds.models import Change, DeploymentSpec, Endpoint
from tools.figures import duration
from tools.ledger import Book, Day, Deployment, Totals

STARTING = frozenset({"waiting_for_capacity", "creating", "loading", "updating"})


def live_at(book: Book, ref: str) -> Deployment | None:
    """The live deployment at a printed ref."""
    return next(iter(book.deployments.find(ref)), None)


def take(book: Book, ref: str) -> Deployment | None:
    """The live deployment at a ref, held for this caller alone. Raises Conflict while another one works on it."""
    deployment = live_at(book, ref)
    if deployment is not None:
        book.deployments.take(deployment.id)
    return deployment


def saw(book: Book, endpoint: Endpoint) -> None:
    """Keep what a look showed: whether it bills, and the phases of a start-up that has ended well."""
    deployment = live_at(book, endpoint.ref)
    if deployment is None or endpoint.deployment not in {"", deployment.id}:
        return
    if (
        deployment.state == "creating"
        and endpoint.state not in {"unknown", "failed"}
        and not book.unresolved(deployment.id)
    ):
        book.deployments.active(deployment.id)
    if endpoint.expires and endpoint.expires != deployment.facts.get("expires"):
        book.remember(deployment.id, {"expires": endpoint.expires})
    if endpoint.price is not None and endpoint.billing is not None:
        if endpoint.billing:
            book.spend.placed(deployment.id, usd_per_hour=endpoint.price.amount, instance_type=instance_type(endpoint))
        else:
            book.spend.waiting(deployment.id)
    if endpoint.state == "ready" and endpoint.phases and not deployment.facts.get("phases_kept"):
        book.phases.record(deployment.id, endpoint.phases, instance_type(endpoint))
        book.remember(deployment.id, {"phases_kept": True})


def instance_type(endpoint: Endpoint) -> str:
    """What it runs on, as far as that is known."""
    return endpoint.hardware.instance_type if endpoint.hardware else ""


def expected(book: Book, endpoint: Endpoint) -> tuple[float | None, str]:
    """How long the whole start-up takes from asked to ready, and what that rests on."""
    estimate = book.phases.expected_seconds(endpoint.ref.split(":")[1], endpoint.model, instance_type(endpoint))
    if estimate is None:
        return None, ""
    return round(estimate.seconds, 1), f"median of {estimate.n} earlier start{'' if estimate.n == 1 else 's'} here"


def openai_base(url: str) -> str:
    """The base URL that an OpenAI client wants: with /v1 where an endpoint is a plain host and port."""
    return url if not url or url.endswith("/v1") or url.count("/") > 2 else f"{url}/v1"


def _range(low: float, high: float) -> str:
    words = f"${low:,.2f}", f"${high:,.2f}"
    return words[0] if words[0] == words[1] else " to ".join(words)


def totals(book: Book, found: Iterable[Endpoint] = (), now: datetime | None = None) -> dict[str, str]:
    """Money spent so far over everything that has a price: all of it and today (UTC); empty when nothing has one.

    What bills and is not in the ledger adds its price over its age, as `spent_on` says of it: "about".
    """
    known = book.spend.totals(days=1)
    moment = now or datetime.now(UTC)
    midnight = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    guessed = [each for each in (_guess(book, one, moment) for one in found) if each is not None]
    if known is None and not guessed:
        return {}
    today = known.days[-1] if known is not None and known.days else None
    since = (moment - midnight).total_seconds() / 3600
    about = "about " if guessed else ""

    def sum_of(sure: Totals | Day | None, hours: float) -> str:
        more = sum(rate * min(age, hours) for rate, age in guessed)
        return f"{about}{_range((sure.low if sure else 0.0) + more, (sure.high if sure else 0.0) + more)}"

    return {"all": sum_of(known, math.inf), "today": sum_of(today, since)}


def spent(book: Book, deployment: str) -> str:
    """ "$0.08", or "$0.05 to $0.08" where the placement time is not known; empty for what has no price."""
    amount = book.spend.spent(deployment) if deployment else None
    if amount is None:
        return ""
    return _range(amount.low, amount.high)


def spent_on(book: Book, endpoint: Endpoint, now: datetime | None = None) -> str:
    """As `spent`; where the ledger has nothing, "about $10.74": its price over its age, for what bills."""
    guess = _guess(book, endpoint, now)
    return f"about ${guess[0] * guess[1]:,.2f}" if guess else spent(book, endpoint.deployment)


def _guess(book: Book, endpoint: Endpoint, now: datetime | None) -> tuple[float, float] | None:
    """Dollars an hour and hours so far of what bills, where the ledger has nothing; None where it has or cannot be."""
    if spent(book, endpoint.deployment) or not endpoint.billing or endpoint.price is None or not endpoint.created:
        return None
    age = -(seconds_left(endpoint.created, now) or 0.0)
    return (endpoint.price.amount, age / 3600) if age > 0 else None


def overdue(endpoint: Endpoint, now: datetime | None = None) -> str:
    """ "over for 6 h 14 min, still billing" for what is past its end and not known to bill nothing; else empty.

    What is being ended needs nobody to end it.
    """
    left = seconds_left(endpoint.expires, now)
    if left is None or left > 0 or endpoint.billing is False or endpoint.state == "stopping":
        return ""
    return f"over for {duration(-left)}, {'still' if endpoint.billing else 'perhaps still'} billing"


def ends_it(ref: str) -> str:
    """What to do with an endpoint that is past its end and bills."""
    return f'`delete_endpoint("{ref}")` ends its bill; `update_endpoint` with ttl_hours gives it more time.'


def is_url(ref: str) -> bool:
    """Whether it is a bare URL: a server of somebody's, of which modelrig holds neither state nor log."""
    return ref.startswith(("http://", "https://"))


def its_log(ref: str) -> str:
    """Where the engine's own words are."""
    if is_url(ref):
        return "read the log of that server: modelrig did not start it and has none."
    return f'`get_endpoint_logs("{ref}")` for what the engine says.'


def with_change(spec: DeploymentSpec, change: Change) -> DeploymentSpec:
    """The spec that a change leads to."""
    return replace(
        spec,
        ttl_hours=spec.ttl_hours if change.ttl_hours is None else change.ttl_hours,
        model=spec.model if change.model is None else change.model,
        settings={**spec.settings, **(change.settings or {})},
    )


def try_change(service: EndpointService, book: Book, ref: str, change: Change) -> None:
    """Have the service plan the changed spec; nothing is changed. Raises InvalidInput for what it would refuse.

    Quota and capacity are judged when the change is carried out: what is held counts differently then.
    """
    deployment = live_at(book, ref)
    if deployment is None:
        return
    try:
        service.plan(with_change(deployment.spec, change))
    except InvalidInput:
        raise
    except CloudError:
        return


def changed(book: Book, endpoint: Endpoint, change: Change) -> None:
    """Write down the spec that is held now."""
    deployment = live_at(book, endpoint.ref)
    if deployment is not None:
        book.deployments.changed(deployment.id, with_change(deployment.spec, change))
        book.remember(deployment.id, {"health": ""})
        saw(book, endpoint)


def judged(book: Book, ref: str, *, healthy: bool, right: int, asked: int, answered: int) -> None:
    """Keep the verdict of a health check, so that an endpoint that answers rubbish is not called ready."""
    deployment = live_at(book, ref)
    if deployment is None or not answered:
        return
    words = f"answers rubbish: {right} of {asked} replies right at {datetime.now(UTC):%H:%M} UTC (check_health)"
    book.remember(deployment.id, {"health": "" if healthy else words})


def as_judged(book: Book, endpoint: Endpoint) -> Endpoint:
    """The endpoint, `failed` where the last health check found rubbish; a model of random weights is exempt."""
    deployment = live_at(book, endpoint.ref)
    verdict = str(deployment.facts.get("health", "")) if deployment else ""
    random = endpoint.engine is not None and str(endpoint.engine.settings.get("weights", "")).startswith("random")
    if not verdict or random or endpoint.state != "ready":
        return endpoint
    return endpoint.model_copy(update={"state": "failed", "reason": verdict})


def seconds_left(expires: str, now: datetime | None = None) -> float | None:
    """Seconds until an ISO 8601 moment, negative once it is over; None when there is none."""
    if not expires:
        return None
    return (datetime.fromisoformat(expires) - (now or datetime.now(UTC))).total_seconds()
