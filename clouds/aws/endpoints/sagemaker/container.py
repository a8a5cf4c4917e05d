"""The container of a deployment: its image, and its settings as the environment that becomes vLLM's flags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.aws.endpoints import model as models
from clouds.aws.endpoints import preflight
from clouds.aws.endpoints.sagemaker.settings import PREFIX, Chosen

SECRET = "HF_TOKEN_SECRET_ARN"  # noqa: S105 - the name of a variable that holds a reference
LARGE_GIB = 20.0
"""Weights above this get the longest time-outs: 9.75 GiB took 7.4 of the 30 minutes (article of 2026-09-26)."""
USUAL_SECONDS, LONGEST_SECONDS = 1800, 3600


def environment(model: str, chosen: Chosen, accelerators: int) -> dict[str, str]:
    """`SM_VLLM_MAX_MODEL_LEN` becomes `--max-model-len` in AWS's vLLM image; the caller's flags win over defaults.

    Raises InvalidInput where one copy would span more accelerators than there are.
    """
    preflight.check_copies(chosen.tensor_parallel_size, accelerators)
    found = {
        f"{PREFIX}MAX_MODEL_LEN": str(chosen.max_model_len),
        f"{PREFIX}GPU_MEMORY_UTILIZATION": f"{chosen.gpu_memory_utilization:g}",
    }
    if model.startswith("s3://"):
        found[f"{PREFIX}MODEL"] = "/opt/ml/model"
        found[f"{PREFIX}SERVED_MODEL_NAME"] = model.rstrip("/").rsplit("/", 1)[-1]
    else:
        found[f"{PREFIX}MODEL"] = found[f"{PREFIX}SERVED_MODEL_NAME"] = model
    copies = chosen.tensor_parallel_size or accelerators
    if copies > 1:
        found[f"{PREFIX}TENSOR_PARALLEL_SIZE"] = str(copies)
    if chosen.tool_calls:
        found[f"{PREFIX}ENABLE_AUTO_TOOL_CHOICE"] = ""
        found[f"{PREFIX}TOOL_CALL_PARSER"] = models.tool_parser(model)
    if chosen.hf_token_from:
        found[SECRET] = chosen.hf_token_from
    return {**found, **chosen.flags}


def definition(model: str, image: str, chosen: Chosen, accelerators: int) -> dict[str, Any]:
    """The PrimaryContainer of CreateModel. Weights in S3 are mounted by SageMaker at /opt/ml/model."""
    found: dict[str, Any] = {"Image": image, "Environment": environment(model, chosen, accelerators)}
    if model.startswith("s3://"):
        source = {"S3Uri": model, "S3DataType": "S3Prefix", "CompressionType": "None"}
        found["ModelDataSource"] = {"S3DataSource": source}
    return found


def time_outs(model: str, chosen: Chosen) -> tuple[int, int]:
    """Seconds for the health check and for the download."""
    size = models.weights_gib(model)
    usual = LONGEST_SECONDS if size is not None and size > LARGE_GIB else USUAL_SECONDS
    return chosen.startup_seconds or usual, chosen.download_seconds or usual


def served_name(container: Mapping[str, Any]) -> str:
    """The name under which the model answers, from a container's environment."""
    held = container.get("Environment", {})
    return str(held.get(f"{PREFIX}SERVED_MODEL_NAME") or held.get(f"{PREFIX}MODEL") or held.get("HF_MODEL_ID") or "")


def fits(model: str, accelerator: str, count: int, mib: int) -> str:
    """A warning where the weights alone are larger than the memory; empty where they fit or nothing is known."""
    size, memory = models.weights_gib(model), count * mib / 1024
    if size is None or size < memory * 0.95:
        return ""
    return (
        f"{model} takes about {size:g} GiB by its name and {count} x {accelerator} has {memory:.1f} GiB: "
        "it will probably fail after the instance was paid for"
    )
