"""A deployment from its plan to its first token, and what is taken back when it does not come to that."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from clouds.errors import Cancelled, Conflict, NoCapacity, QuotaTooSmall, Unexpected
from clouds.models import Scope
from tests.clouds.azure.endpoints import rig as rigs
from tests.clouds.azure.endpoints.rig import REF, Rig
from tests.clouds.azure.simulator import Boot, Fault, Killed
from tools.ledger import Book


def test_it_is_ready_when_a_token_came_and_its_cold_start_was_measured(rig: Rig) -> None:
    rig.account.boot = Boot()
    endpoint = rig.deploy()
    assert (endpoint.state, endpoint.billing, endpoint.model) == ("ready", True, "google/gemma-4-E2B-it")
    assert [phase.name for phase in endpoint.phases] == [
        "waiting for a replica",
        "pulling the image",
        "loading the model",
        "first token",
    ]
    facts = rig.book.facts(endpoint.deployment)
    assert facts["cold_start_seconds"] == sum(phase.seconds for phase in endpoint.phases) == 130
    assert facts["placed"] == "Consumption-GPU-NC8as-T4"
    assert endpoint.engine is not None
    assert (endpoint.engine.kv_cache_tokens, endpoint.engine.image[-10:]) == (321280, "ab" * 5)
    assert rig.steps() == [
        "Microsoft.Resources/resourceGroups.put done",
        "Microsoft.App/managedEnvironments.put done",
        "Microsoft.App/containerApps.put done",
        "web.chat done",
    ]


def test_succeeded_is_not_ready(rig: Rig) -> None:
    """The app says Succeeded after 20 s; it is made whole only when a replica has answered with a token."""
    rig.heard.stop_when = lambda message: "loading since" in message and "the model is being loaded" in message
    with pytest.raises(Cancelled):
        rig.deploy()
    assert rig.account.resources.keys() == rigs.usual().resources.keys()
    assert rig.account.billing() == []


def test_its_key_is_its_own_in_a_file_for_its_owner_and_nowhere_else(rig: Rig) -> None:
    endpoint = rig.deploy()
    file = Path(endpoint.key_file)
    key = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(key) > 30
    steps = json.dumps([step.call.parameters for step in rig.book.steps(endpoint.deployment)])
    assert key not in steps
    assert key not in endpoint.model_dump_json()
    assert key not in " ".join(rig.heard.said)
    assert dict(rig.apps.connect(REF).headers) == {"Authorization": f"Bearer {key}"}
    assert key not in repr(rig.apps.connect(REF))


def test_on_another_machine_the_key_comes_from_azure(rig: Rig) -> None:
    endpoint = rig.deploy()
    key = Path(endpoint.key_file).read_text().strip()
    Path(endpoint.key_file).unlink()
    assert dict(rig.apps.connect(REF).headers) == {"Authorization": f"Bearer {key}"}
    assert rig.apps.get(REF).key_file == ""


def test_no_gpu_in_one_region_and_one_in_the_next(rig: Rig) -> None:
    rig.account.capacity["swedencentral", "T4"] = 0
    endpoint = rig.deploy(regions=rigs.REGIONS, settings={"capacity_wait_seconds": 120})
    assert endpoint.ref == "azure:containerapps:westus3:gemma"
    assert [(bill.region, bill.end) for bill in rig.account.bills] == [("westus3", None)]
    attempts = rig.book.facts(endpoint.deployment)["attempts"]
    assert [(one["region"], one["kind"], one["undone"]) for one in attempts] == [("swedencentral", "no_capacity", True)]


def test_no_gpu_anywhere_leaves_nothing_and_says_so(rig: Rig) -> None:
    for region in rigs.REGIONS:
        rig.account.capacity[region, "T4"] = 0
    with pytest.raises(NoCapacity) as error:
        rig.deploy(regions=rigs.REGIONS, settings={"capacity_wait_seconds": 120})
    assert error.value.answered.endswith("Nothing remains and nothing was billed.")
    assert "no GPU of this type is free" in error.value.answered
    assert rig.account.bills == []
    assert [one.name for one in rig.account.of("Microsoft.Resources/resourceGroups")] == ["theirs"]


def test_quota_that_shows_only_on_the_environment_ends_it_before_the_app(rig: Rig) -> None:
    rig.account.gpu_quota["swedencentral", "T4"] = 0
    with pytest.raises(QuotaTooSmall, match="0 of 0 used"):
        rig.deploy()
    assert "PUT Microsoft.App/containerApps" not in rig.seam.names()
    assert rig.account.bills == []
    assert [one.name for one in rig.account.of("Microsoft.Resources/resourceGroups")] == ["theirs"]


def test_an_image_that_cannot_be_pulled_is_said_and_everything_goes(rig: Rig) -> None:
    rig.account.boot = Boot(failure="ImagePullBackOff: manifest unknown")
    with pytest.raises(Unexpected, match="manifest unknown") as error:
        rig.deploy()
    assert "pulled without a login" in error.value.fix
    assert rig.account.billing() == []


def test_an_engine_that_ends_each_time_is_quoted_from_its_log(rig: Rig) -> None:
    line = "torch.OutOfMemoryError: CUDA out of memory"
    rig.account.boot = Boot(failure="Container 'engine' was terminated with exit code 1", lines=((32.0, line),))
    with pytest.raises(Unexpected, match="CUDA out of memory"):
        rig.deploy()
    assert rig.account.billing() == []
    assert rig.book.facts(rig.book.deployments.live()[0].id)["ended"] is True


def test_a_model_that_gives_no_token_is_loading_and_bills(rig: Rig) -> None:
    rig.account.words = ""
    endpoint = rig.deploy()
    assert (endpoint.state, endpoint.billing) == ("loading", True)
    assert "without a token" in endpoint.reason


def test_a_load_that_is_longer_than_the_cool_down_is_kept_alive_by_asking(rig: Rig) -> None:
    rig.account.boot = Boot(pulled=30.0, ready=160.0)
    endpoint = rig.deploy(settings={"cooldown_seconds": 60})
    assert (endpoint.state, len(rig.account.bills)) == ("ready", 1)


def test_a_run_that_is_taken_up_much_later_does_not_count_the_time_between(rig: Rig) -> None:
    plan = rig.begin(rig.apps.plan(rig.spec()))
    rig.seam.fault = Fault(-1, "killed after", "PUT Microsoft.App/containerApps")
    with pytest.raises(Killed):
        rig.apps.create(plan, rig.book, rig.heard)
    rig.seam.fault, rig.seam.down = None, ""
    rig.account.clock.sleep(7200)  # it came up, nobody asked, it scaled to zero
    endpoint = rig.apps.create(plan, rig.book, rig.heard)
    assert endpoint.state == "ready"
    assert 20 < rig.book.facts(endpoint.deployment)["cold_start_seconds"] < 80


def test_the_same_call_again_takes_what_is_there_and_wakes_it(rig: Rig) -> None:
    plan = rig.begin(rig.apps.plan(rig.spec()))
    rig.apps.create(plan, rig.book, rig.heard)
    rig.account.clock.sleep(900)
    assert rig.account.billing() == []
    before = len(rig.seam.writes())
    assert rig.apps.create(plan, rig.book, rig.heard).state == "ready"
    assert [word for word in rig.seam.writes()[before:] if word.startswith("PUT")] == []
    assert len(rig.account.billing()) == 1


def test_what_is_killed_between_any_two_calls_is_listed_and_taken_away(tmp_path: Path) -> None:
    """The process dies after each creating call; another one, with no memory of it, finds and deletes all of it."""
    for at, what in enumerate(("Resources/resourceGroups", "App/managedEnvironments", "App/containerApps")):
        home = tmp_path / str(at)
        home.mkdir()
        rig = rigs.rig(home)
        plan = rig.begin(rig.apps.plan(rig.spec()))
        rig.seam.fault = Fault(-1, "killed after", f"PUT Microsoft.{what}")
        with pytest.raises(Killed):
            rig.apps.create(plan, rig.book, rig.heard)
        rig.account.clock.sleep(600)  # nobody is there, and Azure goes on
        rig.book.close()
        fresh = rigs.rig(home, rig.account)
        (home / "ledger.sqlite3").rename(home / "lost")
        fresh = replace(fresh, book=Book(home, clock=rig.account.now))
        shown = fresh.apps.list(scope=Scope()).found
        assert [one.ref for one in shown] == [str(REF)], what
        deletion = fresh.apps.delete(REF, fresh.book, fresh.heard)
        assert (deletion.gone, rig.account.billing()) == (True, [])
        assert [one.name for one in rig.account.of("Microsoft.Resources/resourceGroups")] == ["theirs"]
        fresh.book.close()


def test_an_end_that_has_passed_meanwhile_ends_it(rig: Rig) -> None:
    rig.account.boot = Boot(pulled=100.0, ready=400.0)
    with pytest.raises(Conflict, match="only after its own end"):
        rig.deploy(ttl_hours=0.084)
    assert rig.account.billing() == []


def test_a_hugging_face_token_reaches_azure_as_a_secret_and_the_ledger_by_name(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_veryverysecrettoken1234")
    endpoint = rig.deploy(settings={"hf_token_env": "HF_TOKEN"})
    app = rig.account.of("Microsoft.App/containerApps")[0]
    assert app.held["secrets"]["hf-token"] == "hf_veryverysecrettoken1234"
    assert "hf_very" not in json.dumps(app.shown())
    assert "hf_very" not in json.dumps([step.call.parameters for step in rig.book.steps(endpoint.deployment)])
    files = [path.read_bytes() for path in rig.book.home.rglob("*") if path.is_file()]
    assert not any(b"hf_very" in content for content in files)
