"""The commands of a cleanup: always with the subscription, `--yes` only where the CLI would ask, nothing unquoted."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from clouds.azure.checks import CHECKS, PACK
from clouds.azure.checks.commands import NATIVE, account_line, command, query
from clouds.models import Call, Scope
from clouds.replay import Replay
from tests.clouds.azure.checks.stage import NOW, SUBSCRIPTION, Account, loaded, waste_scenario
from tests.clouds.rows import some
from tools.cleanup import planning, script
from tools.cleanup.records import CleanupPlan
from tools.progress import CallProgress

AT = Scope(None, SUBSCRIPTION)
DISK = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/lab/providers/Microsoft.Compute/disks/d"
REMOVABLE = [check for check in CHECKS if not isinstance(check.remove, str)]


def test_a_command_is_the_clis_own_with_name_group_and_subscription() -> None:
    words = command(Call("Microsoft.Compute/disks", "delete", {"id": DISK}), AT)
    assert " ".join(words) == f"az disk delete --name d --resource-group lab --yes --subscription {SUBSCRIPTION}"
    words = command(Call("Microsoft.Compute/snapshots", "delete", {"id": DISK.replace("disks", "snapshots")}), AT)
    assert " ".join(words) == f"az snapshot delete --name d --resource-group lab --subscription {SUBSCRIPTION}"


def test_a_child_names_its_parent() -> None:
    host = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/lab/providers/Microsoft.Compute/hostGroups/g/hosts/h"
    words = command(Call("Microsoft.Compute/hostGroups/hosts", "delete", {"id": host}), AT)
    assert words[:10] == ("az", "vm", "host", "delete", "--name", "h", "--resource-group", "lab", "--host-group", "g")


def test_what_the_cli_has_no_core_command_for_is_sent_to_the_very_address() -> None:
    app = DISK.replace("Microsoft.Compute/disks", "Microsoft.App/containerApps")
    words = command(Call("Microsoft.App/containerApps", "patch", {"id": app, "body": {"a": "it's"}}), AT)
    assert words[:4] == ("az", "rest", "--method", "patch")
    assert words[5].startswith(f"https://management.azure.com{app}?api-version=")
    assert words[6:] == ("--body", '{"a": "it\'s"}', "--subscription", SUBSCRIPTION)


def plan_of(check: str, account: Account) -> CleanupPlan:
    scenario = loaded(waste_scenario(check))
    found = account.known(waste_scenario(check)).scan
    account.stage.replay = Replay([scenario, account.base])
    return planning.make(found.id, found.findings, lambda _name: account.cloud, (), NOW, CallProgress())


def test_every_line_of_a_script_that_calls_the_cli_names_the_subscription(account: Account, tmp_path: Path) -> None:
    plans = [plan_of(check.id, account) for check in some(REMOVABLE, 3)]
    assert [plan.refused for plan in plans if not plan.findings] == []
    whole = replace(plans[0], findings=tuple(each for plan in plans for each in plan.findings))
    text = script.render(whole, {"azure": command}, {"azure": query}, {"azure": account_line})
    lines = [line for line in text.splitlines() if "az " in line and not line.startswith("#")]
    assert len(lines) >= 2 * len(plans)
    assert [line for line in lines if f"--subscription {SUBSCRIPTION}" not in line] == []
    assert "READ EVERY LINE BEFORE RUNNING THIS" in text
    file = tmp_path / "cleanup.sh"
    file.write_text(text, "utf-8")
    for tool in (("bash", "-n"), ("shellcheck",)):
        if where := shutil.which(tool[0]):
            ran = subprocess.run([where, *tool[1:], str(file)], check=False, capture_output=True, text=True)
            assert ran.returncode == 0, ran.stdout[:2000]


def test_only_commands_that_would_ask_are_given_yes() -> None:
    asking = {kind for kind, native in NATIVE.items() if native.asks}
    for kind in NATIVE:
        inner = "/".join(f"{part}/n" for part in kind.split("/")[1:])
        resource = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/lab/providers/{kind.split('/', 1)[0]}/{inner}"
        assert ("--yes" in command(Call(kind, "delete", {"id": resource}), AT)) == (kind in asking)
    assert "Microsoft.Compute/snapshots" not in asking
    assert "Microsoft.Network/networkInterfaces" not in asking


AZ = shutil.which("az") or ""


@pytest.mark.skipif(not os.environ.get("MODELRIG_LIVE") or not AZ, reason="asks the installed az for its help (live)")
def test_the_installed_cli_takes_the_options_that_are_printed() -> None:
    wrong = []
    for native in (*NATIVE.values(), None):
        verb = native.verb.split() if native else ["group"]
        answer = subprocess.run([AZ, *verb, "delete", "-h"], capture_output=True, text=True, check=False).stdout
        asks = native.asks if native else True
        if ("--yes" in answer) != asks or "--name" not in answer or (native and native.parent not in answer):
            wrong.append(verb)
    assert wrong == []


def test_the_states_of_a_machine_are_printed_as_one_word() -> None:
    assert query("statuses.code") == ("--query", "join('|', statuses[].code)", "--output", "tsv")
    assert query("properties.provisioningState")[1] == "properties.provisioningState"


def test_the_script_stops_in_any_other_subscription() -> None:
    assert PACK.account_line(SUBSCRIPTION).count(SUBSCRIPTION) == 2


FAKE = """#!/usr/bin/env bash
echo "$*" >> "$LOG"
case "$*" in
  "account show"*) echo "$SUB" ;;
  *"--query join"*) echo 'ProvisioningState/succeeded|PowerState/deallocated' ;;
  *"--method get"*) echo 'Not Found({"error":{"code":"ResourceNotFound"}})' >&2; exit 3 ;;
esac
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.parametrize("check", ["stopped-not-deallocated-vm", "orphaned-nic"])
def test_a_script_runs_to_its_end_with_a_cli_that_answers_as_azures_does(
    check: str, account: Account, tmp_path: Path
) -> None:
    fake = tmp_path / "az"
    fake.write_text(FAKE, "utf-8")
    fake.chmod(0o755)
    text = script.render(plan_of(check, account), {"azure": command}, {"azure": query}, {"azure": account_line})
    (tmp_path / "cleanup.sh").write_text(text, "utf-8")
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LOG": str(tmp_path / "log"), "SUB": SUBSCRIPTION}
    shell = shutil.which("bash") or ""
    ran = subprocess.run(
        [shell, str(tmp_path / "cleanup.sh")], env=environment, capture_output=True, text=True, timeout=20, check=False
    )
    assert ran.returncode == 0, ran.stderr
    sent = (tmp_path / "log").read_text("utf-8").splitlines()
    assert [line for line in sent if f"--subscription {SUBSCRIPTION}" not in line] == []
    writes = [line for line in sent if " delete" in line or "--method post" in line]
    assert len(writes) == {"stopped-not-deallocated-vm": 1, "orphaned-nic": 2}[check]
