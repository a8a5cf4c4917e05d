"""The plugin's manifests: what their clients' own validators do not look at."""

from __future__ import annotations

import json
import re
import struct
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tools import environment
from tools.environment.places import ROOT
from tools.settings import KNOWN

PLUGIN = ".claude-plugin/plugin.json"
MANIFESTS = (PLUGIN, ".claude-plugin/marketplace.json", ".mcp.json", "gemini-extension.json")
PLACEHOLDERS = {"${CLAUDE_PLUGIN_ROOT}": ".", "${extensionPath}": ".", "${/}": "/"}


def manifest(name: str, root: Path = ROOT) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [key for key, _ in pairs]
        assert len(names) == len(set(names)), f"{name}: a key is there twice: {names}"
        return dict(pairs)

    found: dict[str, Any] = json.loads((root / name).read_text(encoding="utf-8"), object_pairs_hook=once)
    return found


def missing_files(content: dict[str, Any], root: Path) -> list[str]:
    """Files that the servers of a manifest, its icon or its sources name and that are not there."""
    named = [argument for entry in content.get("mcpServers", {}).values() for argument in entry["args"]]
    named += [content["icon"]] if "icon" in content else []
    named += [entry["source"] for entry in content.get("plugins", [])]
    gone = []
    for each in named:
        path = each
        for placeholder, value in PLACEHOLDERS.items():
            path = path.replace(placeholder, value)
        if not (root / path).exists():
            gone.append(each)
    return gone


@pytest.mark.parametrize("name", MANIFESTS)
def test_every_file_that_a_manifest_names_is_there(name: str) -> None:
    assert missing_files(manifest(name), ROOT) == []


def test_a_file_that_is_missing_is_found_out(tmp_path: Path) -> None:
    servers = {"modelrig": {"command": "python3", "args": ["${CLAUDE_PLUGIN_ROOT}/sever.py"]}}
    assert missing_files({"mcpServers": servers, "icon": "./no.png"}, tmp_path) == [
        "${CLAUDE_PLUGIN_ROOT}/sever.py",
        "./no.png",
    ]


def test_a_key_that_is_there_twice_is_found_out(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"name": "a", "name": "b"}')
    with pytest.raises(AssertionError, match="twice"):
        manifest("x.json", tmp_path)


def test_there_is_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    market = manifest(".claude-plugin/marketplace.json")
    said = {
        "plugin.json": manifest(PLUGIN)["version"],
        "marketplace.json": market["version"],
        "marketplace.json, its plugin": market["plugins"][0]["version"],
        "gemini-extension.json": manifest("gemini-extension.json")["version"],
        "environment.version()": environment.version(),
    }
    assert said == dict.fromkeys(said, project)


def test_the_server_of_an_opened_clone_needs_no_variable_and_that_of_the_plugin_no_absolute_path() -> None:
    assert manifest(".mcp.json")["mcpServers"]["modelrig"] == {"command": "python3", "args": ["server.py"]}
    inline = manifest(PLUGIN)["mcpServers"]["modelrig"]
    assert (inline["command"], inline["args"]) == ("python3", ["${CLAUDE_PLUGIN_ROOT}/server.py"])
    assert inline["env"]["MODELRIG_ENV_DIR"] == "${CLAUDE_PLUGIN_DATA}"


def test_both_servers_have_one_name_so_that_an_installed_plugin_starts_one() -> None:
    """Claude Code 2.1.332 reads .mcp.json beside the manifest too; of two with one name it starts the inline one."""
    assert list(manifest(".mcp.json")["mcpServers"]) == list(manifest(PLUGIN)["mcpServers"])


def test_every_option_reaches_the_setting_of_its_name() -> None:
    plugin = manifest(PLUGIN)
    passed = {key: value for key, value in plugin["mcpServers"]["modelrig"]["env"].items() if "PLUGIN_" in key}
    assert passed == {f"MODELRIG_PLUGIN_{name.upper()}": f"${{user_config.{name}}}" for name in plugin["userConfig"]}
    assert set(plugin["userConfig"]) <= set(KNOWN)


@pytest.mark.parametrize("name", list(manifest(PLUGIN)["userConfig"]))
def test_an_option_is_optional_and_says_what_empty_means(name: str) -> None:
    option = manifest(PLUGIN)["userConfig"][name]
    assert option["type"] in {"string", "number"}
    assert not option.get("required", False)
    assert "default" not in option, "the default is stated once, in tools/settings.py"
    assert re.search(r"Empty: \S", option["description"])


def test_the_figures_in_the_options_are_the_built_in_ones() -> None:
    options = manifest(PLUGIN)["userConfig"]
    assert f"Empty: {KNOWN['max_usd_per_hour'][1]:.2f}." in options["max_usd_per_hour"]["description"]
    assert f"Empty: {KNOWN['ttl_hours'][1]:g}." in options["ttl_hours"]["description"]


def test_the_icon_is_a_square_png_of_512_pixels() -> None:
    data = (ROOT / ".claude-plugin" / "icon.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", data[16:24]) == (512, 512)


def test_no_manifest_names_a_path_of_one_machine() -> None:
    for name in MANIFESTS:
        assert not re.search(r'"/[a-z]', (ROOT / name).read_text(encoding="utf-8")), name
