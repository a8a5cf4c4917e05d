from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from clouds.gcp.checks import PACK
from clouds.gcp.checks.commands import account_line, command, query
from clouds.models import Call, Scope
from clouds.models.removal import Doomed
from clouds.models.waste import WasteCheck
from tests.clouds.gcp.checks.stage import NOW, PROJECT, Account, waste
from tests.clouds.gcp.checks.test_pack import REMOVABLE, steps_of
from tools.cleanup import planning, script
from tools.progress import CallProgress

AT = Scope(None, PROJECT)


@pytest.mark.parametrize("check", REMOVABLE, ids=lambda check: check.id)
def test_every_step_and_every_reading_back_has_its_gcloud_command_in_its_project(
    check: WasteCheck, account: Account
) -> None:
    for step in steps_of(check, account):
        assert step.until is not None
        for call in (step.call, step.until.call):
            words = command(call, AT)
            assert words[0] == "gcloud"
            assert f"--project={PROJECT}" in words
            assert all(str(word) for word in words)
            assert not any("None" in str(word) for word in words)


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (
            Call("compute", "disks.delete", {"project": PROJECT, "zone": "us-central1-a", "disk": "data"}),
            "gcloud compute disks delete data --zone=us-central1-a --project=shop-prod --quiet",
        ),
        (
            Call("compute", "globalAddresses.get", {"project": PROJECT, "address": "front"}),
            "gcloud compute addresses describe front --global --project=shop-prod",
        ),
        (
            Call("tpu-v2alpha1", "projects.locations.queuedResources.delete",
                 {"name": "projects/shop-prod/locations/us-west4-a/queuedResources/q1", "force": True}),
            "gcloud compute tpus queued-resources delete q1 --zone=us-west4-a --force --project=shop-prod --quiet",
        ),
        (
            Call("run", "projects.locations.services.patch",
                 {"name": "projects/shop-prod/locations/us-central1/services/gemma",
                  "updateMask": "template.scaling.minInstanceCount",
                  "body": {"template": {"scaling": {"minInstanceCount": 0}}}}),
            "gcloud run services update gemma --min-instances=0 --region=us-central1 --project=shop-prod",
        ),
        (
            Call("run", "projects.locations.workerPools.patch",
                 {"name": "projects/shop-prod/locations/us-central1/workerPools/jobs",
                  "updateMask": "scaling.manualInstanceCount", "body": {"scaling": {"manualInstanceCount": 0}}}),
            "gcloud beta run worker-pools update jobs --scaling=0 --region=us-central1 --project=shop-prod",
        ),
        (
            Call("compute", "futureReservations.get",
                 {"project": PROJECT, "zone": "us-central1-a", "futureReservation": "blocks"}),
            "gcloud beta compute future-reservations describe blocks --zone=us-central1-a --project=shop-prod",
        ),
        (
            Call("sqladmin", "instances.patch", {"project": PROJECT, "instance": "orders",
                                                 "body": {"settings": {"activationPolicy": "NEVER"}}}),
            "gcloud sql instances patch orders --activation-policy=NEVER --project=shop-prod --quiet",
        ),
        (
            Call("aiplatform", "projects.locations.endpoints.undeployModel",
                 {"endpoint": "projects/shop-prod/locations/us-central1/endpoints/7",
                  "body": {"deployedModelId": "9"}}),
            "gcloud ai endpoints undeploy-model 7 --deployed-model-id=9 --region=us-central1 --project=shop-prod",
        ),
    ],
)  # fmt: skip
def test_a_call_reads_like_a_command_that_a_person_would_write(call: Call, shown: str) -> None:
    assert " ".join(str(word) for word in command(call, AT)) == shown


def test_a_call_without_a_word_of_gcloud_is_refused() -> None:
    with pytest.raises(InvalidInput, match="gcloud has no word"):
        command(Call("compute", "networks.delete", {"network": "default"}), AT)


def test_only_what_asks_back_is_told_not_to() -> None:
    zone = {"project": PROJECT, "zone": "us-central1-a", "instance": "web"}
    assert "--quiet" not in command(Call("compute", "instances.stop", zone), AT)
    assert "--quiet" in command(Call("compute", "instances.delete", zone), AT)
    backup = {"name": "projects/shop-prod/backups/b"}
    assert "--quiet" in command(Call("sqladmin", "Backups.DeleteBackup", backup), AT)
    assert "--quiet" not in command(Call("sqladmin", "Backups.GetBackup", backup), AT)


def test_a_value_is_asked_for_by_its_path() -> None:
    assert query("status") == ("--format=value(status)",)
    assert query("") == ("--format=value(name)",)


def test_the_script_of_a_plan_parses_and_names_the_project_in_every_command(account: Account, tmp_path: Path) -> None:
    findings = []
    plans = []
    for check in ("disk-unattached", "vm-stopped", "run-gpu-idle", "tpu-queued-husk"):
        findings = list(account.scan(check, waste(check)).findings)
        plans.append(planning.make("scan", findings, lambda _: account.cloud, (), NOW, CallProgress()))
    for plan in plans:
        assert plan.findings
        text = script.render(plan, {"gcp": PACK.command}, {"gcp": PACK.query}, {"gcp": PACK.account_line})
        file = tmp_path / "plan.sh"
        file.write_text(text, "utf-8")
        assert account_line(PROJECT) in text
        lines = [
            line for line in text.splitlines() if "gcloud " in line and not line.startswith(("#", "gcloud projects"))
        ]
        assert lines
        assert [line for line in lines if "--project=shop-prod" not in line] == []
        bash = shutil.which("bash")
        if bash is not None:
            subprocess.run([bash, "-n", str(file)], check=True, timeout=30)


def test_models_leave_an_endpoint_in_an_order_that_vertex_takes() -> None:
    from clouds.gcp.checks.vertex import ENDPOINT_IDLE

    name = "projects/shop-prod/locations/us-central1/endpoints/7"
    models = [{"id": "1"}, {"id": "2"}, {"id": "3"}]
    row = {"name": name, "deployedModels": models, "trafficSplit": {"1": 60, "2": 40}}
    assert not isinstance(ENDPOINT_IDLE.remove, str)
    steps = ENDPOINT_IDLE.remove(Doomed(row, AT, name, "7", "m"))
    assert [step.call.parameters["body"] for step in steps] == [
        {"deployedModelId": "3"},
        {"deployedModelId": "2", "trafficSplit": {"1": 100}},
        {"deployedModelId": "1"},
    ]
    assert [step.until.gone_on for step in steps if step.until] == [("2", "1"), ("1",), ()]
    assert "--traffic-split=1=100" in command(steps[1].call, AT)


def test_a_list_is_printed_so_that_the_script_can_compare_it() -> None:
    assert query("deployedModels.id") == ('--format=value(deployedModels[].id.list(separator="|"))',)
