"""How a container starts: what it logs after its instance was placed, and how it ends. Lines and times are those of the
article of 2026-09-26 (Gemma 4 E2B on ml.g6.xlarge, vLLM 0.30.0)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
            (
                "INFO 09-25 18:26:16 [core.py:97] Initializing a V1 LLM engine (v0.30.0) with config: "
                "model='google/gemma-4-E2B-it', speculative_config=None, tokenizer='google/gemma-4-E2B-it', "
                "dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1, quantization=None, "
                "kv_cache_dtype=auto, seed=0, served_model_name=google/gemma-4-E2B-it"
            ),
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
HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1sR0pT4kS6ZVbHnO1fV4zqS6n1m5q0x3lq8j0m2d4f"


def console(start: float, marks: tuple[tuple[float, str], ...], engine: tuple[tuple[float, str], ...]) -> Any:
    """A console: boot, host key, then the machine's own marks and its engine's lines; `{at}` becomes the clock."""
    first = (
        (8.0, "[    0.000000] Linux version 6.8.0-1040-aws"),
        (20.0, f"-----BEGIN SSH HOST KEY KEYS-----\n{HOST_KEY} root@ip-172-31-0-9\n-----END SSH HOST KEY KEYS-----"),
    )
    said = tuple((at, f"modelrig phase: {text} at {{at}}") for at, text in marks)
    return tuple(sorted((*first, *said, *((at + start, line) for at, line in engine)), key=lambda pair: pair[0]))


CONSOLE = console(
    100.0,
    (
        (25.0, "timer set"),
        (26.0, "pulling image"),
        (150.0, "image pulled"),
        (152.0, "engine started"),
        (700.0, "engine answers"),
    ),
    VLLM.lines,
)
BROKEN_CONSOLE = console(
    100.0,
    ((25.0, "timer set"), (26.0, "pulling image"), (150.0, "image pulled"), (152.0, "engine started"),
     (400.0, "engine failed: no answer in an hour")),
    BROKEN.lines,
)  # fmt: skip
