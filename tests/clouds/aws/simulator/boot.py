"""How a container starts: what it logs after its instance was placed, and how it ends. Lines and times are those of the
article of 2026-09-26 (Gemma 4 E2B on ml.g6.xlarge, vLLM 0.30.0)."""

from __future__ import annotations

from dataclasses import dataclass

HEALTH_CHECK = (
    "The primary container for production variant AllTraffic did not pass the ping health check. "
    "Please check CloudWatch logs for this endpoint."
)
NO_CAPACITY = (
    "Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity error. "
    "Please retry using a different ML instance type or after some time."
)


@dataclass(frozen=True)
class Boot:
    """`lines` are (seconds after placement, text); `done` is when the endpoint settles; `failure` empty: InService."""

    lines: tuple[tuple[float, str], ...]
    done: float
    failure: str = ""

    @property
    def pulled(self) -> float:
        """When the container writes its first line: the image has been pulled."""
        return self.lines[0][0]


VLLM = Boot(
    lines=(
        (60.0, "INFO 09-25 18:26:01 [api_server.py:1977] vLLM API server version 0.30.0"),
        (
            75.0,
            "INFO 09-25 18:26:16 [core.py:97] Initializing a V1 LLM engine (v0.30.0) with config: "
            "model='google/gemma-4-E2B-it', speculative_config=None, tokenizer='google/gemma-4-E2B-it', "
            "dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1, quantization=None, "
            "kv_cache_dtype=auto, seed=0, served_model_name=google/gemma-4-E2B-it",
        ),
        (
            444.0,
            "INFO 09-25 18:33:24 [gpu_model_runner.py:4000] Model loading took 9.75 GiB memory and 82.751806 seconds",
        ),
        (552.0, "INFO 09-25 18:35:12 [kv_cache_utils.py:1400] GPU KV cache size: 723,484 tokens"),
        (
            552.0,
            "INFO 09-25 18:35:12 [kv_cache_utils.py:1405] Maximum concurrency for 8,192 tokens per request: 88.32x",
        ),
        (590.0, "INFO:     Application startup complete."),
    ),
    done=594.0,
)
BROKEN = Boot(
    lines=(
        (60.0, "INFO 09-25 18:26:01 [api_server.py:1977] vLLM API server version 0.30.0"),
        (70.0, "OSError: google/gemma-4-E9B-it is not a local folder and is not a valid model identifier"),
    ),
    done=1860.0,
    failure=HEALTH_CHECK,
)
CONSOLE: tuple[tuple[float, str], ...] = (
    (8.0, "[    0.000000] Linux version 6.8.0-1040-aws"),
    (
        20.0,
        "-----BEGIN SSH HOST KEY KEYS-----\n"
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1sR0pT4kS6ZVbHnO1fV4zqS6n1m5q0x3lq8j0m2d4f root@ip-172-31-0-9\n"
        "-----END SSH HOST KEY KEYS-----",
    ),
    (25.0, "modelrig phase: timer set"),
    (26.0, "modelrig phase: pulling image"),
    (150.0, "modelrig phase: image pulled"),
    (152.0, "modelrig phase: engine started"),
    *((at + 100, line) for at, line in VLLM.lines),
)
