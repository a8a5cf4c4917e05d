"""Which regions a question is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clouds.aws.api import region_of
from clouds.errors import CloudError, CredentialExpired, NotSignedIn
from clouds.models import Call, Scope, Unread

if TYPE_CHECKING:
    from clouds.aws.api import AwsApi

ENABLED = Call("ec2", "DescribeRegions")
DEFAULT = (
    *("us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "sa-east-1"),
    *("eu-central-1", "eu-west-1", "eu-west-2", "eu-west-3", "eu-north-1"),
    *("ap-south-1", "ap-southeast-1", "ap-southeast-2", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3"),
)
"""The 17 regions that every account has from its first day; others are enabled one by one (AWS docs, 2026-11-29)."""


def asked(api: AwsApi, scopes: Sequence[Scope]) -> tuple[tuple[str, ...], tuple[Unread, ...]]:
    """The regions of some scopes, each once; every enabled one when a scope names none.

    When the enabled ones cannot be read, the 17 default ones stand in and that is in the second value.
    Raises InvalidInput for a name that is no region, NotSignedIn and CredentialExpired.
    """
    if scopes and all(scope.location for scope in scopes):
        return tuple(dict.fromkeys(region_of(scope.location) for scope in scopes)), ()
    try:
        rows = api.send(ENABLED, scope=Scope(api.region))["Regions"]
    except (NotSignedIn, CredentialExpired):
        raise
    except CloudError as error:
        why = f"{error}; looked at the {len(DEFAULT)} regions that every account has"
        return DEFAULT, (Unread(call=str(ENABLED), scope="everywhere", reason=why),)
    found = [row["RegionName"] for row in rows if row.get("OptInStatus") != "not-opted-in"]
    return (*(region for region in DEFAULT if region in found), *sorted(set(found) - set(DEFAULT))), ()


def unread(call: Call, scope: str, error: CloudError) -> Unread:
    """One thing that could not be looked at, in AWS's own words."""
    return Unread(
        call=str(call),
        scope=scope,
        reason=": ".join(part for part in (error.code, error.answered) if part) or str(error),
    )
