"""A managed online endpoint from its plan to its first token and to its end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from clouds.errors import Conflict, InvalidInput, NoCapacity, QuotaTooSmall, Unexpected
from clouds.models import Change, Scope
from tests.clouds.azure.endpoints import rig as rigs
from tests.clouds.azure.endpoints.rig import BIG, ML_REF, SIZE, Rig
from tests.clouds.azure.simulator import Boot, Fault, Killed
from tools.ledger import Book


def test_it_is_ready_when_a_token_came(rig: Rig) -> None:
    endpoint = rig.deploy_ml()
    assert (endpoint.state, endpoint.billing, endpoint.model) == ("ready", True, rigs.GGUF)
    assert (endpoint.url, endpoint.expires) == (
        "https://gemma.swedencentral.inference.ml.azure.com",
        "2026-11-29T19:00:00Z",
    )
    assert endpoint.engine is not None
    assert endpoint.engine.image == "ghcr.io/ggml-org/llama.cpp@sha256:" + "ab" * 32
    assert rig.ml.get(ML_REF) == endpoint
    assert rig.ml.list(scope=Scope()).found == (endpoint,)
    assert {word.rsplit(" ", 1)[1] for word in rig.steps()} == {"done"}


def test_its_wire_has_one_path_its_own_key_and_names_the_deployment(rig: Rig) -> None:
    rig.deploy_ml()
    wire = rig.ml.connect(ML_REF)
    assert (wire.url + wire.path, wire.model) == (
        "https://gemma.swedencentral.inference.ml.azure.com/v1/chat/completions",
        rigs.GGUF,
    )
    assert wire.headers["azureml-model-deployment"] == "main"
    assert wire.headers["Authorization"].startswith("Bearer key-of-gemma-")
    assert "key-of" not in repr(wire)


def test_no_machine_of_one_size_and_one_of_the_next(rig: Rig) -> None:
    rig.account.capacity["swedencentral", SIZE] = 0
    endpoint = rig.deploy_ml(instance_types=(SIZE, BIG), max_usd_per_hour=6.0)
    assert endpoint.hardware is not None
    assert endpoint.hardware.instance_type == BIG
    assert [(bill.type, bill.end) for bill in rig.account.bills] == [(BIG, None)]
    attempts = rig.book.facts(endpoint.deployment)["attempts"]
    assert [(one["region"], one["types"], one["code"]) for one in attempts] == [(SIZE, [SIZE], "OutOfCapacity")]
    assert attempts[0]["waited_seconds"] == 360
    assert rig.book.facts(endpoint.deployment)["location"] == "swedencentral"


def test_no_machine_at_all_leaves_nothing_that_bills_and_says_so(rig: Rig) -> None:
    rig.account.capacity["swedencentral", SIZE] = 0
    with pytest.raises(NoCapacity, match="Nothing remains and nothing was billed"):
        rig.deploy_ml()
    assert (rig.account.bills, rig.ml.list(scope=Scope()).found) == ([], ())


def test_quota_that_is_gone_meanwhile_is_told_apart_from_capacity(rig: Rig) -> None:
    plan = rig.begin(rig.ml.plan(rig.ml_spec()))
    rig.account.ml_quota["swedencentral", rigs.FAMILY] = (0, 0)
    with pytest.raises(QuotaTooSmall, match="Not enough quota available"):
        rig.ml.create(plan, rig.book, rig.heard)


def test_a_container_that_does_not_start_is_quoted_and_its_machine_given_back(rig: Rig) -> None:
    rig.account.boot = Boot(failure="The container failed its probe", lines=((5.0, "ERROR: model file is not there"),))
    with pytest.raises(Unexpected, match="model file is not there"):
        rig.deploy_ml()
    assert len(rig.account.bills) == 1
    assert rig.account.billing() == []


def test_a_container_that_answers_an_error_is_loading_with_its_own_words(rig: Rig) -> None:
    rig.account.words = ""
    endpoint = rig.deploy_ml()
    assert (endpoint.state, endpoint.billing) == ("loading", True)
    assert "HTTP 424 (the container answered 500 boom)" in endpoint.reason


def test_at_its_end_azure_deletes_it_with_nobody_there(rig: Rig) -> None:
    rig.deploy_ml(ttl_hours=2)
    rig.account.clock.sleep(2 * 3600)
    assert rig.account.billing() == []
    assert [(one.ref, one.state, one.billing) for one in rig.ml.list(scope=Scope()).found] == [
        (str(ML_REF), "deleted", False)
    ]
    deletion = rig.ml.delete(ML_REF, rig.book, rig.heard)
    assert (deletion.gone, {word.rsplit(" ", 1)[1] for word in rig.steps()}) == (True, {"undone", "done"})
    assert rig.account.of("Microsoft.Logic/workflows") == []


def test_what_is_killed_between_any_two_calls_is_listed_and_taken_away(tmp_path: Path) -> None:
    """The process dies after each creating call; another one, with no memory of it, finds and deletes all of it."""
    space = "Microsoft.MachineLearningServices/workspaces/onlineEndpoints"
    for at, what in enumerate((space, "Microsoft.Logic/workflows", f"{space}/deployments")):
        home = tmp_path / str(at)
        home.mkdir()
        rig = rigs.rig(home)
        plan = rig.begin(rig.ml.plan(rig.ml_spec()))
        rig.seam.fault = Fault(-1, "killed after", f"PUT {what}")
        with pytest.raises(Killed):
            rig.ml.create(plan, rig.book, rig.heard)
        rig.account.clock.sleep(600)  # nobody is there, and Azure goes on
        rig.book.close()
        fresh = rigs.rig(home, rig.account)
        fresh.book.close()
        (home / "ledger.sqlite3").rename(home / "lost")
        fresh = replace(fresh, book=Book(home, clock=rig.account.now))
        assert [one.ref for one in fresh.ml.list(scope=Scope()).found] == [str(ML_REF)], what
        deletion = fresh.ml.delete(ML_REF, fresh.book, fresh.heard)
        assert (deletion.gone, rig.account.billing()) == (True, [])
        left = [one.type.rsplit("/", 1)[1] for one in rig.account.resources.values()]
        assert left == ["resourceGroups", "workspaces", "versions"]
        fresh.book.close()


def test_deleting_takes_the_traffic_first_and_what_bills_before_its_end(rig: Rig) -> None:
    rig.deploy_ml()
    before = len(rig.seam.writes())
    deletion = rig.ml.delete(ML_REF, rig.book, rig.heard)
    assert [word.rsplit("/", 1)[1] for word in rig.seam.writes()[before:]] == [
        "onlineEndpoints",  # traffic to 0
        "deployments",
        "roleAssignments",
        "workflows",
        "onlineEndpoints",
        "versions",  # put away: Azure ML deletes none
    ]
    assert deletion.gone
    assert (deletion.parts[-1].outcome, deletion.parts[-1].detail) == (
        "kept",
        "archived: Azure ML deletes no version; it costs nothing",
    )
    again = rig.ml.delete(ML_REF, rig.book, rig.heard)
    assert [(part.part, part.outcome) for part in again.parts] == [("endpoint gemma", "was not there")]


def test_a_deployment_under_way_is_deleted_when_azure_lets_it_go(rig: Rig) -> None:
    rig.account.boot = Boot(ready=400.0)
    plan = rig.begin(rig.ml.plan(rig.ml_spec()))
    rig.seam.fault = Fault(
        -1, "killed after", "PUT Microsoft.MachineLearningServices/workspaces/onlineEndpoints/deployments"
    )
    with pytest.raises(Killed):
        rig.ml.create(plan, rig.book, rig.heard)
    rig.seam.fault, rig.seam.down = None, ""
    deletion = rig.ml.delete(ML_REF, rig.book, rig.heard)
    assert (deletion.gone, rig.account.billing()) == (True, [])
    assert any("Azure is still busy with it" in word for word in rig.heard.said)


def test_another_end_moves_the_scheduled_one(rig: Rig) -> None:
    rig.deploy_ml()
    rig.ml.update(ML_REF, Change(ttl_hours=10), rig.book, rig.heard)
    rig.account.clock.sleep(9 * 3600)
    assert len(rig.account.billing()) == 1
    rig.account.clock.sleep(3700)
    assert rig.account.billing() == []


def test_another_setting_needs_quota_for_a_second_machine_and_goes_back_when_it_fails(rig: Rig) -> None:
    rig.deploy_ml()
    rig.account.ml_quota["swedencentral", rigs.FAMILY] = (4, 0)
    with pytest.raises(Conflict, match=r"starts a second machine first, and .* 4 of 4 used"):
        rig.ml.update(ML_REF, Change(settings={"max_model_len": 4096}), rig.book, rig.heard)
    rig.account.ml_quota["swedencentral", rigs.FAMILY] = (8, 0)
    with pytest.raises(NoCapacity) as error:
        rig.ml.update(ML_REF, Change(settings={"max_model_len": 4096}), rig.book, rig.heard)
    assert error.value.fix.endswith("It is back at what it had.")
    rig.account.capacity["swedencentral", SIZE] = 1
    change = Change(settings={"max_model_len": 4096, "concurrent_requests": 8})
    assert rig.ml.update(ML_REF, change, rig.book, rig.heard).state == "ready"
    held = rig.account.of(rigs.ml.DEPLOYMENT)[0].properties
    assert (held["environmentVariables"]["LLAMA_ARG_CTX_SIZE"], len(rig.account.billing())) == ("4096", 1)
    assert held["requestSettings"] == {"requestTimeout": "PT180S", "maxConcurrentRequestsPerInstance": 8}
    with pytest.raises(InvalidInput, match="image cannot change in place"):
        rig.ml.update(ML_REF, Change(settings={"image": "x.io/y:1"}), rig.book, rig.heard)


def test_lines_of_the_container(rig: Rig) -> None:
    rig.deploy_ml()
    page = rig.ml.logs(ML_REF, since=timedelta(hours=1), limit=1)
    assert (page.lines, page.total) == (("INFO:     Application startup complete.",), 4)


def test_looking_reads_only_what_the_service_declares(rig: Rig) -> None:
    rig.deploy_ml()
    before = len(rig.seam.sent)
    rig.ml.get(ML_REF)
    rig.ml.list(scope=Scope())
    declared = {call.service.lower() for call in rig.ml.reads}
    assert {one.type.lower() for one in rig.seam.sent[before:] if one.method == "GET"} - declared == set()
    assert {one.method for one in rig.seam.sent[before:]} == {"GET", "POST"}
