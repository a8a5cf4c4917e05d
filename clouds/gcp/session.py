"""Who signs our requests, and for which project. Nothing is read before the first use; google-auth is imported then.

The order is Google's own (Application Default Credentials): GOOGLE_APPLICATION_CREDENTIALS, the file of `gcloud auth
application-default login`, the machine's service account. We look ourselves, because google-auth starts `gcloud` to
learn the project (0.5 to 1 s) and asks a metadata service that is not there for seconds (google-auth 2.63.0,
2026-11-29).
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from clouds.errors import CloudError, CredentialExpired, InvalidInput, NotInstalled, NotSignedIn, Unreachable, packages
from clouds.gcp.words import REMEDIES, SIGN_IN

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
FALLBACK_LOCATION = "us-central1"
FORGOTTEN_AFTER = 5.0
"""Seconds after which a renewal that failed is tried again."""
PRODUCT = Path("/sys/class/dmi/id/product_name")
RECORDED = "modelrig-demo"
"""The project of a replay where none is named."""
_PROJECTS = ("MODELRIG_GCP_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT")
_LOCATIONS = ("MODELRIG_GCP_LOCATION", "CLOUDSDK_COMPUTE_ZONE", "CLOUDSDK_COMPUTE_REGION")
_CREDENTIALS = "GOOGLE_APPLICATION_CREDENTIALS"
Transport = Callable[..., Any]


@dataclass(frozen=True)
class Source:
    """Where a credential comes from: `kind` is Google's word in the file, or "metadata", or "recorded"."""

    kind: str
    place: str = ""
    info: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass
class Session:
    """One credential and one project. Its token is shared by all threads and renewed by one at a time."""

    source: Source
    project: str
    project_from: str
    location: str
    credentials: Any = field(default=None, repr=False)
    stamp: str = ""
    _lock: Any = field(default_factory=Lock, repr=False)
    _failed: tuple[float, CloudError] | None = field(default=None, repr=False)

    def headers(self, transport: Transport, *, renew: str = "") -> dict[str, str]:
        """What signs a request; `renew` is a token that was refused. Raises NotSignedIn, CredentialExpired."""
        if self.credentials is None:
            return {}
        with self._lock:
            if not self.credentials.valid or (renew and renew == self.credentials.token):
                self._renew(transport)
            found = {"Authorization": f"Bearer {self.credentials.token}"}
        if quota := getattr(self.credentials, "quota_project_id", None):
            found["x-goog-user-project"] = str(quota)
        return found

    def _renew(self, transport: Transport) -> None:
        """Renew the token; what failed a moment ago is not tried again by every thread that waits for it."""
        if self._failed is not None and time.monotonic() - self._failed[0] < FORGOTTEN_AFTER:
            raise self._failed[1].with_traceback(None)
        try:
            _refreshed(self.credentials, transport, self.source)
        except CloudError as error:
            self._failed = (time.monotonic(), error)
            raise
        self._failed = None


def build() -> Session:
    """A session for the person who runs us. Reads files and the environment; no network.

    Raises NotSignedIn when there is no credential, NotInstalled without google-auth.
    """
    source = find()
    if source is None:
        raise nobody()
    project, origin = project_of(source)
    return Session(source, project, origin, location(), _credentials(source), stamp())


def recorded() -> Session:
    """A session that answers from recordings: no person's files, no credential."""
    named = next((os.environ[name] for name in _PROJECTS if os.environ.get(name)), RECORDED)
    return Session(Source("recorded"), named, "the recording", os.environ.get(_LOCATIONS[0]) or FALLBACK_LOCATION)


def nobody() -> NotSignedIn:
    """What to say where nothing could sign in."""
    return NotSignedIn(
        "signing in to Google Cloud", answered="no credential is set up on this machine", fix=SIGN_IN, sent=False
    )


def find(environ: Mapping[str, str] | None = None) -> Source | None:
    """The credential that Google's libraries would take; None where there is none.

    Raises NotSignedIn for a file that is named and cannot be used.
    """
    environ = os.environ if environ is None else environ
    named = environ.get(_CREDENTIALS, "")
    if named:
        return _file(Path(named).expanduser(), _CREDENTIALS)
    usual = gcloud(environ) / "application_default_credentials.json"
    if usual.is_file():
        return _file(usual, "gcloud")
    return Source("metadata") if on_google(environ) else None


def on_google(environ: Mapping[str, str] | None = None, product: Path | None = None) -> bool:
    """Whether this is a machine of Google's, by what it says itself: asking elsewhere costs seconds."""
    environ = os.environ if environ is None else environ
    if environ.get("GCE_METADATA_HOST") or environ.get("K_SERVICE") or environ.get("CLOUD_RUN_JOB"):
        return True
    try:
        return "Google" in (product or PRODUCT).read_text("ascii", errors="replace")
    except OSError:
        return False


def gcloud(environ: Mapping[str, str] | None = None) -> Path:
    """The folder of gcloud's settings."""
    environ = os.environ if environ is None else environ
    if named := environ.get("CLOUDSDK_CONFIG"):
        return Path(named)
    if os.name == "nt" and environ.get("APPDATA"):
        return Path(environ["APPDATA"]) / "gcloud"
    return Path.home() / ".config" / "gcloud"


def project_of(source: Source, environ: Mapping[str, str] | None = None) -> tuple[str, str]:
    """The project, and where that was said. Both empty where nobody says one."""
    environ = os.environ if environ is None else environ
    for name in _PROJECTS:
        if environ.get(name):
            return environ[name], f"{name} in the environment"
    configured = _configured(environ, "core", "project")
    own = str(source.info.get("project_id") or "")
    if source.kind == "service_account" and own:
        return own, "the key file of the service account"
    if configured:
        return configured, "gcloud's active configuration"
    if quota := str(source.info.get("quota_project_id") or ""):
        return quota, "the quota project of the sign-in"
    return ("", "the metadata service") if source.kind == "metadata" else ("", "")


def location(environ: Mapping[str, str] | None = None) -> str:
    """The zone or region where nothing else is said."""
    environ = os.environ if environ is None else environ
    named = next((environ[name] for name in _LOCATIONS if environ.get(name)), "")
    found = named or _configured(environ, "compute", "zone") or _configured(environ, "compute", "region")
    return found or FALLBACK_LOCATION


def stamp(environ: Mapping[str, str] | None = None) -> str:
    """Changes when anything changes that a person signs in with."""
    environ = os.environ if environ is None else environ
    folder = gcloud(environ)
    places = [folder / "application_default_credentials.json", folder / "active_config"]
    places += [Path(environ[_CREDENTIALS]).expanduser()] if environ.get(_CREDENTIALS) else []
    files = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in places if path.exists()]
    names = sorted((n, v) for n, v in environ.items() if n.startswith(("GOOGLE_", "CLOUDSDK_", "MODELRIG_GCP_")))
    return hashlib.sha256(repr((files, names)).encode()).hexdigest()


def _configured(environ: Mapping[str, str], section: str, option: str) -> str:
    import configparser

    folder = gcloud(environ)
    try:
        active = environ.get("CLOUDSDK_ACTIVE_CONFIG_NAME") or (folder / "active_config").read_text("utf-8").strip()
    except OSError:
        active = "default"
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(folder / "configurations" / f"config_{active}", "utf-8")
        return parser.get(section, option, fallback="")
    except (configparser.Error, OSError, ValueError):
        return ""


def _file(path: Path, place: str) -> Source:
    try:
        info = json.loads(path.read_text("utf-8"))
        kind = str(info["type"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotSignedIn(
            "reading the credential file",
            answered=f"{path.name} ({place}) is not a credential of Google's: {type(error).__name__}",
            fix=f"Correct {_CREDENTIALS}, or unset it and sign in: {SIGN_IN}" if place == _CREDENTIALS else SIGN_IN,
            sent=False,
        ) from error
    return Source(kind, place, info)


def _credentials(source: Source) -> Any:
    try:
        return _made(source)
    except ImportError as error:
        raise NotInstalled(
            "signing in to Google Cloud", answered=str(error), sent=False,
            fix=packages("gcp"),
        ) from error  # fmt: skip
    except (ValueError, KeyError, TypeError) as error:  # google-auth's MalformedError is a ValueError too
        raise NotSignedIn(
            "reading the credential file", answered=f"it lacks something: {type(error).__name__}", fix=SIGN_IN,
            sent=False,
        ) from error  # fmt: skip


def _made(source: Source) -> Any:
    info = dict(source.info)
    match source.kind:
        case "authorized_user":
            from google.oauth2.credentials import Credentials as User

            made = User.from_authorized_user_info(info)  # type: ignore[no-untyped-call]
            quota = info.get("quota_project_id")
            return made.with_quota_project(quota) if quota else made
        case "service_account":
            from google.oauth2.service_account import Credentials as Account

            return Account.from_service_account_info(info, scopes=[SCOPE])  # type: ignore[no-untyped-call]
        case "impersonated_service_account":
            from google.auth.impersonated_credentials import Credentials as Impersonated

            return Impersonated.from_impersonated_service_account_info(info, scopes=[SCOPE])  # type: ignore[no-untyped-call]
        case "external_account":
            return _federated(info)
        case "metadata":
            from google.auth.compute_engine import Credentials as Machine

            return Machine()  # type: ignore[no-untyped-call]
    raise InvalidInput(
        "credential", f"a credential of type {source.kind[:40]!r} is not known", fix=f"Sign in another way: {SIGN_IN}"
    )


def _federated(info: dict[str, Any]) -> Any:
    from google.auth import aws, identity_pool, pluggable

    given = info.get("credential_source") or {}
    if str(info.get("subject_token_type", "")).endswith("aws4_request"):
        return aws.Credentials.from_info(info, scopes=[SCOPE])  # type: ignore[no-untyped-call]
    kind = pluggable.Credentials if "executable" in given else identity_pool.Credentials
    return kind.from_info(info, scopes=[SCOPE])  # type: ignore[no-untyped-call]


def _refreshed(credentials: Any, transport: Transport, source: Source) -> None:
    from google.auth import exceptions as its

    tried = "renewing the sign-in"
    try:
        credentials.refresh(transport)
    except its.RefreshError as error:
        # only Google's own first words: what follows them is the whole answer
        said = str(error.args[0] if error.args else error)[:200]
        raise CredentialExpired(tried, answered=said, code="RefreshError", fix=_again(source), sent=False) from None
    except its.TransportError as error:
        raise Unreachable(
            tried, answered=str(error)[:200], code="TransportError", fix=REMEDIES["unreachable"], sent=False
        ) from None
    except its.GoogleAuthError as error:
        raise NotSignedIn(
            tried, answered=str(error)[:200], code=type(error).__name__, fix=_again(source), sent=False
        ) from None


def _again(source: Source) -> str:
    if source.kind == "service_account":
        return f"The key is no longer valid: make a new one, or unset {_CREDENTIALS} and sign in yourself. {SIGN_IN}"
    if source.kind == "metadata":
        return "Give this machine a service account with the cloud-platform scope, then repeat this call."
    return SIGN_IN
