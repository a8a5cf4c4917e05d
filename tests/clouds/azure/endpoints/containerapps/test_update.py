"""Another end, another model or settings on an app that is held."""

from __future__ import annotations

import pytest

from clouds.errors import Conflict, InvalidInput, Unexpected
from clouds.models import Change
from tests.clouds.azure.endpoints.rig import REF, Rig
from tests.clouds.azure.simulator import Boot


def test_another_end_moves_the_scheduled_one_and_the_tags(rig: Rig) -> None:
    rig.deploy(settings={"min_replicas": 1})
    endpoint = rig.apps.update(REF, Change(ttl_hours=10), rig.book, rig.heard)
    assert endpoint.expires == "2026-11-30T01:01:20Z"
    rig.account.clock.sleep(9 * 3600)
    assert len(rig.account.billing()) == 1
    rig.account.clock.sleep(3700)
    assert rig.account.billing() == []


def test_another_model_needs_a_second_gpu_of_quota(rig: Rig) -> None:
    rig.deploy()
    with pytest.raises(Conflict, match=r"Azure starts a second replica first, and .* 1 of 1 used"):
        rig.apps.update(REF, Change(model="google/gemma-4-E4B-it"), rig.book, rig.heard)


def test_at_no_replica_it_needs_none_and_only_what_was_given_changes(rig: Rig) -> None:
    rig.deploy()
    rig.account.clock.sleep(900)
    change = Change(model="google/gemma-4-E4B-it", settings={"max_model_len": 4096, "--max-num-seqs": 8})
    endpoint = rig.apps.update(REF, change, rig.book, rig.heard)
    assert (endpoint.state, endpoint.model) == ("ready", "google/gemma-4-E4B-it")
    words = rig.account.of("Microsoft.App/containerApps")[0].properties["template"]["containers"][0]["args"]
    assert " ".join(words) == (
        "--model google/gemma-4-E4B-it --served-model-name google/gemma-4-E4B-it --host 0.0.0.0 --port 8000 "
        "--gpu-memory-utilization 0.9 --max-model-len 4096 --max-num-seqs 8"
    )
    assert len(rig.account.billing()) == 1


def test_what_does_not_come_up_goes_back_to_what_it_was(rig: Rig) -> None:
    rig.account.gpu_quota["swedencentral", "T4"] = rig.account.capacity["swedencentral", "T4"] = 3
    rig.deploy()
    before = rig.account.of("Microsoft.App/containerApps")[0].properties["template"]
    rig.account.boot = Boot(failure="Container was terminated with exit code 1")
    with pytest.raises(Unexpected) as error:
        rig.apps.update(REF, Change(settings={"max_model_len": 999999}), rig.book, rig.heard)
    assert error.value.fix.endswith("It is back at what it had.")
    assert rig.account.of("Microsoft.App/containerApps")[0].properties["template"] == before


def test_keeping_no_replica_up_any_more_is_a_change(rig: Rig) -> None:
    rig.account.gpu_quota["swedencentral", "T4"] = rig.account.capacity["swedencentral", "T4"] = 2
    rig.deploy(settings={"min_replicas": 1})
    rig.apps.update(REF, Change(settings={"min_replicas": 0}), rig.book, rig.heard)
    rig.account.clock.sleep(900)
    assert rig.account.billing() == []


def test_what_cannot_change_in_place_is_refused(rig: Rig) -> None:
    rig.deploy()
    before = len(rig.seam.writes())
    refused: tuple[dict[str, str | int | float | bool], ...] = (
        {"image": "x.io/y:1"},
        {"min_replicas": 1},
        {"environment": "/x"},
        {"engine": "vllm"},
    )
    for settings in refused:
        with pytest.raises(InvalidInput, match="cannot change in place"):
            rig.apps.update(REF, Change(settings=settings), rig.book, rig.heard)
    assert len(rig.seam.writes()) == before
