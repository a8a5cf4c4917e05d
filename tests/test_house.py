"""The house rules that a machine can check: import directions, sizes, and nothing heavy at start-up.

Each rule stands beside a test that shows it bites.
"""

from __future__ import annotations

import ast
import gc
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = [*sorted(path for top in ("tools", "clouds") for path in (ROOT / top).rglob("*.py")), ROOT / "server.py"]
SOURCES = sorted(
    path for top in ("tools", "clouds", "tests", "docs", "benchmarks") for path in (ROOT / top).rglob("*.py")
)
SHARED_CLOUD = {
    "base", "deadline", "enginelog", "errors", "hourly", "lazily", "models", "openai", "pricetable", "readonly",
    "record", "replay",
}  # fmt: skip
CLOUD_SDKS = {"boto3", "botocore", "google", "azure", "asyncssh", "xllamacpp", "awscrt"}
HEAVY = CLOUD_SDKS | {
    "aiohttp", "gguf", "httptools", "httpx", "jinja2", "libgguf", "matplotlib", "numpy", "platformdirs", "psutil",
    "resvg_py", "safetensors", "scipy", "uvloop",
}  # fmt: skip
PRELUDE = ("tools.environment", "tools.fallback", "tools.handover")
LONGEST = 300
STATEMENT = re.compile(
    r"(?:^|[;:])[ \t]*(?:import[ \t]+([^\n;#]+)|from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n;#(]+))",
    re.MULTILINE,
)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def looks_like_importing(path: Path) -> tuple[str, ...]:
    """What a look at the lines takes for imports: everything that `imports` finds, and perhaps a sentence of a text."""
    return tuple(
        f"{home}." * bool(home) + name.split()[0]
        for plain, home, names in STATEMENT.findall(text(path))
        for name in re.findall(r"[\w.]+(?:[ \t]+as[ \t]+\w+)?", plain or names)
    )


@cache
def imports(path: Path) -> tuple[tuple[str, bool], ...]:
    """What is imported anywhere in a file, and whether that happens when the file itself is imported."""
    gc.disable()  # a tree holds no garbage: looking for it takes twice as long as parsing
    try:
        return tuple(_imports(ast.parse(text(path)).body, at_once=True))
    finally:
        gc.enable()


def imported(path: Path, *, top_only: bool = False) -> Iterator[str]:
    return (target for target, at_once in imports(path) if at_once or not top_only)


def _imports(body: list[ast.stmt], *, at_once: bool) -> Iterator[tuple[str, bool]]:
    """All statements; those of functions and of `if TYPE_CHECKING` do not run when the module is imported."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((alias.name, at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", at_once) for alias in node.names)
        later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        )
        for inner in ("body", "orelse", "finalbody"):
            yield from _imports(getattr(node, inner, []), at_once=at_once and not later)
        for block in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            yield from _imports(block.body, at_once=at_once)


@cache
def forbidden(module: str, target: str) -> str:
    """Why `module` may not import `target`; empty when it may."""
    aim = target.split(".")
    if aim[0] == "server" and len(aim) <= 2 and module != "server":
        return "nothing imports server"
    if aim[0] == "mcp" and not (module == "server" or module.startswith("tools.registry.")):
        return "mcp is known to server.py and tools/registry only"
    if aim[0] in CLOUD_SDKS and not module.startswith("clouds."):
        return "an SDK stays inside its cloud"
    if module.startswith(PRELUDE):
        known = aim[0] in {*sys.stdlib_module_names, "tools"} or target.startswith("clouds.errors")
        return "" if known else "the prelude runs before anything is installed"
    if module.startswith("tools"):
        ports = aim[0] != "clouds" or (len(aim) > 1 and aim[1] in {"base", "errors", "models", "openai"})
        return "" if ports else "tools know ports only"
    return _forbidden_to_clouds(module, aim) if module.startswith("clouds") else ""


def _forbidden_to_clouds(module: str, aim: list[str]) -> str:
    parts = module.split(".")
    if aim[0] == "tools":
        return "clouds never import tools"
    if module == "clouds.errors" or module.startswith("clouds.models"):
        if aim[0] == "clouds" and aim[1] not in {"models", "errors"}:
            return "records and errors know nobody"
        return "" if aim[0] in {*sys.stdlib_module_names, "pydantic", "clouds"} else "records are plain"
    if aim[0] == "clouds" and len(aim) > 1 and len(parts) > 1 and aim[1] not in {*SHARED_CLOUD, parts[1]}:
        return "no cloud imports another"
    return ""


def wrong_directions(module: str, path: Path) -> dict[tuple[str, str], str]:
    """Only where the lines look wrong is the file parsed: parsing all takes a second."""
    if not any(forbidden(module, target) for target in looks_like_importing(path)):
        return {}
    return {(module, target): why for target in imported(path) if (why := forbidden(module, target))}


def heavy_at_once(path: Path) -> list[str]:
    """What is heavy and imported with the module itself."""
    if not any(target.split(".")[0] in HEAVY for target in looks_like_importing(path)):
        return []
    return [target for target in imported(path, top_only=True) if target.split(".")[0] in HEAVY]


def test_modules_import_only_in_the_allowed_direction() -> None:
    assert {where: why for path in MODULES for where, why in wrong_directions(module_name(path), path).items()} == {}


def test_no_module_imports_anything_heavy_when_it_is_imported() -> None:
    assert {module_name(path): found for path in MODULES if (found := heavy_at_once(path))} == {}


def test_a_look_at_the_lines_misses_no_import(tmp_path: Path) -> None:
    """Every way to write one, and the files of one package."""
    odd = tmp_path / "odd.py"
    odd.write_text(
        "import a.b as c, d\nif 1: import e\nx = 1; from f.g import h\nfrom i import (  # why\n    j,\n    k as l,\n)\n"
        "def m():\n\tfrom n import o as p, q\n    \n",
        encoding="utf-8",
    )
    for path in (odd, *(path for path in MODULES if "registry" in path.parts or "ec2" in path.parts)):
        missed = {target for target, _ in imports(path)} - set(looks_like_importing(path))
        assert not missed, path
    assert {"a.b", "d", "e", "f.g.h", "i.j", "i.k", "n.o", "n.q"} <= set(looks_like_importing(odd))


@pytest.mark.parametrize(
    ("module", "target"),
    [
        ("tools.waste.scan", "clouds.aws.api"),
        ("tools.deploy", "clouds.local"),
        ("tools.ledger", "server"),
        ("tools.query", "mcp.types"),
        ("tools.measure.client", "boto3"),
        ("clouds.aws.api", "clouds.gcp.api"),
        ("clouds.aws.api", "tools.ledger"),
        ("clouds.models.basic", "boto3"),
        ("clouds.errors", "clouds.base"),
        ("tools.environment", "pydantic"),
    ],
)
def test_the_import_rule_bites(module: str, target: str) -> None:
    assert forbidden(module, target)


def test_the_import_rule_lets_the_allowed_pass() -> None:
    allowed = [
        ("tools.deploy", "clouds.base.Cloud"),
        ("clouds.aws.api", "clouds.errors.Conflict"),
        ("server", "clouds"),
    ]
    assert [forbidden(module, target) for module, target in allowed] == ["", "", ""]


def test_the_heavy_rule_bites(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n\ndef f():\n    import boto3\n",
        encoding="utf-8",
    )
    assert heavy_at_once(bad) == ["numpy"]
    assert wrong_directions("tools.bad", bad) == {("tools.bad", "boto3"): "an SDK stays inside its cloud"}


def test_no_module_is_longer_than_the_limit() -> None:
    lengths = {str(path.relative_to(ROOT)): path.read_bytes().count(b"\n") for path in SOURCES}
    assert {path: lines for path, lines in lengths.items() if lines > LONGEST} == {}


STAGES = """
import gc, json, sys
gc.disable()  # among imports it finds nothing, and takes a fifth of them
def loaded():
    print(json.dumps(sorted(sys.modules)))
import tools.ledger, tools.operations, tools.confirm
loaded()
from tools import tool
tool("list_endpoints")
loaded()
import tools.registry.serving
loaded()
import httptools, tools.measure.stats
loaded()
"""
OURS = (
    "tools.deploy", "tools.measure", "tools.waste", "clouds.local", "clouds.aws", "clouds.gcp", "clouds.azure",
)  # fmt: skip


@pytest.fixture(scope="module")
def stages() -> list[set[str]]:
    """What a process has loaded after the ledger, after one tool, with the server, and after more than it may."""
    command = [sys.executable, "-c", STAGES]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=True)
    return [set(json.loads(line)) for line in out.stdout.splitlines()]


def too_much(loaded: set[str]) -> tuple[list[str], list[str]]:
    heavy = {name.split(".")[0] for name in loaded} & HEAVY
    return sorted(heavy), sorted(name for name in loaded if name.startswith(OURS))


def test_starting_the_server_imports_no_sdk_engine_or_tool_module(stages: list[set[str]]) -> None:
    assert "mcp" in stages[2]
    assert too_much(stages[2]) == ([], [])


def test_the_start_rule_bites(stages: list[set[str]]) -> None:
    assert too_much(stages[3]) == (["httptools"], ["tools.measure", "tools.measure.stats"])


def test_importing_the_ledger_imports_no_heavy_package(stages: list[set[str]]) -> None:
    assert "tools.ledger" in stages[0]
    assert stages[0] & {"mcp", "pydantic", "asyncio", *HEAVY} == set()


def test_asking_for_one_tool_imports_no_other_one(stages: list[set[str]]) -> None:
    others = {"tools.deploy", "tools.quota", "tools.waste.scan", "tools.measure.job"}
    assert "tools.endpoints" in stages[1]
    assert stages[1] & others == set()
