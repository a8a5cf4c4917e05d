"""What every plan asks first: who we are, in which regions to look, and whether the name is free there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clouds.aws.api import AwsApi, region_of
from clouds.aws.words import profile_named
from clouds.errors import InvalidInput
from clouds.models import Call, DeploymentSpec, Scope

CALLER = Call("sts", "GetCallerIdentity")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")


@dataclass(frozen=True)
class Caller:
    """The account, and a word for whoever asks (the last part of the ARN), for the owner's tag."""

    account: str
    owner: str
    profile: str


def caller(api: AwsApi, region: str) -> Caller:
    """Raises NotSignedIn and CredentialExpired, with the one thing to do."""
    answer = api.send(CALLER, scope=Scope(region))
    return Caller(str(answer["Account"]), str(answer["Arn"]).rsplit("/", 1)[-1], profile_named())


def check_name(name: str, longest: int) -> None:
    """Raises InvalidInput for a name that some part of a deployment could not carry."""
    if not _NAME.fullmatch(name) or len(name) > longest:
        raise InvalidInput(
            "name",
            f"{name[:80]!r} cannot be an endpoint's name here",
            fix=f"Use 1 to {longest} of a-z, 0-9 and -, beginning and ending with a letter or digit.",
        )


def check_numbers(spec: DeploymentSpec) -> None:
    """Raises InvalidInput for a ceiling or an end that makes no sense."""
    if not spec.max_usd_per_hour > 0:
        raise InvalidInput(
            "max_usd_per_hour", f"{spec.max_usd_per_hour} is not above 0", fix="Give a ceiling in $ an hour."
        )
    if not 1 / 12 <= spec.ttl_hours <= 24 * 30:
        raise InvalidInput("ttl_hours", f"{spec.ttl_hours:g} is not from 0.0834 to 720", fix="Give hours; 4 is usual.")


def check_copies(asked: int, accelerators: int) -> None:
    """Raises InvalidInput where one copy is to span more accelerators than there are: the engine ends, and bills."""
    if asked > accelerators:
        several = "accelerator" if accelerators == 1 else "accelerators"
        raise InvalidInput(
            "tensor_parallel_size", f"{asked} is more than the {accelerators} {several} of the instance",
            fix="Leave it out to use all of them, or take a type with more.",
        )  # fmt: skip


def regions(spec: DeploymentSpec, api: AwsApi) -> tuple[str, ...]:
    """Where to try, in order: the one that was named, else the list, else the configured region."""
    named = (spec.location,) if spec.location else spec.regions or (api.region,)
    return tuple(dict.fromkeys(region_of(one) for one in named))
