"""Fixtures: recorded or documented answers on disk, one file a call, with their provenance.

    <scenario>/01_ec2.DescribeVolumes.json   {"location"?, "account"?, "parameters"?, "times"?, "status"?, "headers"?,
                                              "body" | "wire": {"text" | "base64"}}
    <scenario>/expected.json                 the whole expected result
    <scenario>/origin.json                   {"from", "source", "on", "scrubbed"}

A `/` in a service (Azure's `Microsoft.App/containerApps`) is written `~` in the file's name.

`parameters` must equal those of the request, where `"*"` stands for any value; without it any parameters match. Files
with the same conditions are one sequence: each is served once (or `times` times), the last for ever.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast, get_args

from clouds.errors import InvalidInput
from clouds.replay.seam import Answer, Request

From = Literal["recorded", "documentation", "emulator"]
_FILE = re.compile(
    r"\d{2,}_(?P<service>[A-Za-z0-9-]+(?:\.[A-Za-z0-9]+(?:~[A-Za-z0-9]+)+)?)\.(?P<operation>[A-Za-z0-9_.-]+)\.json"
)
_KEYS = frozenset({"location", "account", "parameters", "times", "status", "headers", "body", "wire"})
_ORIGIN = frozenset({"from", "source", "on", "scrubbed"})
_ANY = "*"


@dataclass(frozen=True)
class Origin:
    """Where a scenario's answers come from, when, and what was taken out of them."""

    came_from: From
    source: str
    on: date
    scrubbed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fixture:
    """One answer and the requests that it answers. None as a condition means any."""

    name: str
    service: str
    operation: str
    answer: Answer
    location: str | None = None
    account: str | None = None
    parameters: Mapping[str, Any] | None = None
    times: int | None = None

    @cached_property
    def conditions(self) -> str:
        """Two fixtures with equal conditions are one sequence."""
        return json.dumps([self.service, self.operation, self.location, self.account, self.parameters], sort_keys=True)

    def misses(self, request: Request) -> list[str]:
        """Why this does not answer the request; empty when it does."""
        if self.service not in (request.service, request.alias) or self.operation != request.operation:
            return [f"is for {self.service}.{self.operation}"]
        why = [
            f"{what} is {ours!r}, asked {theirs!r}"
            for what, ours, theirs in (
                ("location", self.location, request.location),
                ("account", self.account, request.account),
            )
            if ours is not None and ours != theirs
        ]
        if self.parameters is not None:
            asked = plain(request.parameters)
            why += [
                f"parameter {key} is {_short(self.parameters.get(key))}, asked {_short(asked.get(key))}"
                for key in sorted({*self.parameters, *asked})
                if not _same(self.parameters.get(key), asked.get(key))
            ]
        return why

    def answers(self, request: Request, asked: Any) -> bool:
        """Whether a request of its service and operation is one that it answers; `asked` is its parameters, plain."""
        return (
            (self.location is None or self.location == request.location)
            and (self.account is None or self.account == request.account)
            and (self.parameters is None or _agree(self.parameters, asked))
        )

    @cached_property
    def weight(self) -> tuple[bool, int, bool, bool]:
        """How particular it is; where two match, the more particular one answers."""
        named = self.parameters is not None
        wild = json.dumps(self.parameters).count(f'"{_ANY}"')
        return (named, -wild, self.location is not None, self.account is not None)


@dataclass(frozen=True)
class Scenario:
    """One folder of fixtures: its name is a sentence, its origin is known."""

    directory: Path
    origin: Origin
    fixtures: tuple[Fixture, ...] = field(repr=False)

    @property
    def expected(self) -> Any:
        """The whole expected result. Raises InvalidInput when the scenario has none."""
        return _read(self.directory / "expected.json", "the whole expected result, not a count")


def load(directory: Path) -> Scenario:
    """Read one scenario. Raises InvalidInput when its origin or any of its files is missing or wrong."""
    origin = _origin(directory / "origin.json")
    files = sorted(path for path in directory.glob("*.json") if path.name not in ("origin.json", "expected.json"))
    if not files:
        raise _wrong(directory, "holds no recorded answer", "Add files named NN_service.Operation.json.")
    return Scenario(directory, origin, tuple(_fixture(path) for path in files))


def load_tree(directory: Path) -> tuple[Scenario, ...]:
    """Every scenario in and under a folder, in path order. Raises InvalidInput for a folder without its origin."""
    if not directory.is_dir():
        raise _wrong(directory, "is not a folder", "Name a folder that holds recorded answers.")
    folders = sorted(Path(at) for at, _, names in os.walk(directory) if any(name.endswith(".json") for name in names))
    if not folders:
        raise _wrong(directory, "holds no recorded answers", "Name a folder of fixtures.")
    return tuple(load(folder) for folder in folders)


def plain(value: Any) -> Any:
    """Parameters as JSON holds them: times as ISO 8601 text, bytes as text or base64, tuples as lists."""
    return json.loads(json.dumps(value, default=_plain, sort_keys=True))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    return repr(type(value))


def _same(ours: Any, theirs: Any) -> bool:
    if ours == _ANY:
        return theirs is not None
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(_same(a, b) for a, b in zip(ours, theirs, strict=True))
    return bool(ours == theirs)


def _agree(ours: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """A parameter that is not there is one that is null."""
    return all(_same(each, asked.get(key)) for key, each in ours.items()) and all(
        each is None for key, each in asked.items() if key not in ours
    )


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _fixture(path: Path) -> Fixture:
    named = _FILE.fullmatch(path.name)
    if not named:
        raise _wrong(path, "has a wrong name", "Name it NN_service.Operation.json, with the operation's wire name.")
    data = _read(path, "one recorded answer")
    if not isinstance(data, dict) or (unknown := sorted(data.keys() - _KEYS)):
        raise _wrong(path, f"has unknown keys {unknown}", f"Use only {', '.join(sorted(_KEYS))}.")
    if ("body" in data) == ("wire" in data):
        raise _wrong(path, "needs a body or a wire, and not both", "Write the parsed answer under body.")
    status, times, parameters = data.get("status", 200), data.get("times"), data.get("parameters")
    if not isinstance(status, int) or not 100 <= status <= 599:
        raise _wrong(path, f"has status {status!r}", "Write the HTTP status as a number.")
    if times is not None and (not isinstance(times, int) or times < 1):
        raise _wrong(path, f"has times {times!r}", "Write how often it is served, 1 or more, or leave it out.")
    if parameters is not None and not isinstance(parameters, dict):
        raise _wrong(path, "has parameters that are not an object", "Write them as the request holds them.")
    return Fixture(
        name=path.name,
        service=named["service"].replace("~", "/"),
        operation=named["operation"],
        answer=Answer(status, data.get("body"), data.get("headers", {}), _wire(path, data.get("wire"))),
        location=data.get("location"),
        account=data.get("account"),
        parameters=parameters,
        times=times,
    )


def _wire(path: Path, value: Any) -> bytes | None:
    match value:
        case None:
            return None
        case {"text": str(text), **rest} if not rest:
            return text.encode()
        case {"base64": str(text), **rest} if not rest:
            try:
                return base64.b64decode(text, validate=True)
            except binascii.Error as error:
                raise _wrong(path, f"has a wire that is not base64 ({error})", "Encode the raw bytes.") from error
    raise _wrong(path, "has a wire of another form", 'Write {"text": ...} or {"base64": ...}.')


def _origin(path: Path) -> Origin:
    data = _read(path, "where the answers come from")
    shape = ", ".join(sorted(_ORIGIN))
    if not isinstance(data, dict) or data.keys() != _ORIGIN:
        raise _wrong(path, "does not say exactly where the answers come from", f"Write the keys {shape}.")
    if data["from"] not in get_args(From):
        raise _wrong(path, f"comes from {data['from']!r}", f"Use one of {', '.join(get_args(From))}.")
    if not isinstance(data["source"], str) or not data["source"].strip():
        raise _wrong(path, "names no source", "Name the document, the repository or the account's kind.")
    scrubbed = data["scrubbed"]
    if not isinstance(scrubbed, list) or not all(isinstance(item, str) for item in scrubbed):
        raise _wrong(path, "has no list of what was scrubbed", 'Write "scrubbed": [] when nothing had to be.')
    try:
        on = date.fromisoformat(data["on"])
    except (TypeError, ValueError) as error:
        raise _wrong(path, f"has the date {data['on']!r}", "Write YYYY-MM-DD.") from error
    return Origin(cast("From", data["from"]), data["source"], on, tuple(scrubbed))


def _read(path: Path, what: str) -> Any:
    try:
        return json.loads(path.read_bytes().decode())
    except FileNotFoundError as error:
        raise _wrong(path, "is missing", f"Write it: {what}.") from error
    except ValueError as error:
        raise _wrong(path, f"is not JSON ({error})", "Correct the file.") from error


def _wrong(path: Path, problem: str, fix: str) -> InvalidInput:
    return InvalidInput("fixture", f"{path} {problem}", fix=fix)


def names(fixtures: tuple[Fixture, ...]) -> Iterator[str]:
    """`service.Operation` of each fixture, for messages."""
    return (f"{item.service}.{item.operation}" for item in fixtures)
