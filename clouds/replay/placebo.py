"""Reads the answers that boto3's `placebo` writes, as Cloud Custodian publishes them.

One folder a test, `<endpoint prefix>.<Operation>_<n>.json` = `{"status_code", "data"}` after botocore's parsing, times
as `{"__class__": "datetime", ...}`. Requests were not recorded: the answers of an operation are one sequence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clouds.errors import InvalidInput
from clouds.replay.fixtures import Fixture, Origin, Scenario
from clouds.replay.seam import Answer

_FILE = re.compile(r"(?P<service>.+)\.(?P<operation>[A-Za-z0-9]+)_(?P<n>\d+)\.json")


def read_placebo(directory: Path, origin: Origin) -> Scenario:
    """One folder as a scenario; its services are endpoint prefixes. Raises InvalidInput for anything else in it."""
    named = []
    for path in directory.glob("*.json"):
        found = _FILE.fullmatch(path.name)
        if not found:
            raise InvalidInput(
                "recording", f"{path} has a wrong name", fix="Name it <endpoint prefix>.<Operation>_<n>.json."
            )
        named.append((found["service"], found["operation"], int(found["n"]), path))
    if not named:
        raise InvalidInput("recording", f"{directory} holds no answers", fix="Name a folder of recorded answers.")
    fixtures = tuple(_fixture(path, service, operation) for service, operation, _, path in sorted(named))
    return Scenario(directory, origin, fixtures)


def _fixture(path: Path, service: str, operation: str) -> Fixture:
    recorded = json.loads(path.read_text("utf-8"), object_hook=_time)
    body = dict(recorded["data"])
    about = body.pop("ResponseMetadata", {})
    headers = {str(key): str(value) for key, value in about.get("HTTPHeaders", {}).items()}
    return Fixture(path.name, service, operation, Answer(int(recorded["status_code"]), body, headers))


def _time(value: Mapping[str, Any]) -> Any:
    if value.get("__class__") != "datetime":
        return value
    parts = {key: int(part) for key, part in value.items() if key != "__class__"}
    return datetime(**parts, tzinfo=UTC).isoformat()
