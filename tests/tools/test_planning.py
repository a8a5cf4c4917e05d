"""How what a client left out is filled in, and what is refused before a service is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput
from clouds.models import DeploymentSpec
from tests.tools.test_alternatives import THERE
from tools.plan import specify
from tools.settings import Settings


def specified(home: Path, **given: Any) -> DeploymentSpec:
    values: dict[str, Any] = {
        "model": "org/m", "service": "", "name": "", "location": "", "regions": (), "accelerator": "",
        "instance_types": (), "max_usd_per_hour": 0, "ttl_hours": 0, "engine_settings": {},
    }  # fmt: skip
    return specify(THERE["gcp"], Settings.load({}, home), **values | given)[1]


def test_a_service_is_chosen_by_the_accelerator_else_the_first_one(tmp_path: Path) -> None:
    assert specified(tmp_path, accelerator="L4").service == "gce"
    assert specified(tmp_path, accelerator="H100").service == "chips"
    assert specified(tmp_path).service == "chips"
    assert specified(tmp_path, accelerator="L4", service="chips").service == "chips"


@pytest.mark.parametrize(("hours", "words"), [(1e-9, "3.6e-06 s"), (0.0025, "9 s")])
def test_an_end_before_it_could_serve_is_refused(hours: float, words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"an end after {words} comes before") as told:
        specified(tmp_path, ttl_hours=hours)
    assert told.value.field == "ttl_hours"


def test_ten_seconds_and_the_usual_end_are_taken(tmp_path: Path) -> None:
    assert specified(tmp_path, ttl_hours=0.003).ttl_hours == 0.003
    assert specified(tmp_path).ttl_hours == 4
