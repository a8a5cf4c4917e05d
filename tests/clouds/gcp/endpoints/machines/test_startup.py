"""What a machine runs when it starts: it is read by bash itself, and holds no secret."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from shutil import which
from typing import Any

import pytest

from clouds.gcp.endpoints.machines import selfrun, serving, startup
from clouds.gcp.endpoints.machines.common import Chosen

IMAGE = "docker.io/vllm/vllm-tpu@sha256:" + "a" * 64
SECRET = "projects/p123/secrets/hf/versions/latest"
ARMS = '[{"name": "base"}, {"name": "long", "max_model_len": 131072}]'


def served(**changes: Any) -> serving.Serving:
    made = serving.of("google/gemma-4-E2B-it", 1, {}, tpu=True, image=IMAGE, secret=SECRET, prepared="")
    return replace(made, **changes)


def scripts() -> dict[str, str]:
    chosen = Chosen(
        results="gs://b/results", run_code="gs://b/code.tar.gz", run_code_sha256="b" * 64, run_arms=ARMS,
        compile_cache="gs://b/cache",
    )  # fmt: skip
    own = served()
    return {
        "TPU": startup.render(startup.Machine(IMAGE, tpu=True, secret=SECRET, cache="gs://b/cache", attributes=True)),
        "GPU": startup.render(startup.Machine(IMAGE, tpu=False, prepare="gs://b/patch.sh", prepare_sha256="c" * 64)),
        "self": startup.render(
            startup.Machine(
                IMAGE,
                tpu=True,
                after=selfrun.script(own, chosen),
                gone=selfrun.gone("gce", "gemma", "us-east5-a", "demo-project", chosen),
            )
        ),
        "program": serving.script(own),
    }


@pytest.mark.parametrize("name", ["TPU", "GPU", "self", "program"])
def test_bash_reads_it(name: str) -> None:
    bash = which("bash")
    if bash is None:
        pytest.skip("there is no bash on this machine")
    ran = subprocess.run([bash, "-n"], input=scripts()[name], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_token_is_read_on_the_machine_and_never_shown_or_traced() -> None:
    text = scripts()["TPU"]
    assert f"https://secretmanager.googleapis.com/v1/{SECRET}:access" in text
    reading = text[text.index("umask 077") : text.index("/run/modelrig/env ]")]
    assert "set +x" in reading
    assert "-H @/run/modelrig/header" in reading  # the token is in no command line
    assert "--env-file /run/modelrig/env" in scripts()["program"]


def test_the_compile_cache_is_read_before_the_engine_and_saved_once_it_answers() -> None:
    text = scripts()["TPU"]
    assert text.index("rsync -r gs://b/cache") < text.index("systemctl enable --now modelrig.service")
    assert text.index("answers\nsave_cache") > text.index("systemctl enable --now modelrig.service")
    assert "-v /var/lib/modelrig/cache/vllm:/root/.cache/vllm" in scripts()["program"]


def test_a_preparing_script_runs_only_when_it_is_the_one_that_was_planned() -> None:
    text = scripts()["GPU"]
    assert text.index("sha256sum -c --quiet") < text.index("bash /run/modelrig-prepare")


def test_a_machine_that_measures_itself_deletes_itself_however_its_script_ends() -> None:
    text = scripts()["self"]
    assert text.index("trap gone EXIT") < text.index('say "script began"')
    assert "zones/us-east5-a/instances/modelrig-gemma" in text
    assert text.index("arm base <<") < text.index("arm long <<") < text.index("done.json")
    assert "--max-model-len 131072" in text


def test_another_program_in_the_metadata_is_waited_for_and_replaces_the_container() -> None:
    text = scripts()["TPU"]
    assert "modelrig-serve?wait_for_change=true" in text
    assert "systemctl restart modelrig.service" in text


def test_what_was_written_is_read_back_and_nothing_else_is() -> None:
    own = served(settings={"max_model_len": 4096})
    assert serving.Serving.read(own.text()) == own
    for wrong in ("", "[]", '{"other": 1}', '{"image": 1}'):
        with pytest.raises(ValueError, match=r"Expecting value|not a serving record"):
            serving.Serving.read(wrong)
