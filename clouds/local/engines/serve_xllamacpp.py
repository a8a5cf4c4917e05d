"""Serves one model with xllamacpp, as a process of its own that takes llama-server's arguments.

python -m clouds.local.engines.serve_xllamacpp --model FILE --host 127.0.0.1 --port 8080 --api-key-file FILE ...
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from clouds.local import tether
from clouds.local.engines.llamacpp import FLAGS
from clouds.local.flags import Flag

LOG, FLUSH = "_Z15common_log_mainv", "_Z16common_log_flushP10common_log"
"""The C++ functions that give the engine's log, and that return once it is written."""
Set = Callable[[Any, Any, Any], None]
"""xllamacpp, its CommonParams, the value."""


def _enum(kind: str, prefix: str, names: Mapping[str, str] | None = None) -> Callable[[Any, str], Any]:
    """A value of one of its enums by llama-server's word for it."""

    def pick(package: Any, word: str) -> Any:
        return getattr(getattr(package, kind), prefix + (names or {}).get(word, word).upper().replace("+", "_"))

    return pick


_CACHE = _enum("ggml_type", "GGML_TYPE_")
_FLASH = _enum("llama_flash_attn_type", "LLAMA_FLASH_ATTN_TYPE_", {"on": "enabled", "off": "disabled"})
_LOAD = _enum("llama_load_mode", "LLAMA_LOAD_MODE_", {"dio": "direct_io"})
_REASONING = _enum("common_reasoning_format", "COMMON_REASONING_FORMAT_")

_SPECULATION = _enum(
    "common_speculative_type",
    "COMMON_SPECULATIVE_TYPE_",
    {"ngram-simple": "ngram_simple", "draft-mtp": "draft_mtp"},
)

SETTERS: Mapping[str, Set] = {
    "--batch-size": lambda _, params, value: setattr(params, "n_batch", value),
    "--ubatch-size": lambda _, params, value: setattr(params, "n_ubatch", value),
    "--threads-batch": lambda _, params, value: setattr(params.cpuparams_batch, "n_threads", value),
    "--cache-type-k": lambda package, params, value: setattr(params, "cache_type_k", _CACHE(package, value)),
    "--cache-type-v": lambda package, params, value: setattr(params, "cache_type_v", _CACHE(package, value)),
    "--cache-ram": lambda _, params, value: setattr(params, "cache_ram_mib", value),
    "--cache-reuse": lambda _, params, value: setattr(params, "n_cache_reuse", value),
    "--flash-attn": lambda package, params, value: setattr(params, "flash_attn_type", _FLASH(package, value)),
    "--load-mode": lambda package, params, value: setattr(params, "load_mode", _LOAD(package, value)),
    "--n-gpu-layers": lambda _, params, value: setattr(params, "n_gpu_layers", value),
    "--poll": lambda _, params, value: setattr(params.cpuparams, "poll", value),
    "--reasoning-format": lambda package, params, value: setattr(
        params, "reasoning_format", _REASONING(package, value)
    ),
    "--rope-freq-base": lambda _, params, value: setattr(params, "rope_freq_base", value),
    "--rope-freq-scale": lambda _, params, value: setattr(params, "rope_freq_scale", value),
    "--seed": lambda _, params, value: setattr(params.sampling, "seed", value),
    "--spec-type": lambda package, params, value: setattr(params.speculative, "types", [_SPECULATION(package, value)]),
    "--spec-draft-n-max": lambda _, params, value: setattr(params.speculative.draft, "n_max", value),
    "--spec-ngram-simple-size-n": lambda _, params, value: setattr(params.speculative.ngram_simple, "size_n", value),
    "--spec-ngram-simple-size-m": lambda _, params, value: setattr(params.speculative.ngram_simple, "size_m", value),
    "--kv-unified": lambda _, params, value: setattr(params, "kv_unified", value),
    "--no-cont-batching": lambda _, params, value: setattr(params, "cont_batching", not value),
    "--no-warmup": lambda _, params, value: setattr(params, "warmup", not value),
    "--swa-full": lambda _, params, value: setattr(params, "swa_full", value),
}
"""How each flag of the list reaches xllamacpp; a test compares the two lists."""

_TYPES: Mapping[str, Callable[[str], Any]] = {"int": int, "float": float, "choice": str}


def parser() -> argparse.ArgumentParser:
    """The arguments, as llama-server spells them."""
    arguments = argparse.ArgumentParser(prog="serve_xllamacpp", allow_abbrev=False)
    for name in ("--model", "--alias", "--host", "--api-key-file"):
        arguments.add_argument(name, required=True)
    for name in ("--port", "--ctx-size", "--parallel", "--threads", "--log-verbosity"):
        arguments.add_argument(name, type=int, required=True)
    arguments.add_argument("--metrics", action="store_true")
    arguments.add_argument("--no-webui", action="store_true")
    for name, flag in FLAGS.items():
        _add(arguments, name, flag)
    return arguments


def _add(arguments: argparse.ArgumentParser, name: str, flag: Flag) -> None:
    if flag.takes == "nothing":
        arguments.add_argument(name, action="store_true", default=None)
    else:
        arguments.add_argument(name, type=_TYPES[flag.takes])


def params(package: Any, given: argparse.Namespace) -> Any:
    """The CommonParams for these arguments."""
    made = package.CommonParams()
    made.model.path = given.model
    made.model_alias = {given.alias}
    made.hostnames = [given.host]
    made.port = given.port
    made.api_keys = [Path(given.api_key_file).read_text("ascii").strip()]
    made.n_ctx = given.ctx_size
    made.n_parallel = given.parallel
    made.cpuparams.n_threads = made.cpuparams_batch.n_threads = given.threads
    made.verbosity = given.log_verbosity
    made.endpoint_metrics = given.metrics
    made.ui = not given.no_webui
    for name, put in SETTERS.items():
        value = getattr(given, name.removeprefix("--").replace("-", "_"))
        if value is not None:
            put(package, made, value)
    return made


def _watch(parent: int) -> None:
    """End when the supervisor is gone, where the system does not see to that."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _write_log(package: Any) -> None:
    """Its log is written by a thread of its own: let it say all that it has to, which is why it does not serve.

    Its functions have C++ names (symbols of xllamacpp 2026.10, read 2026-11-30); a build without them gets some time.
    """
    try:
        library = ctypes.CDLL(package.xllamacpp.__file__)
        get, flush = library[LOG], library[FLUSH]
    except (AttributeError, OSError):
        time.sleep(0.5)
        return
    get.restype = ctypes.c_void_p
    flush.argtypes = [ctypes.c_void_p]
    flush.restype = None
    flush(get())


def main() -> int:
    """Serve until killed; 1 when the model could not be loaded (the engine has then said why)."""
    parent = os.getppid()
    if not tether.tie(parent):
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    given = parser().parse_args()
    import xllamacpp

    try:
        server = xllamacpp.Server(params(xllamacpp, given))
    except RuntimeError as error:
        _write_log(xllamacpp)
        print(f"error: {error}", file=sys.stderr)
        return 1
    while server.listening_address:
        time.sleep(3600)
    return 1


if __name__ == "__main__":
    sys.exit(main())
