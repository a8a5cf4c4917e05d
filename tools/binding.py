"""From a client's arguments to a tool's parameters: schemas, our words for what is wrong, and what we fill in."""

from __future__ import annotations

import difflib
import inspect
import json
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from clouds.base import Cloud, Progress
from clouds.errors import InvalidInput
from tools.context import Clouds, Session, Target
from tools.registry import Tool
from tools.result import Result
from tools.settings import Settings

MULTILINE = "multiline"
"""`Annotated[str, MULTILINE]` marks text that may hold line breaks."""
LONGEST = 2_000
"""Characters of an argument that does not say otherwise with Field(max_length=...)."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a tool's function: `given` is True when a client gives it."""

    name: str
    annotation: Any
    default: Any
    given: bool
    kind: type | None

    @property
    def required(self) -> bool:
        """True when it has no default."""
        return self.default is inspect.Parameter.empty


@lru_cache(maxsize=64)
def parameters(run: Any) -> tuple[Parameter, ...]:
    """The parameters of a tool's function, in order. `Book` is looked up late: the ledger is imported when used."""
    from tools.ledger import Book

    hints = typing.get_type_hints(run, include_extras=True)
    injected = (Clouds, Settings, Book, Progress, Session)
    found = []
    for name, parameter in inspect.signature(run).parameters.items():
        kind = hints[name] if hints[name] in (*injected, Cloud, Target) else None
        found.append(Parameter(name, hints[name], parameter.default, kind not in injected, kind))
    return tuple(found)


def arguments_model(tool: Tool) -> type[BaseModel]:
    """The pydantic model of what a client gives; unknown arguments are refused."""
    return _model(tool.run, asks=tool.preview is not None)


@lru_cache(maxsize=64)
def _model(run: Any, *, asks: bool) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for parameter in parameters(run):
        if parameter.given:
            annotation = str if parameter.kind in {Cloud, Target} else parameter.annotation
            fields[parameter.name] = (annotation, ... if parameter.required else parameter.default)
    if asks:
        fields["confirm"] = (Annotated[str, Field(max_length=40, description="token from the first answer")], "")
    return create_model(f"{run.__name__}_arguments", __config__=ConfigDict(extra="forbid"), **fields)


def validate(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the function takes them. Raises InvalidInput that names every wrong field at once."""
    model = arguments_model(tool)
    given = {
        tool.aliases.get(name, name) if name not in model.model_fields else name: value
        for name, value in arguments.items()
    }
    for name, value in given.items():
        if name in model.model_fields:
            info = model.model_fields[name]
            given[name] = _parsed(info, value)
            if _truth_for_number(info.annotation, given[name]):
                raise InvalidInput(name, f"takes a number{_limits(info)}, not true or false", fix="Give a number.")
    try:
        values = model.model_validate(given)
    except ValidationError as error:
        problems = [_problem(each, model) for each in _one_of_each(error.errors(include_url=False))]
        raise InvalidInput(
            problems[0][0],
            problems[0][1] + "".join(f"; `{name}`: {words}" for name, words, _ in problems[1:6]),
            fix=f"Arguments of {tool.name}: {', '.join(model.model_fields)}.",
            allowed=problems[0][2],
        ) from None
    found = {name: getattr(values, name) for name in model.model_fields}
    for name, value in found.items():
        _plain(name, value, model.model_fields[name])
    return found


def _parsed(info: FieldInfo, value: Any) -> Any:
    """A list or object that arrived as a string (shells, some clients): JSON, or words separated by commas."""
    if not isinstance(value, str) or str in _arms(info.annotation):
        return value
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = value
    if any(typing.get_origin(arm) in {tuple, list} for arm in _arms(info.annotation)) and not isinstance(parsed, list):
        return [part.strip() for part in value.split(",") if part.strip()]
    return parsed


def _arms(annotation: Any) -> tuple[Any, ...]:
    return (
        typing.get_args(annotation)
        if typing.get_origin(annotation) in {typing.Union, type(int | str)}
        else (annotation,)
    )


def _truth_for_number(annotation: Any, value: Any) -> bool:
    """Whether true or false stands where a number belongs: pydantic takes them for 1 and 0."""
    if typing.get_origin(annotation) is Annotated:
        annotation = typing.get_args(annotation)[0]
    arms = _arms(annotation)
    if isinstance(value, list):
        inner = [typing.get_args(arm)[0] for arm in arms if typing.get_origin(arm) in {tuple, list}]
        return any(_truth_for_number(arm, each) for arm in inner for each in value)
    return isinstance(value, bool) and any(arm in (int, float) for arm in arms) and bool not in arms


def _one_of_each(errors: list[Any]) -> list[Any]:
    """The errors, with one for a value that fits none of several types: pydantic tells one for each type."""
    kept: dict[tuple[Any, ...], Any] = {}
    for error in errors:
        place, last = error["loc"][:-1], error["loc"][-1:]
        if place and last[0] in SIMPLE:
            kept.setdefault((place, "any"), error | {"loc": place, "type": "simple"})
        else:
            kept[error["loc"], error["type"]] = error
    return list(kept.values())


SIMPLE = frozenset({"str", "int", "float", "bool"})
"""What pydantic calls the types of a setting's value, behind the name of the setting."""
WANTED = {
    "simple": "takes a text, a number, or true or false",
    "int": "takes a whole number",
    "int_from_float": "takes a whole number",
    "float": "takes a number",
    "finite_number": "takes a finite number",
    "bool": "takes true or false",
    "string": "takes a text",
    "dict": "takes an object of names and values",
    "mapping": "takes an object of names and values",
    "list": "takes a list",
    "tuple": "takes a list",
    "string_too_long": "takes at most {max_length} characters",
    "string_too_short": "takes at least {min_length} characters",
    "too_long": "takes at most {max_length} entries",
    "too_short": "takes at least {min_length} entries",
}
"""What an argument takes, by the kind of pydantic's complaint."""
FORMS = {
    r"^([a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?)?$": "takes at most 50 of a-z, 0-9 and -, no - at an end",
    r"^[A-Za-z0-9._-]+$": "takes only letters, digits and . _ -",
}
"""What an argument takes, by the pattern that it has to match."""
BOUNDS = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}


def _problem(error: Any, model: type[BaseModel]) -> tuple[str, str, tuple[str, ...]]:
    """One pydantic error as (field, words, allowed)."""
    name = ".".join(str(part) for part in error["loc"]) or "arguments"
    context, kind = error.get("ctx", {}), error["type"]
    value = error.get("input")
    given = repr(value[:60] if isinstance(value, str) else value)  # of a whole file only the start is shown
    given = "null" if value is None else given if len(given) <= 60 else given[:57] + "…"
    if kind == "missing":
        return name, "is required", ()
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(name[:80], list(model.model_fields), 1)
        return (
            name[:60],
            "is not an argument" + (f"; did you mean `{near[0]}`?" if near else ""),
            tuple(model.model_fields),
        )
    if kind in {"literal_error", "enum"}:
        expected = str(context.get("expected", "")).replace(" or ", ", ").split(",")
        allowed = tuple(word for part in expected if (word := part.strip(" '")))  # "" is how nothing is chosen
        near = difflib.get_close_matches(str(error.get("input"))[:80], allowed, 1)  # a whole file takes 20 ms
        hint = f" Did you mean {near[0]}?" if near else ""
        return name, f"{given} is not known.{hint} Allowed: {', '.join(allowed)}", allowed
    limits = _limits(model.model_fields.get(str(error["loc"][0]))) if len(error["loc"]) == 1 else ""
    if limits and kind.startswith(("greater_than", "less_than")):
        return name, f"takes{limits}, not {given}", ()
    wanted = WANTED.get(kind.removesuffix("_parsing").removesuffix("_type"), "")
    if kind == "string_pattern_mismatch":
        return name, f"{FORMS.get(context['pattern'], 'takes what matches ' + context['pattern'])}, not {given}", ()
    if not wanted:  # pydantic's own sentence may hold braces: it is no template
        return name, f"{error['msg'][0].lower()}{error['msg'][1:]}{limits}, not {given}", ()
    return name, f"{wanted.format(**context)}{limits if '{' not in wanted else ''}, not {given}", ()


def _limits(info: FieldInfo | None) -> str:
    """ " from 1 to 100", where a number is bounded."""
    found = {
        word: getattr(each, word) for each in (info.metadata if info else ()) for word in BOUNDS if hasattr(each, word)
    }
    return "".join(f" {BOUNDS[word]} {value:,}" for word, value in found.items())


def _plain(name: str, value: Any, info: FieldInfo) -> None:
    """Refuse control characters and unbounded text wherever a string stands in an argument."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            _plain(f"{name}.{str(key)[:40]}", key, info)
            _plain(f"{name}.{str(key)[:40]}", each, info)
    elif isinstance(value, tuple | list):
        for position, each in enumerate(value):
            _plain(f"{name}[{position}]", each, info)
    elif isinstance(value, str):
        own_limit = any(hasattr(each, "max_length") for each in info.metadata)
        if not own_limit and len(value) > LONGEST:
            raise InvalidInput(name, f"has {len(value):,} characters", fix=f"At most {LONGEST:,} are taken.")
        allowed = "\n\r\t" if MULTILINE in info.metadata else ""
        bad = next((char for char in value if (not char.isprintable() and char not in allowed and char != " ")), None)
        if bad is not None and (ord(bad) < 32 or 127 <= ord(bad) < 160 or 0xD800 <= ord(bad) < 0xE000 or not allowed):
            raise InvalidInput(name, f"holds the control character U+{ord(bad):04X}", fix="Leave it out.")


def execute(tool: Tool, values: Mapping[str, Any], session: Session, progress: Progress) -> Result:
    """Call the tool's function with validated values and with what we fill in."""
    return tool.run(**bind(tool, values, session, progress))


def bind(tool: Tool, values: Mapping[str, Any], session: Session, progress: Progress) -> dict[str, Any]:
    """The function's keyword arguments. Raises InvalidInput or NotFound for a cloud or endpoint that is not there."""
    from tools.ledger import Book

    found: dict[str, Any] = {}
    for parameter in parameters(tool.run):
        if parameter.kind is Cloud:
            found[parameter.name] = session.clouds.get(values[parameter.name])
        elif parameter.kind is Target:
            found[parameter.name] = session.target(values[parameter.name], parameter.name)
        elif parameter.kind is Clouds:
            found[parameter.name] = session.clouds
        elif parameter.kind is Settings:
            found[parameter.name] = session.settings
        elif parameter.kind is Book:
            found[parameter.name] = session.book
        elif parameter.kind is Progress:
            found[parameter.name] = progress
        elif parameter.kind is Session:
            found[parameter.name] = session
        else:
            found[parameter.name] = values[parameter.name]
    return found


def input_schema(tool: Tool, clouds: tuple[str, ...]) -> dict[str, Any]:
    """The JSON schema a model is shown: plain, without the titles, null arms and defaults that say nothing."""
    schema = arguments_model(tool).model_json_schema()
    for parameter in parameters(tool.run):
        if parameter.kind is Cloud:
            schema["properties"][parameter.name]["enum"] = list(clouds)
    from tools.schemas import lean

    return lean(schema)
