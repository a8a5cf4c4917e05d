from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from pydantic import ValidationError

from tests.tools.measure.made import made
from tools.measure import record

PUBLISHED = Path(__file__).resolve().parents[3] / "docs" / "run.schema.json"


def test_the_published_schema_is_the_one_of_the_record() -> None:
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == record.schema(), (
        "run: python -m tools.measure.record > docs/run.schema.json"
    )


@cache
def validator() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(record.schema())
    return jsonschema.Draft202012Validator(record.schema())


def test_a_run_keeps_the_schema() -> None:
    run = made("qat", 105.1, {16: (1071.5, 1083.0)}, decode_samples=[104.0, 106.0])
    validator().validate(run.model_dump(mode="json"))


def test_the_schema_refuses_what_is_no_run() -> None:
    with pytest.raises(jsonschema.ValidationError):
        validator().validate({**made("x").model_dump(mode="json"), "state": "done"})


def test_a_misspelt_field_is_refused_and_not_ignored() -> None:
    with pytest.raises(ValidationError, match="extra"):
        record.Run.model_validate({**made("x").model_dump(), "staet": "complete"})
