"""The settings of a local deployment: named, typed and bounded before anything starts."""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.util
import shutil
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from clouds.errors import Conflict, InvalidInput, NotInstalled, packages
from clouds.local import flags, machine
from clouds.local.engines import DEFAULT, ENGINES
from clouds.local.launch import Launch
from clouds.models import Setting

HELP = {
    "engine": "xllamacpp (default), or llama-server or vllm when on the PATH",
    "context": "tokens a slot can hold, prompt and reply together; default 2048",
    "slots": "requests served at once; default 4",
    "threads": "CPU threads that compute; default all cores but one, at least 1",
    "port": "port on 127.0.0.1; default 0: a free one",
    "flags": 'extra flags of the engine, checked ("--flash-attn on --cache-type-k q8_0"); default none',
    "memory_check": "false: start even when the model does not seem to fit in free memory; default true",
}
CONTEXT, SLOTS = 2_048, 4
NAMES = tuple(HELP)


@dataclass(frozen=True)
class Chosen:
    """Checked settings. `program` and `version` are of the engine that was found."""

    engine: str
    context: int
    slots: int
    threads: int
    port: int
    flags: tuple[str, ...]
    memory_check: bool
    program: str
    version: str

    def launch(self, model: str, path: str, *, random: bool) -> Launch:
        """These settings on one model."""
        return Launch(
            engine=self.engine,
            program=self.program,
            model=model,
            model_path=path,
            context=self.context,
            slots=self.slots,
            threads=self.threads,
            port=self.port,
            flags=self.flags,
            version=self.version,
            random=random,
        )


def engine_of(given: Mapping[str, Setting]) -> str:
    """Which engine is meant; the other settings depend on it."""
    name = given.get("engine", DEFAULT)
    if name not in ENGINES:
        raise InvalidInput(
            "settings.engine",
            f"{str(name)[:40]!r} is not known",
            fix=f"Known: {', '.join(ENGINES)}.",
            allowed=tuple(ENGINES),
        )
    return str(name)


def check(given: Mapping[str, Setting]) -> Chosen:
    """Check every setting. Raises InvalidInput by the setting's name, NotInstalled for an engine that is not here."""
    for name in given:
        if name not in HELP:
            close = difflib.get_close_matches(str(name), NAMES, 1)
            raise InvalidInput(
                f"settings.{str(name)[:40]}",
                "is not a setting of the local service",
                fix=f"{f'Did you mean {close[0]}? ' if close else ''}Known: {', '.join(NAMES)}.",
                allowed=NAMES,
            )
    engine = engine_of(given)
    cores = machine.cores()
    words = given.get("flags", "")
    if not isinstance(words, str):
        raise _wrong("flags", words, "text", HELP["flags"])
    memory = given.get("memory_check", True)
    if not isinstance(memory, bool):
        raise _wrong("memory_check", memory, "true or false", HELP["memory_check"])
    port = _whole("port", given.get("port", 0), 0, 65_535)
    if 0 < port < 1_024:
        raise _wrong("port", port, "0, or 1024 to 65535", HELP["port"])
    chosen = {
        "context": _whole("context", given.get("context", CONTEXT), 16, 16_777_216),
        "slots": _whole("slots", given.get("slots", SLOTS), 1, 256),
        "threads": _whole("threads", given.get("threads", max(1, cores - 1)), 1, cores),
    }
    program, version = find(engine)
    return Chosen(
        engine=engine,
        port=port,
        flags=flags.parse(words, ENGINES[engine].flags, engine),
        memory_check=memory,
        program=program,
        version=version,
        **chosen,
    )


def find(engine: str) -> tuple[str, str]:
    """The engine's program and its version (empty when only the engine can say it). Raises NotInstalled."""
    if engine == DEFAULT:
        if importlib.util.find_spec("xllamacpp") is None:
            raise NotInstalled(
                "looking for the engine xllamacpp",
                answered="its package is not installed, or not yet",
                fix=packages("local"),
                sent=False,
            )
        return sys.executable, importlib.metadata.version("xllamacpp")
    program = shutil.which(engine)
    if program is None:
        raise NotInstalled(
            f"looking for the engine {engine}",
            answered=f"no program {engine} is on the PATH of modelrig",
            fix=f"Install it and restart modelrig, or leave settings.engine out to use {DEFAULT}.",
            sent=False,
        )
    return program, ""


def check_port(port: int) -> None:
    """Raise Conflict when somebody listens on this port of 127.0.0.1 already; 0 is always free."""
    if port == 0:
        return
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that just ended do not count
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise Conflict(
                f"taking port {port} on 127.0.0.1",
                answered=error.strerror or str(error),
                fix="Leave settings.port out to have a free one chosen, or end what listens there.",
                sent=False,
            ) from None


def _whole(name: str, value: Setting, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(name, value, f"a whole number from {low:,} to {high:,}", HELP[name])
    if not low <= value <= high:
        raise _wrong(name, value, f"from {low:,} to {high:,}", HELP[name])
    return value


def _wrong(name: str, value: Setting, wanted: str, line: str) -> InvalidInput:
    return InvalidInput(f"settings.{name}", f"{str(value)[:60]!r} is not {wanted}", fix=f"{name}: {line}.")
