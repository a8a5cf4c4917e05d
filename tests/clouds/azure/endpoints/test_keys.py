"""Keys: one of its own for each deployment, put into a call only as it is sent."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from clouds.azure.endpoints import keys
from clouds.errors import InvalidInput
from clouds.models import Call


def test_a_key_is_made_once_for_a_deployment_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    key = keys.make(tmp_path, "d-1")
    assert keys.make(tmp_path, "d-1") == key == keys.read(tmp_path, "d-1")
    assert keys.make(tmp_path, "d-2") != key
    assert stat.S_IMODE(keys.path(tmp_path, "d-1").stat().st_mode) == 0o600
    keys.forget(tmp_path, "d-1")
    assert keys.read(tmp_path, "d-1") == ""


def test_a_deployments_id_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    assert keys.path(tmp_path, "../../etc/x").parent == tmp_path / "azure" / "keys"


def test_secrets_are_put_into_the_call_that_is_sent_and_not_into_the_one_that_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    kept = Call("a", "put", {"body": {"secrets": [{"value": keys.API_KEY}, {"value": "env:HF_TOKEN"}], "n": 1}})
    sent = keys.filled(kept, {keys.API_KEY: "k"})
    assert sent.parameters == {"body": {"secrets": [{"value": "k"}, {"value": "hf_x"}], "n": 1}}
    assert kept.parameters["body"]["secrets"][0]["value"] == keys.API_KEY
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(InvalidInput, match="HF_TOKEN is not set"):
        keys.filled(kept, {})
