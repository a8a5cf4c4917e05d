"""Who we are on Google Cloud, by which kind of credential, in which project and who said so. No secret is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from clouds.errors import CloudError, CredentialExpired, NotSignedIn, Unreachable
from clouds.models import Call, Identity, Scope

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi
    from clouds.gcp.session import Session

PERSON = Call("oauth2", "userinfo.get")
PROJECT = Call("cloudresourcemanager", "projects.get")
BILLING = Call("cloudbilling", "projects.getBillingInfo")
READS = (PERSON, PROJECT, BILLING)
# Google's word in a credential file -> what a person calls it, and how it renews (google-auth 2.63.0, 2026-11-29).
_KINDS: Mapping[str, tuple[str, str]] = {
    "authorized_user": (
        "sign-in of `gcloud auth application-default login`",
        "renews itself until it is revoked or the organisation asks for a new sign-in",
    ),
    "service_account": ("key of a service account", "renews itself from its key file, which does not end by itself"),
    "impersonated_service_account": ("service account by impersonation", "renews itself as long as its source does"),
    "external_account": ("workload identity federation", "renews itself as long as its source does"),
    "metadata": ("service account of this machine", "renews itself"),
    "recorded": ("recorded answers", "is not needed: nothing is sent"),
}


class GcpIdentity:
    """The identity reader of Google Cloud."""

    def __init__(self, api: GcpApi) -> None:
        """Nothing is read before the first question."""
        self._api = api

    def read(self) -> Identity:
        """Raises NotSignedIn or CredentialExpired with the one thing to do.

        A project that nobody named, or that cannot be read, is said in `details`: who is signed in is known anyway.
        """
        session = self._api.session
        project, details = self._project(session)
        with ThreadPoolExecutor(max_workers=3) as pool:
            principal = pool.submit(self._principal, session)
            asked = [pool.submit(self._tried, call, Scope(account=project)) for call in (PROJECT, BILLING) if project]
            who = principal.result()
            details |= _about(project, *(each.result() for each in asked))
        kind, renews = _KINDS.get(session.source.kind, (session.source.kind, "is not known"))
        return Identity(
            principal=who, account=project, kind=kind, renews=renews, location=session.location, details=details
        )

    def _project(self, session: Session) -> tuple[str, dict[str, str]]:
        details = {"credential source": session.source.place or session.source.kind}
        if quota := str(session.source.info.get("quota_project_id") or ""):
            details["quota project"] = quota
        try:
            project = self._api.project
        except CloudError as error:
            return "", details | {"warning": f"{error.fix} Until then every call needs a project."}
        return project, details | {"project from": session.project_from}

    def _principal(self, session: Session) -> str:
        """The e-mail address of who signs. A service account's stands in its file; a person's is asked for."""
        info = session.source.info
        match session.source.kind:
            case "service_account":
                return str(info.get("client_email") or "a service account")
            case "impersonated_service_account":
                found = re.search(r"/serviceAccounts/([^/:]+)", str(info.get("service_account_impersonation_url", "")))
                return found[1] if found else "a service account"
            case "metadata":
                return self._api.metadata("instance/service-accounts/default/email") or "this machine's service account"
            case "external_account":
                found = re.search(r"/serviceAccounts/([^/:]+)", str(info.get("service_account_impersonation_url", "")))
                return found[1] if found else f"federated identity of {str(info.get('audience', ''))[-80:]}"
        answer = self._tried(PERSON, Scope())
        if isinstance(answer, CloudError):
            return "a person whose sign-in does not tell the address"
        return str(answer.get("email") or answer.get("id") or "a person")

    def _tried(self, call: Call, scope: Scope) -> Any:
        """The answer, or the error where it only says that this one thing may not be read."""
        try:
            return self._api.send(call, scope=scope)
        except (NotSignedIn, CredentialExpired, Unreachable):
            raise
        except CloudError as error:
            return error


def _about(project: str, about: Any = None, bills: Any = None) -> dict[str, str]:
    found: dict[str, str] = {}
    if isinstance(about, CloudError):
        found["project"] = f"{project} could not be read: {about.answered or about}"
    elif about:
        found["project"] = f"{project} ({about.get('displayName') or project}), number {_number(about)}"
        if about.get("state") not in (None, "ACTIVE"):
            found["warning"] = f"the project's state is {about['state']}: nothing can be made in it"
    if isinstance(bills, Mapping) and bills.get("billingEnabled") is False:
        found["warning"] = f"{project} has no billing account: most APIs refuse it"
    return found


def _number(about: Mapping[str, Any]) -> str:
    return str(about.get("name", "")).removeprefix("projects/") or "unknown"
