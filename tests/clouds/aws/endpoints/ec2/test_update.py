"""Another end, or another model or flags, on the machine that is held; ready is earned anew."""

from __future__ import annotations

import json
import shlex

import pytest

from clouds.errors import InvalidInput, Unexpected
from clouds.models import Change, EndpointRef
from tests.clouds.aws.rig import FakeMachine, Rig

REF = EndpointRef("aws", "ec2", "us-east-1", "gemma-4-e2b")
QAT = "google/gemma-4-E2B-it-qat-w4a16-ct"


@pytest.fixture
def deployed(machine: Rig, monkeypatch: pytest.MonkeyPatch) -> Rig:
    (row,) = machine.account["us-east-1"].instances.values()
    text = row["params"]["UserData"]
    held = text.split("serving.json 0644 <<'MODELRIG'\n", 1)[1].split("\n", 1)[0]
    monkeypatch.setattr(FakeMachine, "answer", held)
    return machine


def test_a_new_end_moves_the_timer_on_the_machine_then_the_tags(deployed: Rig) -> None:
    deployed.until("17:00")
    endpoint = deployed.ec2.update(REF, Change(ttl_hours=6), deployed.book, deployed.heard)
    assert endpoint.expires == "2026-11-29T23:00:00Z"
    (commands,) = deployed.shells[0].commands
    assert "OnCalendar=2026-11-29 23:00:00 UTC" in commands
    assert "systemctl restart modelrig-end.timer" in commands
    assert deployed.book.facts(endpoint.deployment)["expires"] == "2026-11-29T23:00:00Z"
    assert deployed.shells[0].closed


def test_another_model_replaces_the_engine_on_the_same_machine(deployed: Rig) -> None:
    endpoint = deployed.ec2.update(
        REF, Change(model=QAT, settings={"--max-num-seqs": 16}), deployed.book, deployed.heard
    )
    assert (endpoint.state, endpoint.model) == ("ready", QAT)
    _, put = deployed.shells[0].commands
    line = shlex.split(next(line for line in put.splitlines() if line.startswith("exec docker run")))
    assert line[line.index("--model") + 1] == QAT
    assert line[-2:] == ["--max-num-seqs", "16"]
    kept = json.loads(put.split("serving.json 0644 <<'MODELRIG'\n", 1)[1].split("\n", 1)[0])
    assert (kept["model"], kept["settings"]) == (QAT, {"--max-num-seqs": 16})
    assert len(deployed.account.bills) == 1


def test_an_engine_that_gives_no_token_afterwards_is_not_ready(deployed: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeMachine, "engine_port", 1)
    endpoint = deployed.ec2.update(REF, Change(model=QAT), deployed.book, deployed.heard)
    assert (endpoint.state, endpoint.billing) == ("loading", True)


WRONG = [
    ("another image", Change(settings={"image": "x/y:1"}), "settings"),
    ("another engine", Change(settings={"engine": "llama.cpp"}), "settings"),
    ("an end too far", Change(ttl_hours=9999), "ttl_hours"),
    ("an unknown setting", Change(settings={"colour": "red"}), "settings"),
    ("a format vLLM does not load", Change(model="me/some-gguf"), "model"),
]


def test_what_cannot_change_in_place_is_refused_before_the_engine_is_touched(deployed: Rig) -> None:
    for why, change, field in WRONG:
        with pytest.raises(InvalidInput) as told:
            deployed.ec2.update(REF, change, deployed.book, deployed.heard)
        restarts = [c for shell in deployed.shells for c in shell.commands if "restart" in c]
        assert (told.value.field, restarts) == (field, []), why
    assert deployed.ec2.get(REF).state == "ready"


def test_a_machine_that_does_not_say_what_it_serves_is_left_as_it_is(
    deployed: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeMachine, "answer", "{}garbage")
    with pytest.raises(Unexpected, match="does not hold what it serves with"):
        deployed.ec2.update(REF, Change(model=QAT), deployed.book, deployed.heard)
