"""What a tool is given besides its arguments. Parameters of these types are filled in by us and no client sees them,
except `Cloud` and `Target`, which a client names by a word."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from clouds.base import Cloud, EndpointService
from clouds.errors import CloudError, InvalidInput, NotFound
from clouds.models import Endpoint, EndpointRef, Wire
from tools import environment
from tools.settings import Settings

if TYPE_CHECKING:
    from tools.ledger import Book, Operation

KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,60}_API_KEY")
CLOUDS_OWN = re.compile(r"(AWS|AMAZON|BOTO|GOOGLE|GCLOUD|GCP|CLOUDSDK|AZURE|ARM|MSI|IDENTITY)_", re.IGNORECASE)
"""Credentials of a cloud: a modelrig.toml that came with somebody's project cannot have one sent either."""


class Clouds:
    """The clouds on offer; each is connected when it is first asked for, and stays connected."""

    def __init__(
        self, names: tuple[str, ...], known: tuple[str, ...], home: Path, connect: Callable[[str, Path], Cloud]
    ) -> None:
        unknown = [name for name in names if name not in known]
        if unknown:
            raise InvalidInput(
                "clouds", f"{unknown[0]!r} is not a cloud", fix=f"Known: {', '.join(known)}.", allowed=known
            )
        self.names = names or known
        self._home, self._connect, self._connected = home, connect, dict[str, Cloud]()

    def get(self, name: str) -> Cloud:
        """One cloud, in any case. Raises InvalidInput for a name not on offer, NotInstalled without its packages."""
        name = name.lower()
        if name not in self.names:
            raise InvalidInput(
                "cloud", f"{name[:40]!r} is not on offer", fix=f"On offer: {', '.join(self.names)}.", allowed=self.names
            )
        if name not in self._connected:
            environment.require(name)
            self._connected[name] = self._connect(name, self._home)
        return self._connected[name]

    def service(self, ref: EndpointRef) -> EndpointService:
        """The service that `ref` names. Raises InvalidInput when that cloud has no such service."""
        services = self.get(ref.cloud).endpoints
        if ref.service not in services:
            raise InvalidInput(
                "ref", f"{ref.cloud} has no service {ref.service!r}", fix=f"It has {', '.join(services) or 'none'}."
            )
        return services[ref.service]


@dataclass(frozen=True)
class Target:
    """One endpoint that a client named: by ref, by a name in the ledger, or as a bare http(s) URL."""

    ref: str
    """The printed ref, or the URL."""
    endpoint_ref: EndpointRef | None = None
    cloud: Cloud | None = None
    service: EndpointService | None = None
    key: str = field(default="", repr=False)

    def ours(self) -> tuple[EndpointService, EndpointRef]:
        """The service and ref of an endpoint that a cloud holds. Raises NotFound for a bare URL."""
        if self.service is None or self.endpoint_ref is None:
            raise NotFound(
                f"Looking for {self.ref}",
                answered="a bare URL is no endpoint of ours",
                fix="list_endpoints shows what is; query_model, check_health and measure_model take URLs too.",
                sent=False,
            )
        return self.service, self.endpoint_ref

    def connect(self) -> Wire:
        """How to reach it. Raises NotFound when it is gone."""
        if self.service is not None and self.endpoint_ref is not None:
            return self.service.connect(self.endpoint_ref)
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        parts = urlsplit(self.ref)
        path = parts.path.rstrip("/")
        if path.endswith("/chat/completions"):
            return Wire(url=f"{parts.scheme}://{parts.netloc}", headers=headers, path=path)
        path = path.removesuffix("/v1")
        return Wire(url=f"{parts.scheme}://{parts.netloc}{path}", headers=headers)

    @contextmanager
    def wire(self) -> Iterator[Wire]:
        """The connection, closed (a tunnel too) when the block ends."""
        wire = self.connect()
        try:
            yield wire
        finally:
            if wire.close is not None:
                wire.close()

    def endpoint(self) -> Endpoint | None:
        """What its cloud says of it now; None for a bare URL, of which nobody knows more."""
        if self.service is None or self.endpoint_ref is None:
            return None
        return self.service.get(self.endpoint_ref)

    def with_key_from(self, variable: str, settings: Settings) -> Target:
        """The same target with the key that an environment variable holds. Only for bare URLs, only for names ending
        in _API_KEY (or listed in the setting `api_key_envs`): a cloud credential can never be sent to a URL."""
        if not variable:
            return self
        if self.endpoint_ref is not None:
            raise InvalidInput("api_key_env", "is for bare URLs; this endpoint has its own key", fix="Leave it out.")
        listed = variable in settings["api_key_envs"] and not CLOUDS_OWN.match(variable)
        if not KEY_NAME.fullmatch(variable) and not listed:
            raise InvalidInput(
                "api_key_env",
                f"{variable[:40]!r} may not be sent to a URL",
                fix="A cloud's own credentials never are."
                if CLOUDS_OWN.match(variable)
                else "Name a variable that ends in _API_KEY, or list it under api_key_envs in modelrig.toml.",
            )
        key = os.environ.get(variable, "")
        if not key:
            raise InvalidInput(
                "api_key_env", f"{variable} is not set where modelrig runs", fix="Export it and restart."
            )
        parts = urlsplit(self.ref)
        if parts.scheme == "http" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
            raise InvalidInput("api_key_env", "a key is not sent over plain http", fix="Use https.")
        return replace(self, key=key)


@dataclass(frozen=True)
class Session:
    """What all calls of one process share."""

    settings: Settings
    home: Path
    known: tuple[str, ...]
    connect: Callable[[str, Path], Cloud]
    names: tuple[str, ...] = ()
    """The clouds on offer; empty means what the settings say, and after that all."""
    read_only: bool = False
    who: str = "server"
    """Who signs the ledger's journal: server, shell or worker."""
    fault: CloudError | None = None
    """What is wrong with the settings; every call is answered with it."""
    ending: threading.Event = field(default_factory=threading.Event)
    """Set once our input has ended: whoever waits for long work answers with its reference."""

    @property
    def flags(self) -> tuple[str, ...]:
        """What a worker has to be started with to see the same clouds."""
        return ("--clouds", ",".join(self.names)) if self.names else ()

    def may_work_on(self, operation: Operation) -> bool:
        """Whether its worker may be started and stopped here: with --read-only, only where its tool reads."""
        if not self.read_only:
            return True
        from tools import NAMES, tool
        from tools.registry import Effect

        return operation.tool in NAMES and tool(operation.tool).effect is Effect.READ

    @cached_property
    def clouds(self) -> Clouds:
        """The clouds on offer."""
        return Clouds(self.names or self.settings["clouds"], self.known, self.home, self.connect)

    @cached_property
    def book(self) -> Book:
        """The ledger, opened when it is first needed."""
        from tools.ledger import Book

        return Book(self.home, who=self.who)

    def target(self, text: str, field_name: str = "ref") -> Target:
        """Resolve what a client named. Raises InvalidInput or NotFound in words that say what there is."""
        if text.startswith(("http://", "https://")):
            return Target(ref=_url(text, field_name))
        try:
            ref = EndpointRef.parse(text) if ":" in text else self._by_name(text, field_name)
            return Target(str(ref), ref, self.clouds.get(ref.cloud), self.clouds.service(ref))
        except InvalidInput as error:  # the argument is called as the client spelt it
            if error.field != "ref":
                raise
            problem = str(error).partition("`: ")[2]
            raise InvalidInput(field_name, problem, fix=error.fix, allowed=error.allowed) from None

    def _by_name(self, name: str, field_name: str) -> EndpointRef:
        found = [ref for ref in self.book.refs() if ref.name == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise InvalidInput(
                field_name,
                f"{name[:50]!r} is {len(found)} endpoints",
                fix="Use one of " + ", ".join(map(str, found)) + ".",
            )
        known = ", ".join(str(ref) for ref in self.book.refs()[:5])
        shown = "list_endpoints shows what the clouds hold besides, by full ref: give that."
        raise NotFound(
            f"Looking for an endpoint named {name[:50]!r}",
            answered="the ledger has none of that name",
            fix=f"Known by name: {known}. {shown}" if known else f"It holds none now; {shown}",
            sent=False,
        )


def _url(text: str, field_name: str) -> str:
    plain = len(text) <= 500 and text.isprintable()
    try:
        parts = urlsplit(text) if plain else None
        host = (parts.hostname or "").rstrip(".") if parts and parts.port != 0 else ""
    except ValueError:  # half an IPv6 address, a port that is none
        host = ""
    if not host or parts is None or parts.username or parts.password:
        raise InvalidInput(
            field_name, "is not a plain http(s) URL", fix="Give scheme, host and port; a key goes into api_key_env."
        )
    if _is_metadata(host):
        raise InvalidInput(field_name, "is a cloud's metadata address", fix="Name a model endpoint.")
    return text


def _is_metadata(host: str) -> bool:
    """Also in the spellings that a resolver takes: one number, hexadecimal, an IPv4 address in an IPv6 one."""
    import socket
    from ipaddress import IPv6Address, ip_address

    if host in {"metadata", "metadata.google.internal"}:
        return True
    try:
        address = ip_address(host.partition("%")[0]) if ":" in host else ip_address(socket.inet_aton(host))
    except (OSError, ValueError):
        return False
    inner = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (inner or address).is_link_local or str(address) in {"fd00:ec2::254", "fd20:ce::254", "100.100.100.200"}
