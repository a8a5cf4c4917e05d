"""Builds the one private botocore session: which profile, which region, and what outranks a login.

botocore takes keys from the environment before anything else, also when AWS_PROFILE names a login (run with botocore
1.44.8, 2026-11-29). A session token among them is a copy that nothing renews: a server that stays up for hours would
fail with a fresh login beside it. A profile that is named to us explicitly ignores those keys.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from clouds.aws import parsing

if TYPE_CHECKING:
    from botocore.loaders import Loader
    from botocore.session import Session

IGNORE = "MODELRIG_AWS_IGNORE_ENV_TOKEN"
PROFILE = "MODELRIG_AWS_PROFILE"
FALLBACK_REGION = "us-east-1"
VENDOR = Path("/sys/class/dmi/id/sys_vendor")
_SOURCES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    PROFILE,
)
"""Variables of which one has to be set where a credential comes from the environment (botocore 1.44, 2026-11-29)."""
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


def token_in_environment(environ: Mapping[str, str] | None = None) -> bool:
    """Whether a static session token stands in the environment, whole enough for botocore to take it."""
    environ = os.environ if environ is None else environ
    return all(environ.get(key) for key in _KEYS)


def token_set_aside(environ: Mapping[str, str] | None = None) -> bool:
    """Whether that token is there and was asked to be left out."""
    environ = os.environ if environ is None else environ
    asked = environ.get(IGNORE, "").strip().lower() in ("1", "true", "yes", "on")
    return token_in_environment(environ) and asked


def build() -> Session:
    """A session for the person who runs us. Reads files and the environment; no network."""
    import botocore.session

    session = botocore.session.Session()
    if profile := os.environ.get(PROFILE, ""):
        session.set_config_variable("profile", profile)
    if token_set_aside():
        session.get_component("credential_provider").remove("env")
    if not may_be_ec2():
        session.get_component("credential_provider").remove("iam-role")
    return session


def may_be_ec2(vendor: Path = VENDOR) -> bool:
    """False on a machine that says it is something else: asking there for a machine's role costs seconds a call.

    EC2's machines call themselves Amazon EC2, the oldest ones Xen; where nothing is said, it may be one.
    """
    try:
        said = vendor.read_text("ascii", errors="replace").lower()
    except OSError:
        return True
    return not said.strip() or "amazon" in said or "xen" in said


def nothing_to_sign_in_with(environ: Mapping[str, str] | None = None, home: Path | None = None) -> bool:
    """True where no credential can be: none in the environment, no file of botocore's, not on EC2 or in a container.

    It costs a few looks at the file system; loading the SDK to find the same costs half a second.
    """
    environ = os.environ if environ is None else environ
    home = home or Path.home()
    if any(environ.get(name) for name in _SOURCES):
        return False
    files = (
        Path(environ.get("AWS_CONFIG_FILE") or home / ".aws" / "config"),
        Path(environ.get("AWS_SHARED_CREDENTIALS_FILE") or home / ".aws" / "credentials"),
        home / ".aws" / "login",
        home / ".boto",
        Path("/etc/boto.cfg"),
    )
    # Every EC2 machine names its maker; where nothing does, there is no metadata service to wait for.
    return not any(file.exists() for file in files) and not (VENDOR.exists() and may_be_ec2())


def recorded() -> Session:
    """A session that answers from recordings: no person's files, no credential, no question to a metadata service."""
    import botocore.session

    session = botocore.session.Session()
    for name in ("config_file", "credentials_file"):
        session.set_config_variable(name, os.devnull)
    session.set_config_variable("region", os.environ.get("AWS_DEFAULT_REGION") or FALLBACK_REGION)
    session.set_credentials("replay", "replay")
    return session


def frugal(session: Session) -> Session:
    """Let a session read the service models that another one has read, and times as cheaply as Python can.

    Reading EC2's model costs 190 ms of CPU, a further client of it 12; half of what a listing of spot prices costs is
    dateutil (botocore 1.44.8, 2026-11-29). Both are components that a session takes and gives by name.
    """
    session.register_component("data_loader", models(session.get_config_variable("data_path")))
    session.register_component("response_parser_factory", parsing.factory(timestamp_parser=moment))
    return session


@cache
def models(data_path: str | None = None) -> Loader:
    """The one reader of service models: what it has read it keeps."""
    from botocore.loaders import create_loader

    return create_loader(data_path)


def moment(value: str | float) -> datetime:
    """A time of an answer: ISO 8601 as Python reads it, everything else as botocore does. Raises ValueError."""
    if isinstance(value, str) and value[4:5] == "-" and "T" in value:
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            found = None
        if found is not None:
            return found if found.tzinfo else found.replace(tzinfo=UTC)
    from botocore.utils import parse_timestamp

    parsed: datetime = parse_timestamp(value)  # type: ignore[arg-type]  # its stub knows text alone
    return parsed


def region(session: Session) -> str:
    """The region that is configured, else us-east-1."""
    named = os.environ.get("AWS_REGION") or session.get_config_variable("region")
    return str(named or FALLBACK_REGION)


def stamp() -> str:
    """Changes when anything changes that a person signs in with: the AWS files, the sign-in caches, the environment."""
    home = Path.home() / ".aws"
    places = (
        Path(os.environ.get("AWS_CONFIG_FILE") or home / "config").expanduser(),
        Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or home / "credentials").expanduser(),
        *sorted(Path(os.environ.get("AWS_LOGIN_CACHE_DIRECTORY") or home / "login" / "cache").expanduser().glob("*")),
        *sorted((home / "sso" / "cache").glob("*")),
    )
    files = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in places if path.exists()]
    variables = sorted(
        (name, value) for name, value in os.environ.items() if name.startswith(("AWS_", "MODELRIG_AWS_"))
    )
    return hashlib.sha256(repr((files, variables)).encode()).hexdigest()


def fingerprint(session: Session) -> str | None:
    """Which credential a session holds, as a digest that tells nothing else; None when it has none or it has ended."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        credentials = session.get_credentials()
        if credentials is None:
            return None
        held = credentials.get_frozen_credentials()
    except (BotoCoreError, ClientError):
        return None
    return hashlib.sha256(f"{held.access_key}/{held.token or ''}".encode()).hexdigest()
