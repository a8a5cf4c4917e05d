"""The engine in a container: its image, its arguments, and the same as environment variables."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from clouds.azure.endpoints import model as models
from clouds.models import EngineFacts, Setting

PORT = 8000
ENGINES = ("vllm", "llama.cpp")
IMAGES: Mapping[str, str] = {
    "vllm": "docker.io/vllm/vllm-openai:v0.30.0",
    "llama.cpp": "ghcr.io/ggml-org/llama.cpp:server-cuda",
}
"""By engine. vLLM 0.30.0 is the release measured in the articles of 2026-09-26; a plan resolves it to a digest."""
KEY_VARIABLES: Mapping[str, str] = {"vllm": "VLLM_API_KEY", "llama.cpp": "LLAMA_API_KEY"}
"""Where each engine reads the key that callers have to give (vLLM: envs.py; llama.cpp: tools/server/README.md)."""
ARGS_VARIABLE = "VLLM_ARGS"


@dataclass(frozen=True)
class Engine:
    """What serves, and how. `accelerators` is how many of the machine share one copy."""

    name: str = "vllm"
    max_model_len: int = 8192
    gpu_memory_utilization: float = 0.9
    tool_calls: bool = False
    parallel: int = 1
    file: str = ""
    accelerators: int = 1
    flags: Mapping[str, Setting] = field(default_factory=dict)

    def facts(self, image: str, model: str) -> EngineFacts:
        """What a plan says of it."""
        return EngineFacts(engine=self.name, image=image, model=model, context_tokens=self.max_model_len)


def arguments(engine: Engine, model: str) -> list[str]:
    """The engine's own arguments, each one word. Raises InvalidInput where no tool-call parser is known."""
    made = _vllm(engine, model) if engine.name == "vllm" else _llama(engine, model)
    for name, value in engine.flags.items():
        made += [name] if value is True else [] if value is False else [name, str(value)]
    return made


def _vllm(engine: Engine, model: str) -> list[str]:
    made = ["--model", model, "--served-model-name", model, "--host", "0.0.0.0", "--port", str(PORT)]  # noqa: S104 - inside the container
    made += ["--max-model-len", str(engine.max_model_len)]
    made += ["--gpu-memory-utilization", f"{engine.gpu_memory_utilization:g}"]
    if engine.accelerators > 1:
        made += ["--tensor-parallel-size", str(engine.accelerators)]
    if engine.tool_calls:
        made += ["--enable-auto-tool-choice", "--tool-call-parser", models.tool_parser(model)]
    return made


def _llama(engine: Engine, model: str) -> list[str]:
    made = ["-hf", model, "--alias", model, "--host", "0.0.0.0", "--port", str(PORT)]  # noqa: S104 - inside the container
    made += ["--hf-file", engine.file] if engine.file else []
    context = ["-c", str(engine.max_model_len * engine.parallel), "--parallel", str(engine.parallel)]
    return [*made, "-ngl", "99", "-fa", "1", *context, "--metrics"]


def environment(engine: Engine, model: str) -> dict[str, str]:
    """The same for a service that gives a container no arguments.

    llama.cpp reads all of its own from LLAMA_ARG_*; vLLM reads none, so its image has to (see `dockerfile`).
    """
    if engine.name == "vllm":
        return {ARGS_VARIABLE: shlex.join(arguments(engine, model))}
    made = {
        "LLAMA_ARG_HF_REPO": model,
        "LLAMA_ARG_ALIAS": model,
        "LLAMA_ARG_HOST": "0.0.0.0",  # noqa: S104 - inside the container
        "LLAMA_ARG_PORT": str(PORT),
        "LLAMA_ARG_N_GPU_LAYERS": "99",
        "LLAMA_ARG_FLASH_ATTN": "1",
        "LLAMA_ARG_CTX_SIZE": str(engine.max_model_len * engine.parallel),
        "LLAMA_ARG_N_PARALLEL": str(engine.parallel),
        "LLAMA_ARG_ENDPOINT_METRICS": "1",
    }
    if engine.file:
        made["LLAMA_ARG_HF_FILE"] = engine.file
    for name, value in engine.flags.items():
        if value is not False:
            made[variable_of(name)] = "1" if value is True else str(value)
    return made


def dockerfile() -> str:
    """Two lines that make vLLM's image take its arguments from the environment."""
    return f'FROM {IMAGES["vllm"]}\nENTRYPOINT ["sh", "-c", "eval exec vllm serve ${ARGS_VARIABLE}"]\n'


def changed(words: list[str], model: str) -> list[str]:
    """A container's arguments with another model under its own name."""
    made = list(words)
    for at, word in enumerate(made[:-1]):
        if word in ("--model", "--served-model-name", "-hf", "--alias"):
            made[at + 1] = model
    return made


def served(words: list[str]) -> str:
    """The name under which a container's arguments serve; empty when they name none."""
    for wanted in ("--served-model-name", "--alias", "--model", "-hf"):
        if wanted in words[:-1]:
            return words[words.index(wanted) + 1]
    return ""


def engine_of(words: list[str]) -> str:
    """Which engine a container's arguments are for."""
    return "llama.cpp" if "-hf" in words else "vllm"


def model_in(variables: Mapping[str, str]) -> str:
    """The name under which a container serves that gets its arguments from the environment."""
    if ARGS_VARIABLE in variables:
        return served(shlex.split(variables[ARGS_VARIABLE]))
    return variables.get("LLAMA_ARG_ALIAS") or variables.get("LLAMA_ARG_HF_REPO", "")


def variable_of(flag: str) -> str:
    """The variable that llama.cpp reads in place of a flag."""
    return f"LLAMA_ARG_{flag.lstrip('-').replace('-', '_').upper()}"


_FLAGS: Mapping[str, tuple[str, ...]] = {
    "max_model_len": ("--max-model-len", "-c"),
    "gpu_memory_utilization": ("--gpu-memory-utilization",),
    "parallel": ("--parallel", "-c"),
    "file": ("--hf-file",),
    "tool_calls": ("--enable-auto-tool-choice", "--tool-call-parser"),
}


def rearranged(words: list[str], engine: Engine, model: str, given: Mapping[str, Setting]) -> list[str]:
    """A container's arguments with another model, and with only those settings changed that were given."""
    made, fresh = changed(words, model), arguments(engine, model)
    wanted = [flag for setting in given for flag in _FLAGS.get(setting, (setting,))]
    for flag in dict.fromkeys(word for word in wanted if word.startswith("-")):
        if flag in made:
            del made[_span(made, flag)]
        if flag in fresh:
            made += fresh[_span(fresh, flag)]
    return made


def _span(words: list[str], flag: str) -> slice:
    """Where a flag stands with its value; a bare one stands alone."""
    at = words.index(flag)
    bare = at + 1 == len(words) or words[at + 1].startswith("-")
    return slice(at, at + (1 if bare else 2))
