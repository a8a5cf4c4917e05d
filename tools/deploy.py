"""deploy_endpoint: written down, then created; the same call again returns what is there or finishes what was begun."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from clouds.base import Cloud, EndpointService, Progress
from clouds.errors import Cancelled, CloudError, Conflict, NoCapacity, NotFound, QuotaTooSmall
from clouds.models import DeploymentPlan, Endpoint, EndpointRef, Record
from tools import history
from tools import plan as planning
from tools.ledger import Book, differences
from tools.plan import Ceiling, EngineSettings, Hours, Model, Name, Words
from tools.registry import Effect, Tool
from tools.result import Result, quoted
from tools.settings import Settings

GONE = frozenset({"failed", "stopped", "deleted"})
"""States in which asking again starts again."""


class Attempt(Record):
    """One place that was asked for a machine. `said` is the cloud's own answer: it is data."""

    where: str
    types: str
    waited_seconds: float | None = None
    code: str
    said: str


class Deployed(Result):
    """A deployment that was begun, that was there already, or that found no machine (`tried` says where)."""

    endpoint: str
    state: str
    already_there: bool
    deployment: str
    model: str
    billing: bool | None
    usd_per_hour: float | None = None
    worst_usd_per_hour: float | None = None
    expires: str = ""
    expected_seconds: float | None = None
    expected_from: str = ""
    url: str = ""
    key_file: str = ""
    made: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    tried: tuple[Attempt, ...] = ()
    remains: tuple[str, ...] = ()
    """Of a failed deployment: what was made and is not known to be gone."""

    @property
    def is_error(self) -> bool:
        """No machine was found."""
        return self.state == "failed"


def deploy_endpoint(
    cloud: Cloud,
    settings: Settings,
    book: Book,
    progress: Progress,
    model: Model = "",
    service: Annotated[str, Field(max_length=40)] = "",
    name: Name = "",
    location: Annotated[str, Field(max_length=60)] = "",
    regions: Words = (),
    accelerator: Annotated[str, Field(max_length=40)] = "",
    instance_types: Words = (),
    max_usd_per_hour: Ceiling = 0,
    ttl_hours: Hours = 0,
    engine_settings: EngineSettings = {},  # noqa: B006 - never changed
) -> Deployed:
    """Deploy a model as an endpoint that ends by itself. Idempotent by name. Poll get_endpoint until ready."""
    chosen, spec = planning.specify(
        cloud,
        settings,
        model,
        service,
        name,
        location,
        regions,
        accelerator,
        instance_types,
        max_usd_per_hour,
        ttl_hours,
        engine_settings,
    )
    plan = planning.priced(cloud, planning.planned(chosen, spec))
    spec = plan.spec
    there = book.deployments.same_name(spec)
    if there is not None:
        if different := differences(there.spec, spec):
            raise Conflict(
                f"Deploying `{plan.ref}`",
                answered=f"it is there with another spec: {'; '.join(different)}",
                fix="Give another name, or change what is there with update_endpoint.",
                sent=False,
            )
        endpoint = _found(chosen, plan)
        if endpoint is not None and endpoint.state not in GONE and not book.unresolved(there.id):
            return _deployed(endpoint, plan, there.id, book, cloud, already=True)
    deployment = there.id if there is not None else book.deployments.begin(spec, plan)
    book.deployments.take(deployment)
    try:
        endpoint = chosen.create(replace(plan, deployment=deployment), book, progress)
    except (CloudError, Cancelled) as error:
        words = "stopped as asked" if isinstance(error, Cancelled) else f"{error.kind}: {error}"
        if book.facts(deployment).get("ended"):  # the cloud's adapter has read back that nothing of it is left
            book.deployments.ended(deployment, words)
        else:
            book.deployments.failed(deployment, words)
        if isinstance(error, NoCapacity | QuotaTooSmall) and not book.unresolved(deployment):
            book.spend.never_billed(deployment)
        if tried := _tried(book, deployment):
            return _not_deployed(error, tried, plan, deployment, book)
        raise
    if endpoint.state in {"deleted", "failed"} and endpoint.billing is False:  # made for one task, it has ended itself
        book.deployments.ended(deployment, endpoint.reason)
        return _deployed(endpoint, plan, deployment, book, cloud, already=False)
    book.deployments.active(deployment)
    if endpoint.ref != str(plan.ref):
        book.deployments.placed(deployment, EndpointRef.parse(endpoint.ref))
    history.saw(book, endpoint)
    return _deployed(endpoint, plan, deployment, book, cloud, already=False)


def _tried(book: Book, deployment: str) -> tuple[Attempt, ...]:
    """The places that were asked, as a cloud that walks several remembers them."""
    return tuple(
        Attempt(
            where=str(one.get("zone") or one.get("region", "")),
            types=", ".join(one["types"]) if isinstance(one.get("types"), list) else str(one.get("type", "")),
            waited_seconds=one.get("waited_seconds"),
            code=str(one.get("code", "")),
            said=quoted(str(one.get("said", "")), 240),
        )
        for one in book.facts(deployment).get("attempts", [])
        if one.get("kind")
    )


def _not_deployed(
    error: CloudError | Cancelled, tried: tuple[Attempt, ...], plan: DeploymentPlan, deployment: str, book: Book
) -> Deployed:
    """The plain account: where it was asked, what was answered, what is left."""
    made = tuple(str(step.call) for step in book.steps(deployment) if step.state in {"intent", "done"})
    over = bool(book.facts(deployment).get("ended"))
    remains = () if over else made
    places = ", ".join(dict.fromkeys(f"{one.where} said {one.code}" for one in tried))
    rest = f"{len(remains)} parts may remain" if remains else "nothing remains and nothing was billed"
    return Deployed(
        headline=f"Not deployed: {places}; {rest}.",
        endpoint=str(plan.ref),
        state="failed",
        already_there=False,
        deployment=deployment,
        model=plan.spec.model,
        billing=None if remains else False,
        left_out=plan.left_out,
        tried=tried,
        remains=remains,
        notes=(f"Kept for the next try, at no cost: {', '.join(dict.fromkeys(made))}.",) if over and made else (),
        next=(f"`delete_endpoint` with {plan.ref} removes what remains. " if remains else "")
        + (error.fix if isinstance(error, CloudError) else "the same call again starts over."),
    )


def _found(service: EndpointService, plan: DeploymentPlan) -> Endpoint | None:
    try:
        return service.get(plan.ref)
    except NotFound:
        return None


def _deployed(
    endpoint: Endpoint, plan: DeploymentPlan, deployment: str, book: Book, cloud: Cloud, *, already: bool
) -> Deployed:
    seconds, basis = history.expected(book, endpoint)
    listed = endpoint.price or plan.price
    price = planning.price_words(listed, cloud)
    ends = f", ends {endpoint.expires[:16].replace('T', ' ')} UTC" if endpoint.expires else ""
    over = endpoint.state in {"deleted", "failed"} and endpoint.billing is False and not already
    verb = "Already there:" if already else "Over:" if over else "Deploying"
    return Deployed(
        headline=f"{verb} `{endpoint.ref}`: {price}{ends}; it is {endpoint.state.replace('_', ' ')}.",
        endpoint=endpoint.ref,
        state=endpoint.state,
        already_there=already,
        deployment=deployment,
        model=endpoint.model or plan.spec.model,
        billing=endpoint.billing,
        usd_per_hour=listed.amount if listed else None,
        worst_usd_per_hour=plan.worst_usd_per_hour,
        expires=endpoint.expires,
        expected_seconds=seconds,
        expected_from=basis,
        url=history.openai_base(endpoint.url),
        key_file=endpoint.key_file,
        made=tuple(str(step.call) for step in book.steps(deployment) if step.state == "done"),
        left_out=plan.left_out,
        notes=(*((endpoint.reason,) if over else ()), *plan.warnings, *_for_an_editor(endpoint)),
        next="`list_runs` shows what it left."
        if over
        else f'`get_endpoint("{endpoint.ref}")` until it is ready.'
        if endpoint.state != "ready"
        else "`query_model` or `measure_model`.",
    )


def _for_an_editor(endpoint: Endpoint) -> tuple[str, ...]:
    if not (endpoint.url and endpoint.key_file):
        return ()
    return (
        f"For your own editor: OpenAI base URL {history.openai_base(endpoint.url)}, the key is in {endpoint.key_file}.",
    )


DEPLOY_ENDPOINT = Tool(deploy_endpoint, title="Deploy endpoint", effect=Effect.WRITE, long=True)
