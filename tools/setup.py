"""check_setup: what is installed, who is signed in where, which settings apply and where they come from."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from clouds.base import Missing, Progress
from clouds.errors import CloudError, CredentialExpired, InvalidInput, NotSignedIn
from clouds.models import Record
from clouds.models.waste_pack import WastePack
from tools import environment, faults
from tools.context import Clouds
from tools.ledger import Book
from tools.registry import Effect, Tool
from tools.result import Result, render
from tools.settings import KNOWN, Settings
from tools.waste.probing import Probed, probe

ORDER = (
    "check_setup",
    "deploy_endpoint",
    "get_endpoint until ready",
    "query_model",
    "measure_model",
    "compare_runs",
    "delete_endpoint",
    "and for waste: scan_waste",
    "explain_finding",
    "plan_cleanup",
    "apply_cleanup",
)


class CloudState(Record):
    """One cloud: who we are in it and what it can do here, or why not."""

    cloud: str
    signed_in: bool | None = None
    principal: str = ""
    account: str = ""
    kind: str = ""
    renews: str = ""
    services: tuple[str, ...] = ()
    missing: str = ""
    problem: str = ""


class SettingValue(Record):
    """One resolved setting."""

    setting: str
    value: str
    origin: str
    meaning: str


class PackageState(Record):
    """One set of packages that tools need."""

    packages: str
    state: str
    detail: str = ""


class Setup(Result):
    """The state of this installation."""

    version: str
    python: str
    platform: str
    data_directory: str
    project: str
    clouds: tuple[CloudState, ...]
    packages: tuple[PackageState, ...]
    settings: tuple[SettingValue, ...]
    order_of_work: tuple[str, ...]
    active_deployments: int
    unresolved_steps: int
    waste_scan: tuple[Probed, ...] = ()
    least_policy: Mapping[str, str] = {}

    def short(self) -> str:
        """Policies that are too long for a text are named by the files that hold them."""
        if not self.least_policy:
            return self.body()
        files = ", ".join(str(faults.ROOT / "policy" / f"{cloud}-scanner.json") for cloud in self.least_policy)
        return (
            f"{render(self, leave_out=('headline', 'notes', 'next', 'least_policy'))}\n\n"
            f"least policy: too long to be shown here; whole in the structured result (--json) and in {files}"
        )


def check_setup(
    clouds: Clouds,
    settings: Settings,
    book: Book,
    progress: Progress,
    sign_in: Annotated[bool, Field(description="ask each cloud who we are (network)")] = True,
    deep: Annotated[bool, Field(description="also try what scan_waste reads, and give its least policy")] = False,
) -> Setup:
    """What is installed, who is signed in where, each setting with its origin, and the order of work."""
    states = tuple(_cloud(clouds, name, sign_in=sign_in) for name in clouds.names)
    packages = tuple(
        PackageState(
            packages=name,
            state=str(state["state"]),
            detail=_detail(state),
        )
        for name, state in environment.status().items()
    )
    ready = [state.cloud for state in states if state.signed_in]
    broken = [state.cloud for state in states if state.problem and sign_in]
    waiting = [state.packages for state in packages if state.state not in {"installed", "absent"}]
    headline = f"modelrig is ready on {', '.join(ready) or 'no cloud'}" if sign_in else "No cloud was asked who we are"
    headline += f"; not on {', '.join(broken)}" if broken else ""
    scanned = tuple(filter(None, (probe(clouds.get(name), progress) for name in ready))) if deep else ()
    lacking = sum(len(each.denied) for each in scanned)
    headline += f"; a waste scan lacks {lacking} permissions" if lacking else ""
    kept, wrong = _kept(clouds, settings, book)
    headline += "; a waste scan is refused: see the notes" if wrong else ""
    headline += f"; still installing or failed: {', '.join(waiting)}" if waiting else ""
    return Setup(
        headline=headline + ".",
        version=environment.version(),
        python=f"{platform.python_version()} at {sys.prefix}",
        platform=f"{platform.system()} {platform.machine()}",
        data_directory=str(book.home),
        project=str(settings.project),
        clouds=states,
        packages=packages,
        settings=tuple(
            SettingValue(
                setting=name,
                value=(", ".join(map(str, value.value)) if isinstance(value.value, tuple) else str(value.value))
                or "not set",
                origin=value.origin,
                meaning=KNOWN[name][2],
            )
            for name, value in settings.values.items()
        ),
        order_of_work=ORDER,
        active_deployments=len(book.deployments.live()),
        unresolved_steps=len(book.unresolved()),
        waste_scan=scanned,
        least_policy={each.cloud: waste.policy() for each in scanned if (waste := _waste(clouds, each.cloud))},
        notes=kept,
        next=_next(clouds, ready) if sign_in else "check_setup without sign_in=false says who is signed in where.",
    )


def _detail(state: Mapping[str, Any]) -> str:
    """What is known of a set of packages, with the command that installs what is not there."""
    told = str(state.get("detail", ""))
    lacking = state["state"] in {"absent", "failed"} and state.get("fix")
    return f"{told}. {state['fix']}".lstrip(". ") if lacking else told


def _next(clouds: Clouds, ready: list[str]) -> str:
    if not ready:
        return "mend what is named under problem."
    scanned = any(_waste(clouds, name) for name in ready)
    return f"deploy_endpoint on one of them{', or scan_waste' if scanned else ''}."


def _kept(clouds: Clouds, settings: Settings, book: Book) -> tuple[tuple[str, ...], bool]:
    """A sentence on what the project's file has waste scans leave alone, and whether a scan would refuse it."""
    from tools.waste import exceptions, scanning

    try:
        keeps = exceptions.load(settings.project, scanning.known_ids(clouds))
    except InvalidInput as error:
        return (f"{error}. {error.fix}",), True
    if not keeps:
        return (), False
    late = sum(keep.expires < book.clock().date() for keep in keeps)
    return (f"{exceptions.FILE}: {len(keeps)} [[waste.keep]], {late} of them expired.",), False


def _waste(clouds: Clouds, name: str) -> WastePack | None:
    waste = clouds.get(name).waste
    return None if isinstance(waste, Missing) else waste


def _cloud(clouds: Clouds, name: str, *, sign_in: bool) -> CloudState:
    try:
        cloud = clouds.get(name)
        ports = {"quotas": cloud.quotas, "capacity": cloud.capacity, "prices": cloud.prices}
        missing = "; ".join(f"{port}: {each.why}" for port, each in ports.items() if isinstance(each, Missing))
        services = tuple(cloud.endpoints)
        if not sign_in:
            return CloudState(cloud=name, services=services, missing=missing, problem="not asked")
        who = cloud.identity.read()
    except CloudError as error:
        nobody = False if isinstance(error, NotSignedIn | CredentialExpired) else None  # else it is not known
        return CloudState(cloud=name, signed_in=nobody, problem=faults.sentence(faults.fault(error)).replace("**", ""))
    return CloudState(
        cloud=name,
        signed_in=True,
        principal=who.principal,
        account=who.account,
        kind=who.kind,
        renews=who.renews,
        services=services,
        missing=missing,
    )


CHECK_SETUP = Tool(check_setup, title="Check setup", effect=Effect.READ)
