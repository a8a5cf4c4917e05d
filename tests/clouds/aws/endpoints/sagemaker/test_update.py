"""A new end moves the schedules; another model goes in beside the old one, or is refused where quota has no room."""

from __future__ import annotations

import pytest

from clouds.errors import Conflict, InvalidInput, Unexpected
from clouds.models import Change, EndpointRef
from tests.clouds.aws.rig import Rig
from tests.clouds.aws.simulator import boot

REF = EndpointRef("aws", "sagemaker", "us-east-2", "gemma-4-e2b")
QAT = "google/gemma-4-E2B-it-qat-w4a16-ct"


def room(rig: Rig) -> None:
    """Quota and capacity for a second instance."""
    for kind in ("ml.g6.xlarge", "ml.g6.2xlarge"):
        rig.account["us-east-2"].quotas[f"{kind} for endpoint usage"].value = 2
        rig.account["us-east-2"].capacity[kind] += 1


def test_a_new_end_moves_every_schedule_and_every_tag(deployed: Rig) -> None:
    deployed.until("18:00")
    endpoint = deployed.sagemaker.update(REF, Change(ttl_hours=6), deployed.book, deployed.heard)
    assert endpoint.expires == "2026-11-30T00:00:00Z"
    schedules = deployed.account["us-east-2"].schedules
    assert {name.rsplit("-", 1)[-1]: row["ScheduleExpression"] for name, row in schedules.items()} == {
        "endpoint": "at(2026-11-30T00:00:00)",
        "again": "at(2026-11-30T01:15:00)",
        "config": "at(2026-11-30T01:30:00)",
        "model": "at(2026-11-30T01:35:00)",
    }
    for resource in ("endpoint", "endpoint-config", "model"):
        tags = deployed.account.tags[deployed.account.arn("sagemaker", "us-east-2", f"{resource}/gemma-4-e2b")]
        assert tags["modelrig-expires"] == "2026-11-30T00:00:00Z"
    deployed.account.clock.sleep(3 * 3600)
    assert deployed.account.billing() == ["endpoint gemma-4-e2b (ml.g6.xlarge, us-east-2)"]
    deployed.account.clock.sleep(3.1 * 3600)
    assert deployed.account.billing() == []
    assert deployed.book.facts(endpoint.deployment)["expires"] == "2026-11-30T00:00:00Z"


def test_an_end_whose_schedule_somebody_removed_is_made_again(deployed: Rig) -> None:
    del deployed.account["us-east-2"].schedules["modelrig-gemma-4-e2b-endpoint"]
    deployed.sagemaker.update(REF, Change(ttl_hours=1), deployed.book, deployed.heard)
    assert "modelrig-gemma-4-e2b-endpoint" in deployed.account["us-east-2"].schedules
    deployed.account.clock.sleep(1.1 * 3600)
    assert deployed.account.billing() == []


def test_another_model_with_a_quota_of_one_is_refused_with_the_way_that_works(deployed: Rig) -> None:
    with pytest.raises(Conflict) as told:
        deployed.sagemaker.update(REF, Change(model=QAT), deployed.book, deployed.heard)
    assert told.value.answered == (
        "SageMaker starts a second instance first, and for ml.g6.xlarge for endpoint usage the quota is 1 and 1 in use"
    )
    assert told.value.fix == "Delete it and deploy again with the new model or settings."
    assert "sagemaker.UpdateEndpoint" not in deployed.seam.operations()


def test_another_model_goes_in_beside_the_old_one_and_the_old_parts_go(deployed: Rig) -> None:
    room(deployed)
    endpoint = deployed.sagemaker.update(
        REF, Change(model=QAT, settings={"max_model_len": 4096}), deployed.book, deployed.heard
    )
    assert (endpoint.state, endpoint.model) == ("ready", QAT)
    east = deployed.account["us-east-2"]
    assert (list(east.models), list(east.configs)) == (["gemma-4-e2b-u1"], ["gemma-4-e2b-u1"])
    environment = east.models["gemma-4-e2b-u1"]["PrimaryContainer"]["Environment"]
    assert environment["SM_VLLM_MODEL"] == environment["SM_VLLM_SERVED_MODEL_NAME"] == QAT
    assert (environment["SM_VLLM_MAX_MODEL_LEN"], environment["SM_VLLM_GPU_MEMORY_UTILIZATION"]) == ("4096", "0.9")
    assert deployed.account.misuse == []
    assert len(deployed.account.billing()) == 1
    deployed.account.clock.sleep(8 * 3600)
    assert (east.models, east.configs, east.endpoints, east.schedules) == ({}, {}, {}, {})


def test_an_update_that_rolls_back_leaves_what_served_and_says_why(deployed: Rig) -> None:
    room(deployed)
    deployed.account.boot = boot.BROKEN
    with pytest.raises(Unexpected, match="did not pass the ping health check"):
        deployed.sagemaker.update(REF, Change(model=QAT), deployed.book, deployed.heard)
    east = deployed.account["us-east-2"]
    assert (list(east.models), list(east.configs)) == (["gemma-4-e2b"], ["gemma-4-e2b"])
    assert deployed.sagemaker.get(REF).model == "google/gemma-4-E2B-it"


def test_deleting_after_an_update_takes_the_new_parts(deployed: Rig) -> None:
    room(deployed)
    deployed.sagemaker.update(REF, Change(settings={"max_model_len": 2048}), deployed.book, deployed.heard)
    deletion = deployed.sagemaker.delete(REF, deployed.book, deployed.heard)
    assert deletion.gone
    east = deployed.account["us-east-2"]
    assert (east.models, east.configs, east.endpoints, east.schedules) == ({}, {}, {}, {})


WRONG = [
    ("what is fixed", Change(settings={"image": "x:1"}), "settings"),
    ("what is unknown", Change(settings={"colour": "red"}), "settings"),
    ("a format vLLM does not load", Change(model="me/some-gguf"), "model"),
    ("an end too far", Change(ttl_hours=1000), "ttl_hours"),
]


def test_what_cannot_change_in_place_is_refused_and_nothing_changes(deployed: Rig) -> None:
    room(deployed)
    for why, change, field in WRONG:
        with pytest.raises(InvalidInput) as told:
            deployed.sagemaker.update(REF, change, deployed.book, deployed.heard)
        assert (told.value.field, "sagemaker.UpdateEndpoint" in deployed.seam.operations()) == (field, False), why


def test_what_modelrig_did_not_make_is_not_changed(deployed: Rig) -> None:
    deployed.account.tags[deployed.account.arn("sagemaker", "us-east-2", "endpoint/gemma-4-e2b")] = {}
    with pytest.raises(Conflict, match="modelrig did not make this endpoint"):
        deployed.sagemaker.update(REF, Change(ttl_hours=1), deployed.book, deployed.heard)


def environment(rig: Rig) -> dict[str, str]:
    (held,) = rig.account["us-east-2"].models.values()
    found: dict[str, str] = held["PrimaryContainer"]["Environment"]
    return found


def test_a_setting_that_goes_back_to_its_default_has_no_variable_any_more(rig: Rig) -> None:
    rig.deploy(settings={"tool_calls": True})
    assert environment(rig)["SM_VLLM_TOOL_CALL_PARSER"] == "gemma4"
    room(rig)
    rig.sagemaker.update(REF, Change(settings={"tool_calls": False}), rig.book, rig.heard)
    assert not {name for name in environment(rig) if "TOOL" in name}


def test_another_family_of_models_gets_its_own_tool_call_parser(rig: Rig) -> None:
    rig.deploy(settings={"tool_calls": True})
    room(rig)
    rig.sagemaker.update(REF, Change(model="Qwen/Qwen3-4B"), rig.book, rig.heard)
    assert environment(rig)["SM_VLLM_TOOL_CALL_PARSER"] not in ("", "gemma4")
    assert "SM_VLLM_ENABLE_AUTO_TOOL_CHOICE" in environment(rig)


def test_a_parser_that_somebody_chose_stays_with_another_model(rig: Rig) -> None:
    rig.deploy(settings={"SM_VLLM_TOOL_CALL_PARSER": "hermes"})
    room(rig)
    rig.sagemaker.update(REF, Change(model=QAT), rig.book, rig.heard)
    assert environment(rig)["SM_VLLM_TOOL_CALL_PARSER"] == "hermes"


def test_one_copy_over_more_accelerators_than_there_are_is_refused(deployed: Rig) -> None:
    room(deployed)
    with pytest.raises(InvalidInput, match="2 is more than the 1 accelerator of the instance"):
        deployed.sagemaker.update(REF, Change(settings={"tensor_parallel_size": 2}), deployed.book, deployed.heard)
    assert "sagemaker.UpdateEndpoint" not in deployed.seam.operations()
