"""list_endpoints and get_endpoint: what is there, and what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, get_args

from pydantic import Field

from clouds.base import Cloud
from clouds.errors import CloudError, InvalidInput, NotInstalled, NotSignedIn
from clouds.models import Endpoint, EngineFacts, Hardware, Phase, Read, Record, Scope, State, Unread
from tools import history
from tools.context import Clouds, Target
from tools.figures import duration, few
from tools.fitting import bounded
from tools.ledger import Book
from tools.registry import Effect, Tool
from tools.result import Result, capped


class Row(Record):
    """One endpoint in a list."""

    endpoint: str
    state: str
    billing: str
    model: str = ""
    usd_per_hour: float | None = None
    spent_usd: str = ""
    expires: str = ""
    reason: str = ""


class EndpointList(Result):
    """Everything of ours that exists or may exist, with its totals."""

    count: int
    billing: int
    usd_per_hour_total: float
    spent_usd: Mapping[str, str] = {}
    """So far, over everything that has a price, ended or not: `all` and `today` (UTC), whatever the filter."""
    by_state: Mapping[str, int]
    filter: Mapping[str, str]
    complete: bool
    showing: str = ""
    rows: tuple[Row, ...] = ()
    unread: tuple[Unread, ...] = ()
    not_looked_at: tuple[str, ...] = ()
    """Clouds without a sign-in, or without their packages, in which the ledger knows of nothing."""


def list_endpoints(
    clouds: Clouds,
    book: Book,
    cloud: Annotated[str, Field(description="only this cloud", max_length=20)] = "",
    state: Annotated[str, Field(description="only this state", max_length=30)] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
) -> EndpointList:
    """List every endpoint of ours: in the clouds, in the ledger, and what a crash left unknown; with totals."""
    if state and state not in get_args(State):
        states = get_args(State)
        raise InvalidInput("state", f"{state!r} is not a state", fix=f"States: {', '.join(states)}.", allowed=states)
    names = (clouds.get(cloud).name,) if cloud else clouds.names
    there = _there(clouds, names, book, asked=bool(cloud))
    kept = sorted(
        (each for each in there.found.values() if not state or each.state == state), key=lambda each: each.ref
    )
    rows = [_row(endpoint, book) for endpoint in kept]
    late = [endpoint for endpoint in kept if history.overdue(endpoint)]
    chosen = {key: value for key, value in (("cloud", cloud), ("state", state)) if value}
    total = sum(row.usd_per_hour or 0.0 for row in rows if row.billing == "yes")
    shown, showing = capped(rows, limit)
    return EndpointList(
        headline=_headline(rows, total, tuple(chosen.values()), there, late),
        count=len(rows),
        billing=sum(row.billing == "yes" for row in rows),
        usd_per_hour_total=round(total, 4),
        spent_usd=history.totals(book, there.found.values()),
        by_state=dict(sorted(Counter(row.state for row in rows).items())),
        filter=chosen,
        complete=not there.unread and not there.closed,
        showing=showing,
        rows=shown,
        unread=tuple(there.unread[:10]),
        not_looked_at=tuple(there.closed),
        next=_next_of_list(rows, there, late),
    )


@dataclass
class _There:
    """What looking everywhere gave: by reference, what could not be read, and clouds that nothing could sign in to."""

    found: dict[str, Endpoint] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)


def _there(clouds: Clouds, names: tuple[str, ...], book: Book, *, asked: bool) -> _There:
    """Everything of ours in these clouds and in the ledger; `asked`: the person named the cloud."""
    there = _There()
    ours = {each.ref.split(":")[0] for each in book.deployments.live()}
    for name in names:
        try:
            read = _read(clouds.get(name))
        except CloudError as error:
            # Without a way in and without anything of ours in the ledger there is nothing to look at, and it is said.
            if isinstance(error, NotSignedIn | NotInstalled) and name not in ours and not asked:
                there.closed.append(f"{name} ({error.kind.replace('_', ' ')})")
            else:
                there.unread.append(Unread(call=f"{name}: list", scope="everywhere", reason=str(error)[:200]))
            continue
        there.found.update({endpoint.ref: endpoint for endpoint in read.found})
        there.unread.extend(read.unread)
    for ref, endpoint in there.found.items():
        history.saw(book, endpoint)
        there.found[ref] = history.as_judged(book, endpoint)
    _add_unknown(there.found, names, book)
    return there


def _headline(rows: Sequence[Row], total: float, chosen: Sequence[str], there: _There, late: Sequence[Endpoint]) -> str:
    billing = Counter(row.billing for row in rows)
    said = f"{len(rows)} endpoint{'' if len(rows) == 1 else 's'}" + (f" ({', '.join(chosen)})" if chosen else "")
    said += f", {billing['yes']} billing by the hour" + (f" at ${total:,.4g} an hour" if total else "")
    said += f", {billing['unknown']} of which nobody knows" if billing["unknown"] else ""
    said += f"; not looked at: {', '.join(there.closed)}" if there.closed else ""
    said += "; NOT everything could be read" if there.unread else ""
    if late:
        sure = "" if all(endpoint.billing for endpoint in late) else "perhaps "
        said += f"; past its end and {sure}billing: {few([endpoint.ref for endpoint in late], 3)}"
    return said + "."


def _next_of_list(rows: Sequence[Row], there: _There, late: Sequence[Endpoint]) -> str:
    if late:
        return history.ends_it(late[0].ref)
    if rows:
        return ""
    return "see what could not be read." if there.unread else "deploy_endpoint makes one."


def _read(cloud: Cloud) -> Read[Endpoint]:
    """All services of one cloud; one that fails is unread and the others go on. Raises NotSignedIn."""
    if (nothing := cloud.signed_out()) is not None:
        raise nothing
    found: list[Endpoint] = []
    unread: list[Unread] = []
    for word, service in cloud.endpoints.items():
        try:
            read = service.list(scope=Scope())
        except NotSignedIn:
            raise
        except CloudError as error:
            unread.append(Unread(call=f"{cloud.name}:{word} list", scope="everywhere", reason=str(error)[:200]))
            continue
        found.extend(read.found)
        unread.extend(read.unread)
    return Read(tuple(found), tuple(unread))


def _add_unknown(found: dict[str, Endpoint], names: tuple[str, ...], book: Book) -> None:
    """What the ledger began and no cloud showed: it may exist, so it is listed until reading says it does not."""
    for deployment in book.deployments.live():
        if deployment.ref in found or deployment.ref.split(":")[0] not in names:
            continue
        pending = [str(step.call) for step in book.unresolved(deployment.id)]
        found[deployment.ref] = Endpoint(
            ref=deployment.ref,
            state="unknown",
            cloud_status="in the ledger, not shown by the cloud",
            billing=None,
            model=deployment.spec.model,
            reason=f"begun and without result: {', '.join(pending)}" if pending else "no trace of it was found",
            deployment=deployment.id,
        )


def _row(endpoint: Endpoint, book: Book) -> Row:
    return Row(
        endpoint=endpoint.ref,
        state=endpoint.state,
        billing={True: "yes", False: "no", None: "unknown"}[endpoint.billing],
        model=endpoint.model,
        usd_per_hour=endpoint.price.amount if endpoint.price else None,
        spent_usd=history.spent_on(book, endpoint),
        expires=endpoint.expires,
        reason=bounded(
            "; ".join(part for part in (history.overdue(endpoint), " ".join(endpoint.reason.split())) if part), 160
        ),
    )


class EndpointView(Result):
    """One endpoint as it is now."""

    endpoint: str
    state: str
    cloud_status: str
    billing: str
    model: str
    reason: str = ""
    url: str = ""
    key_file: str = ""
    created: str = ""
    expires: str = ""
    left_seconds: float | None = None
    usd_per_hour: float | None = None
    spent_usd: str = ""
    expected_seconds: float | None = None
    expected_from: str = ""
    phases: tuple[Phase, ...] = ()
    engine: EngineFacts | None = None
    hardware: Hardware | None = None


def get_endpoint(ref: Target, book: Book) -> EndpointView:
    """State, phases, engine facts, cost so far and end of one endpoint. Generates no token and wakes nothing."""
    service, place = ref.ours()
    found = service.get(place)
    endpoint, over = history.as_judged(book, found), _over(found)
    row = _row(endpoint, book)
    left = None if over else history.seconds_left(endpoint.expires)
    phases = () if endpoint.state == "updating" else endpoint.phases  # those of the engine that is being replaced
    waiting = endpoint.state in history.STARTING
    seconds, basis = history.expected(book, endpoint) if waiting else (None, "")
    history.saw(book, endpoint)
    parts = [f"`{endpoint.ref}` is {endpoint.state.replace('_', ' ')}"]
    if phases:
        parts.append(": " + ", ".join(f"{phase.name} {duration(phase.seconds)}" for phase in phases))
    costs = f"{row.spent_usd} so far" if row.spent_usd else ""
    tail = ", ".join(part for part in (costs, _end_of(endpoint, left)) if part)
    return EndpointView(
        headline="".join(parts) + "." + (f" {tail[0].upper()}{tail[1:]}." if tail else ""),
        endpoint=endpoint.ref,
        state=endpoint.state,
        cloud_status=endpoint.cloud_status,
        billing=row.billing,
        model=endpoint.model,
        reason=bounded(endpoint.reason, 600),
        url=history.openai_base(endpoint.url),
        key_file=endpoint.key_file,
        created=endpoint.created,
        expires=endpoint.expires,
        left_seconds=None if left is None else max(0, round(left)),
        usd_per_hour=row.usd_per_hour,
        spent_usd=row.spent_usd,
        expected_seconds=seconds,
        expected_from=basis,
        phases=phases,
        engine=endpoint.engine,
        hardware=endpoint.hardware,
        next=_next_of_one(endpoint),
    )


def _over(endpoint: Endpoint) -> bool:
    """Whether it has ended already, so that no end lies before it: what failed and may still bill has not."""
    return endpoint.state in {"stopped", "deleted"} or (endpoint.state == "failed" and endpoint.billing is False)


def _end_of(endpoint: Endpoint, left: float | None) -> str:
    if left is None:
        return ""
    if left > 0:
        return f"ends in {duration(left)}"
    late = history.overdue(endpoint)
    return f"its time has been {late}" if late else "its time is over"


def _next_of_one(endpoint: Endpoint) -> str:
    if history.overdue(endpoint):
        return history.ends_it(endpoint.ref)
    if endpoint.state == "ready":
        return "`query_model`, `measure_model` or `delete_endpoint`."
    if endpoint.state in history.STARTING:
        return "`get_endpoint` again."
    return f'`get_endpoint_logs("{endpoint.ref}")`.'


LIST_ENDPOINTS = Tool(list_endpoints, title="List endpoints", effect=Effect.READ)
GET_ENDPOINT = Tool(get_endpoint, title="Get endpoint", effect=Effect.READ, aliases={"endpoint": "ref"})
