"""How each operation that we use goes over the wire, read from files that are generated from Google's documents.

The files are made by scripts/gcp_methods.py from `used.txt`; reading one takes under a millisecond and no package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from clouds.errors import InvalidInput
from clouds.models import Call, Scope

HERE = Path(__file__).parent
_PROJECT = "^projects/[^/]+$"
_PLACE = "^projects/[^/]+/locations/[^/]+$"
_VARIABLE = re.compile(r"\{(\+?)(\w+)\}")
_READS_BY_POST = frozenset({"capacity", "capacityHistory", "calendarMode", "search", "query", "testIamPermissions"})


@dataclass(frozen=True)
class Method:
    """One operation. `in_path` maps a variable of `path` to the pattern of its value; empty means anything."""

    service: str
    operation: str
    verb: str
    root: str
    path: str
    in_path: Mapping[str, str]
    in_query: frozenset[str]
    required: tuple[str, ...] = ()
    body: str = ""
    answer: str = ""
    pages: Literal["", "query", "body"] = ""
    items: str = ""
    scoped: bool = False
    regional: str = field(default="", repr=False)

    @property
    def reads(self) -> bool:
        """Whether sending it twice does no harm."""
        last = self.operation.rsplit(".", 1)[-1]
        return self.verb == "GET" or last.startswith(("get", "list")) or last in _READS_BY_POST

    def filled(self, parameters: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
        """The parameters with project, zone, region or parent taken from the scope where they are not said.

        Raises InvalidInput for a parameter that the method does not have, one that is missing or a value of the
        wrong form: nothing is sent then.
        """
        known = {*self.in_path, *self.in_query, *(("body",) if self.body else ())}
        if unknown := sorted(set(parameters) - known):
            raise _wrong(f"{self.service}.{self.operation} has no {', '.join(unknown)}")
        whole = {key: value for key, value in parameters.items() if value is not None}
        for name, pattern in self.in_path.items():
            if name not in whole:
                value = _from_scope(name, pattern, scope)
                if not value:
                    raise _wrong(f"{self.service}.{self.operation} needs `{name}`")
                whole[name] = value
            value = str(whole[name])
            if not value or (pattern and not re.fullmatch(pattern, value)) or ".." in value.split("/"):
                raise _wrong(f"{self.service}.{self.operation} takes no {name} like {value[:80]!r}")
        if missing := [name for name in self.required if name not in whole]:
            raise _wrong(f"{self.service}.{self.operation} needs {', '.join(missing)}")
        return whole

    def url(self, filled: Mapping[str, Any]) -> str:
        """The address without its query."""
        root = self.root
        if self.regional and (place := location_of(filled)) not in ("", "global"):
            root = self.regional.replace("{location}", place)

        def put(found: re.Match[str]) -> str:
            return quote(str(filled[found[2]]), safe="/:@~-" if found[1] else ":@~-")

        return root + _VARIABLE.sub(put, self.path)

    def query(self, filled: Mapping[str, Any]) -> list[tuple[str, str | int | float | bool | None]]:
        """The query as pairs; a list repeats its name."""
        pairs: list[tuple[str, str | int | float | bool | None]] = []
        for name in sorted(self.in_query & filled.keys()):
            values = filled[name] if isinstance(filled[name], list | tuple) else (filled[name],)
            pairs += [(name, str(each).lower() if isinstance(each, bool) else str(each)) for each in values]
        return pairs


@cache
def table(service: str) -> Mapping[str, Method]:
    """Operation -> method of one service. Raises InvalidInput for a service that we do not use."""
    path = HERE / f"{service}.json"
    if not re.fullmatch(r"[a-z0-9-]+", service) or not path.is_file():
        raise _wrong(f"there is no service {service[:40]!r}")
    data = json.loads(path.read_text("utf-8"))
    regional = data.get("regional", "")
    return {
        name: Method(
            service, name, each["verb"], data["root"], each["path"], each["in_path"], frozenset(each["in_query"]),
            tuple(each.get("required", ())), each.get("body", ""), each.get("answer", ""), each.get("pages", ""),
            each.get("items", ""), bool(each.get("scoped")), regional,
        )
        for name, each in data["methods"].items()
    }  # fmt: skip


def services() -> tuple[str, ...]:
    """Every service that we use."""
    return tuple(sorted(path.stem for path in HERE.glob("*.json") if path.stem != "overlay"))


def method(call: Call) -> Method:
    """The method of a call. Raises InvalidInput for one that is not in `used.txt`."""
    found = table(call.service).get(call.operation)
    if found is None:
        raise _wrong(f"{call} is not among the operations that modelrig knows")
    return found


def recognise(service: str, verb: str, url: str, body: Any = None) -> tuple[Method, dict[str, Any]] | None:
    """Which operation of a service an address is, and its parameters: how what an SDK sends is named."""
    parts = urlsplit(url)
    for each in table(service).values():
        if each.verb == verb and (found := _compiled(each.path, tuple(each.in_path.items())).fullmatch(parts.path)):
            parameters: dict[str, Any] = {name: unquote(value) for name, value in found.groupdict().items()}
            parameters |= {name: value for name, value in parse_qsl(parts.query) if name in each.in_query}
            if each.body and body is not None:
                parameters["body"] = body
            return each, parameters
    return None


@cache
def _compiled(path: str, inside: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    patterns, pieces, end = dict(inside), ["/"], 0
    for found in _VARIABLE.finditer(path):
        pattern = patterns[found[2]].strip("^$") or ("[^/]+" if not found[1] else ".+")
        if pattern.endswith("[^/]+"):
            pattern = pattern[:-5] + "[^/:]+"  # what follows a colon is the method's own word
        pieces += [re.escape(path[end : found.start()]), f"(?P<{found[2]}>{pattern})"]
        end = found.end()
    return re.compile("".join([*pieces, re.escape(path[end:])]))


def _from_scope(name: str, pattern: str, scope: Scope) -> str:
    project, place = scope.account or "", scope.location or ""
    if name in ("project", "projectId"):
        return project
    if name in ("zone", "region", "location"):
        return place
    if name in ("parent", "name") and project:
        if pattern == _PROJECT:
            return f"projects/{project}"
        if pattern == _PLACE:
            return f"projects/{project}/locations/{place or '-'}"
    return ""


def location_of(filled: Mapping[str, Any]) -> str:
    """The location inside a parent or a name; empty where there is none."""
    for name in ("parent", "name", "endpoint", "index", "resource"):
        if found := re.search(r"/locations/([^/:]+)", str(filled.get(name, ""))):
            return found[1]
    return str(filled.get("location", ""))


def _wrong(problem: str) -> InvalidInput:
    return InvalidInput("call", problem, fix="Report this as a bug of modelrig.")
