"""The engine on the machine: which container with which arguments. What a machine serves with is one small record."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from clouds.aws.endpoints import model as models
from clouds.aws.endpoints import preflight
from clouds.aws.endpoints.ec2.settings import Chosen, choose
from clouds.models import Setting

PORT = 8000
IMAGES = {"vllm": "docker.io/vllm/vllm-openai:v0.30.0", "llama.cpp": "ghcr.io/ggml-org/llama.cpp:server-cuda"}
"""By engine. vLLM 0.30.0 is the release measured in the articles of 2026-09-26; digests are resolved when planned."""
CACHE = "/var/lib/modelrig/cache"
TOKEN_FILE = "/run/modelrig/env"  # noqa: S105 - a path on the machine, in memory only


@dataclass(frozen=True)
class Serving:
    """What the machine serves; kept there as JSON, so that it can be changed in place."""

    engine: str
    image: str
    model: str
    accelerators: int
    secret: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def text(self) -> str:
        """As it is kept on the machine."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Serving:
        """What `text` wrote. Raises ValueError for anything else."""
        held = json.loads(text)
        if not isinstance(held, dict) or not held.keys() <= cls.__dataclass_fields__.keys():
            raise ValueError("not a serving record")
        return cls(**held)

    def changed(self, model: str | None, settings: Mapping[str, Setting]) -> Serving:
        """With another model and other settings. Raises InvalidInput for what the engine cannot take."""
        merged = {**self.settings, **settings}
        found = replace(self, model=model or self.model, settings=merged)
        check(found.model, found.engine)
        arguments(found)
        return found


def check(model: str, engine: str) -> tuple[str, ...]:
    """Warnings about a model for an engine. Raises InvalidInput for a format that it does not load."""
    if engine == "vllm":
        return models.check_for_vllm(model)
    models.check_hub_id(model)
    return ()


def of(model: str, image: str, accelerators: int, chosen: Chosen, settings: Mapping[str, Setting]) -> Serving:
    """The record for what was asked; only settings of the engine are kept in it."""
    kept = {name: value for name, value in settings.items() if name in _ENGINE or name.startswith("-")}
    return Serving(chosen.engine, image, model, accelerators, chosen.hf_token_from, kept)


_ENGINE = frozenset(
    {"max_model_len", "gpu_memory_utilization", "tensor_parallel_size", "tool_calls", "parallel", "file"}
)


def arguments(serving: Serving) -> list[str]:
    """The engine's own arguments, each one word."""
    chosen = choose({**serving.settings, "engine": serving.engine})
    made = _vllm(serving, chosen) if serving.engine == "vllm" else _llama(serving, chosen)
    for name, value in chosen.flags.items():
        made += [name] if value is True else [] if value is False else [name, str(value)]
    return made


def _vllm(serving: Serving, chosen: Chosen) -> list[str]:
    made = ["--model", serving.model, "--served-model-name", serving.model, "--host", "0.0.0.0", "--port", str(PORT)]  # noqa: S104 - inside the container; published on loopback only
    made += ["--max-model-len", str(chosen.max_model_len)]
    made += ["--gpu-memory-utilization", f"{chosen.gpu_memory_utilization:g}"]
    preflight.check_copies(chosen.tensor_parallel_size, serving.accelerators)
    copies = chosen.tensor_parallel_size or serving.accelerators
    if copies > 1:
        made += ["--tensor-parallel-size", str(copies)]
    if chosen.tool_calls:
        made += ["--enable-auto-tool-choice", "--tool-call-parser", models.tool_parser(serving.model)]
    return made


def _llama(serving: Serving, chosen: Chosen) -> list[str]:
    made = ["-hf", serving.model, "--host", "0.0.0.0", "--port", str(PORT)]  # noqa: S104 - inside the container; published on loopback only
    if chosen.file:
        made += ["--hf-file", chosen.file]
    made += ["-ngl", "99", "-fa", "1", "-c", str(chosen.max_model_len), "--parallel", str(chosen.parallel), "--metrics"]
    return made


def script(serving: Serving) -> str:
    """The program that systemd keeps running: one container, its port on the machine's loopback alone."""
    run = ["docker", "run", "--rm", "--name", "modelrig", "--gpus", "all", "--ipc=host"]
    run += ["-p", f"127.0.0.1:{PORT}:{PORT}", "-v", f"{CACHE}:/root/.cache"]
    if serving.secret:
        run += ["--env-file", TOKEN_FILE]
    words = " ".join(shlex.quote(word) for word in [*run, serving.image, *arguments(serving)])
    return f"#!/bin/bash\nexec {words}\n"


def facts(serving: Serving) -> dict[str, Any]:
    """What a plan says of the engine."""
    chosen = choose({**serving.settings, "engine": serving.engine})
    return {
        "engine": serving.engine,
        "image": serving.image,
        "model": serving.model,
        "context_tokens": chosen.max_model_len,
    }
