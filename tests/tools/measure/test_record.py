from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.tools.measure.made import made
from tools.measure import record

PUBLISHED = Path(__file__).resolve().parents[3] / "docs" / "run.schema.json"


def test_the_published_schema_is_the_one_of_the_record() -> None:
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == record.schema(), (
        "run: python -m tools.measure.record > docs/run.schema.json"
    )


def test_a_run_keeps_the_schema() -> None:
    import jsonschema

    run = made("qat", 105.1, {16: (1071.5, 1083.0)}, decode_samples=[104.0, 106.0])
    jsonschema.validate(run.model_dump(mode="json"), record.schema())


def test_the_schema_refuses_what_is_no_run() -> None:
    import jsonschema

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**made("x").model_dump(mode="json"), "state": "done"}, record.schema())


def test_a_misspelt_field_is_refused_and_not_ignored() -> None:
    with pytest.raises(ValidationError, match="extra"):
        record.Run.model_validate({**made("x").model_dump(), "staet": "complete"})
