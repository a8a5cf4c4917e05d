"""Writes clouds/gcp/methods/<service>.json from Google's discovery documents, for the operations of methods/used.txt.

scripts/gcp_methods.py            write them
scripts/gcp_methods.py --check    exit 1 where one is not current

The documents come with google-api-python-client, which is needed here and in tests, never by the product. What they
lack stands in methods/overlay.json with its date and source. `SERVICE-VERSION` names a version beside the default one.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
METHODS = ROOT / "clouds" / "gcp" / "methods"
VERSIONS = {"iam": "v1"}
"""The default version where it is not the highest stable one: what we use of IAM is in v1 alone (2026-11-29)."""
_NAME = re.compile(r"(?P<api>[a-z0-9]+)(?:-(?P<version>v[a-z0-9]+))?")
_GAPS = frozenset({"unreachable", "unreachables", "warnings", "executionErrors", "etag"})


@cache
def document(service: str) -> Mapping[str, Any]:
    """The discovery document of a service as `used.txt` names it. Raises SystemExit for one that is not there."""
    import googleapiclient

    named = _NAME.fullmatch(service)
    if named is None:
        raise SystemExit(f"{service!r} is no service: write API or API-VERSION")
    folder = Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"
    api = named["api"]
    version = named["version"] or VERSIONS.get(api) or _stable(folder, api)
    path = folder / f"{api}.{version}.json"
    if not path.is_file():
        raise SystemExit(f"there is no discovery document {path.name}")
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def _stable(folder: Path, api: str) -> str:
    versions = [path.name.removeprefix(f"{api}.").removesuffix(".json") for path in folder.glob(f"{api}.v*.json")]
    stable = sorted((each for each in versions if re.fullmatch(r"v\d+", each)), key=lambda each: int(each[1:]))
    return stable[-1] if stable else min(versions, default="v1")


def method_of(described: Mapping[str, Any], operation: str) -> Mapping[str, Any]:
    """One method of a document by its dotted name. Raises SystemExit for one that it does not have."""
    *folders, last = operation.split(".")
    place = described
    try:
        for folder in folders:
            place = place["resources"][folder]
        found: Mapping[str, Any] = place["methods"][last]
    except KeyError as error:
        raise SystemExit(f"{described['id']} has no {operation}: {error} is missing") from error
    return found


def entry(described: Mapping[str, Any], method: Mapping[str, Any]) -> dict[str, Any]:
    """What the product needs of one method."""
    parameters = method.get("parameters", {})
    answer = described["schemas"].get(method.get("response", {}).get("$ref", ""), {}).get("properties", {})
    made: dict[str, Any] = {"verb": method["httpMethod"], "path": described["servicePath"] + method["path"]}
    paths = {name: each.get("pattern", "") for name, each in parameters.items() if each["location"] == "path"}
    inside = {name: pattern if pattern.startswith("^") else "" for name, pattern in paths.items()}  # the rest is vague
    made["in_path"] = dict(sorted(inside.items()))
    made["in_query"] = sorted(name for name, each in parameters.items() if each["location"] == "query")
    if required := sorted(n for n in made["in_query"] if parameters[n].get("required")):
        made["required"] = required
    if "request" in method:
        made["body"] = method["request"]["$ref"]
    if "response" in method:
        made["answer"] = method["response"]["$ref"]
    if "nextPageToken" in answer:
        made["pages"] = "query" if "pageToken" in parameters else "body"
        made["items"] = _items(answer)
        if "additionalProperties" in answer.get(made["items"], {}):
            made["scoped"] = True
    return made


def _items(answer: Mapping[str, Any]) -> str:
    """The field that repeats: a map of scopes, else the first list of things."""
    if "additionalProperties" in answer.get("items", {}):
        return "items"
    lists = [name for name, each in answer.items() if each.get("type") == "array" and name not in _GAPS]
    things = [name for name in lists if "$ref" in answer[name]["items"]]
    return (things or lists or [""])[0]


def used() -> dict[str, list[str]]:
    """Service -> its operations, as `used.txt` lists them."""
    found: dict[str, list[str]] = {}
    for line in (METHODS / "used.txt").read_text("utf-8").split():
        service, _, operation = line.partition(".")
        found.setdefault(service, []).append(operation)
    return found


def files() -> Iterator[tuple[Path, str]]:
    """Every file to write, and its text."""
    overlay = json.loads((METHODS / "overlay.json").read_text("utf-8"))
    for service, operations in sorted(used().items()):
        extra = overlay.get(service, {})
        head, methods = _described(service, operations) if "methods" not in extra else (extra["head"], extra["methods"])
        if unknown := sorted(set(operations) - set(methods)):
            raise SystemExit(f"{service} has no {', '.join(unknown)}")
        rows = [f"  {json.dumps(name)}: {json.dumps(methods[name])}" for name in sorted(operations)]
        top = {"service": service, **head, **extra.get("changes", {})}
        text = json.dumps(top, indent=1)[:-2] + ',\n "methods": {\n' + ",\n".join(rows) + "\n }\n}\n"
        yield METHODS / f"{service}.json", text


def _described(service: str, operations: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    described = document(service)
    head = {"version": described["version"], "revision": described["revision"], "root": described["rootUrl"]}
    return head, {name: entry(described, method_of(described, name)) for name in operations}


def main(arguments: list[str]) -> None:
    """Write or check."""
    made = dict(files())
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text("utf-8") != text]
    stale += [path for path in METHODS.glob("*.json") if path not in made and path.name != "overlay.json"]
    if "--check" in arguments:
        if stale:
            raise SystemExit(
                f"run scripts/gcp_methods.py: {', '.join(sorted(path.name for path in stale))} not current"
            )
        return
    for path in stale:
        if path in made:
            path.write_text(made[path], "utf-8")
        else:
            path.unlink()
        print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
