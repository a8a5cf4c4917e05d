"""The engine on the machine: which container with which arguments. What a machine serves with is one small record."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from clouds.errors import InvalidInput
from clouds.gcp.endpoints import late
from clouds.gcp.endpoints import model as models
from clouds.gcp.endpoints import settings as options
from clouds.models import Setting

PORT = 8000
IMAGES = {True: "docker.io/vllm/vllm-tpu:v0.30.0", False: "docker.io/vllm/vllm-openai:v0.30.0"}
"""By whether it is a TPU: the release measured in the article of 2026-10-25. A digest is resolved when planned."""
HELD = "/var/lib/modelrig"
SETTINGS: Mapping[str, str] = {
    "image": "container image; a release tag is resolved to its digest, a moving tag is refused; default: vLLM 0.30.0",
    "max_model_len": "tokens of context, integer; default 8192",
    "gpu_memory_utilization": "share of the memory, 0.1 to 0.98; default 0.9, on a TPU 0.92, which is the most there",
    "tensor_parallel_size": "chips or GPUs that share one copy, 1 to 8; default: all of the machine",
    "tool_calls": "true sets the tool-call parser for the model's family; default false",
    "--*": options.FLAGS,
}
CHECKS: Mapping[str, options.Check] = {
    "image": options.IMAGE,
    "max_model_len": options.whole(1, 10_000_000),
    "gpu_memory_utilization": options.number(0.1, 0.98, "0.9 serves; 0.92 is the most seen to serve on a TPU."),
    "tensor_parallel_size": options.whole(1, 8),
    "tool_calls": options.switch,
}


@dataclass(frozen=True)
class Serving:
    """What the machine serves; kept in its metadata as JSON, so that it can be read and changed in place.

    `settings` holds the engine's settings and flags alone. `revision` counts the changes. `prepared` names the script
    that ran before the engine, with its sha256: it may have changed the image, so it belongs to every record.
    """

    image: str
    model: str
    accelerators: int
    tpu: bool
    secret: str = ""
    prepared: str = ""
    revision: int = 1
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def text(self) -> str:
        """As it is kept."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> Serving:
        """What `text` wrote. Raises ValueError for anything else."""
        held = json.loads(text)
        if not isinstance(held, dict) or not held.keys() <= cls.__dataclass_fields__.keys():
            raise ValueError("not a serving record")
        try:
            return cls(**held)
        except TypeError as error:
            raise ValueError("not a serving record") from error

    def changed(self, model: str | None, settings: Mapping[str, Setting]) -> Serving:
        """With another model and other settings. Raises InvalidInput for what the engine cannot take."""
        merged = {**self.settings, **{name: value for name, value in settings.items() if name != "image"}}
        found = replace(self, model=model or self.model, settings=merged, revision=self.revision + 1)
        check(found)
        return found


def of(
    model: str, shape_count: int, settings: Mapping[str, Setting], *, tpu: bool, image: str, secret: str, prepared: str
) -> Serving:
    """The record for what was asked; only settings of the engine are kept in it."""
    kept = {k: v for k, v in settings.items() if (k in SETTINGS and k not in {"image", "--*"}) or k.startswith("-")}
    return Serving(image, model, shape_count, tpu, secret, prepared, settings=kept)


def check(serving: Serving) -> tuple[str, ...]:
    """Warnings. Raises InvalidInput for what the engine does not load, and for what fails only after the compile."""
    warnings = list(models.check(serving.model))
    values, flags = options.choose(serving.settings, SETTINGS, CHECKS, "gce")
    if serving.tpu:
        late.check_for_tpu(flags, _share(values, serving))
        warnings += models.check_for_tpu(serving.model)
    parallel = values.get("tensor_parallel_size", serving.accelerators)
    if serving.accelerators % parallel:
        raise InvalidInput(
            "tensor_parallel_size", f"{parallel} does not divide the {serving.accelerators} chips of the machine",
            fix=f"Use {serving.accelerators}, or a divisor of it.",
        )  # fmt: skip
    if parallel < serving.accelerators:
        idle = serving.accelerators - parallel
        warnings.append(f"{idle} of {serving.accelerators} chips stay idle and are paid for: one copy takes {parallel}")
    elif serving.accelerators > 1:
        warnings.append(
            f"one engine over {serving.accelerators} chips; for a model that fits one chip, {serving.accelerators} "
            "one-chip endpoints serve more (E2B on v5e-4: 1.39x at 16 streams, 2.52x at 64, 3.36x at 256; 2026-10-25)"
        )
    arguments(serving)
    return tuple(warnings)


def arguments(serving: Serving) -> list[str]:
    """The engine's own arguments, each one word."""
    values, flags = options.choose(serving.settings, SETTINGS, CHECKS, "gce")
    local = f"/models/{local_name(serving.model)}" if serving.model.startswith("gs://") else serving.model
    made = [local, "--served-model-name", serving.model, "--host", "0.0.0.0", "--port", str(PORT)]  # noqa: S104 - reached through the tunnel's range alone
    made += ["--max-model-len", str(values.get("max_model_len", 8192))]
    made += ["--gpu-memory-utilization", f"{_share(values, serving):g}"]
    made += ["--tensor-parallel-size", str(values.get("tensor_parallel_size", serving.accelerators))]
    if values.get("tool_calls"):
        made += ["--enable-auto-tool-choice", "--tool-call-parser", models.tool_parser(serving.model)]
    for name, value in flags.items():
        made += [name] if value is True else [] if value is False else [name, str(value)]
    return made


def _share(values: Mapping[str, Any], serving: Serving) -> float:
    """The share of memory: 0.92 on a TPU is vLLM's own there, with which the articles measured."""
    return float(values.get("gpu_memory_utilization", late.MOST_HBM if serving.tpu else 0.9))


def local_name(place: str) -> str:
    """The folder of weights on the machine for `gs://bucket/a/b`."""
    return place.removeprefix("gs://").strip("/").replace("/", "__")


def script(serving: Serving) -> str:
    """The program that systemd keeps running: one container. It has no secret; a token is in memory alone."""
    run = ["docker", "run", "--rm", "--name", "modelrig", "-v", f"{HELD}/cache/vllm:/root/.cache/vllm"]
    run += ["-v", f"{HELD}/hf:/hf", "-e", "HF_HOME=/hf", "-v", f"{HELD}/models:/models:ro"]
    if serving.tpu:
        run += ["--privileged", "--net=host", "--shm-size", "10gb", "-v", "/dev/shm:/dev/shm"]  # noqa: S108 - of the container
    else:
        run += ["--gpus", "all", "--ipc=host", "-p", f"{PORT}:{PORT}"]
    if serving.secret:
        run += ["--env-file", "/run/modelrig/env"]
    before = " ".join(shlex.quote(word) for word in run)
    after = " ".join(shlex.quote(word) for word in ["vllm", "serve", *arguments(serving)])
    lines = ["#!/bin/bash", f"# revision {serving.revision}", f"image={shlex.quote(serving.image)}"]
    if serving.prepared:
        lines.append("[ -s /etc/modelrig/image ] && image=$(cat /etc/modelrig/image)")
    if serving.model.startswith("gs://"):
        place = serving.model.rstrip("/")
        lines.append(f"mkdir -p {HELD}/models/{local_name(place)}")
        lines.append(f"gcloud storage rsync -r {shlex.quote(place)} {HELD}/models/{local_name(place)} || exit 1")
    entry = "" if serving.tpu else "--entrypoint '' "
    return "\n".join([*lines, f'exec {before} {entry}"$image" {after}', ""])


def facts(serving: Serving) -> dict[str, Any]:
    """What a plan and a reading say of the engine before its log speaks."""
    values, _ = options.choose(serving.settings, SETTINGS, CHECKS, "gce")
    return {
        "engine": "vllm",
        "image": serving.image,
        "model": serving.model,
        "context_tokens": values.get("max_model_len", 8192),
        "settings": {
            "tensor_parallel_size": values.get("tensor_parallel_size", serving.accelerators),
            **({"prepared_by": serving.prepared} if serving.prepared else {}),
        },
    }
