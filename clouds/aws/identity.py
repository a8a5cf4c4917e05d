"""Who we are on AWS, by which kind of credential, and whether it renews. No secret is read into a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clouds.aws import session as sessions
from clouds.aws.words import profile_named
from clouds.models import Call, Identity, Scope

if TYPE_CHECKING:
    from clouds.aws.api import AwsApi

CALLER = Call("sts", "GetCallerIdentity")
READS = (CALLER,)
# How botocore names its providers -> what a person calls it, and how it renews (botocore 1.44.8, 2026-11-29).
_KINDS: Mapping[str, tuple[str, str]] = {
    "env": ("keys in the environment", "does not renew: it stands in the environment until somebody changes it"),
    "login": ("sign-in of `aws login`", "renews itself until the sign-in session ends"),
    "sso": ("IAM Identity Center", "renews itself until the sign-in session ends"),
    "shared-credentials-file": ("keys in the credentials file", "does not renew; a change of the file is picked up"),
    "config-file": ("keys in the config file", "does not renew; a change of the file is picked up"),
    "assume-role": ("assumed role", "renews itself as long as its source does"),
    "assume-role-with-web-identity": ("role by web identity", "renews itself from its token file"),
    "custom-process": ("credential process", "renews itself by running the process again"),
    "container-role": ("role of this container", "renews itself"),
    "iam-role": ("role of this machine", "renews itself"),
    "explicit": ("recorded answers", "is not needed: nothing is sent"),
}


class AwsIdentity:
    """The identity reader of AWS."""

    def __init__(self, api: AwsApi) -> None:
        """Nothing is read before the first question."""
        self._api = api

    def read(self) -> Identity:
        """Raises NotSignedIn or CredentialExpired with the one thing to do."""
        region = self._api.region
        caller = self._api.send(CALLER, scope=Scope(region))
        credentials = self._api.session.get_credentials()
        method = str(getattr(credentials, "method", "") or "explicit")
        kind, renews = _KINDS.get(method, (method, "is not known"))
        details = {"profile": profile_named() or "default", "credential source": method}
        if sessions.token_set_aside():
            details["environment"] = f"a session token stands there and is set aside ({sessions.IGNORE})"
        elif method == "env" and sessions.token_in_environment():
            kind = "session token in the environment"
            renews = "cannot renew: it is a copy that ends on its own, and it outranks any login of this machine"
            details["environment"] = f"to use the login instead, unset the AWS_* keys or set {sessions.IGNORE}=1"
        if caller["Arn"].endswith(":root"):
            details["warning"] = "this is the account's root user, which may do everything"
        return Identity(
            principal=caller["Arn"],
            account=caller["Account"],
            kind=kind,
            renews=renews,
            location=region,
            details=details,
        )
