"""The skills: their front matter, strictly; their words, against the tools that are really there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tools import prompts
from tools.environment.places import ROOT

SKILLS = sorted((ROOT / "skills").glob("*/SKILL.md"))
KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
"""What every host understands; a client's validator lets an unknown key through in silence."""
NAME, DESCRIPTION, LINES = 64, 1024, 200
HOLLOW = re.compile(
    r"\b(remember|always|never forget|make sure|be sure|be careful|do not forget|don't forget)\b", re.IGNORECASE
)
LIST = ROOT / "tools" / "tools_list.json"
COMING = {"plan_deployment", "check_quota", "check_capacity", "scan_waste", "list_checks", "explain_finding"}
COMING |= {"summarize_findings", "plan_cleanup", "apply_cleanup"}
"""Tools that a skill may name before they are there, beside words for an installation without them."""
WORDS = {"ready", "failed", "standard", "quick", "operation", "confirm"}
"""States and values that results carry."""


def faults(path: Path) -> list[str]:
    """What is wrong with one SKILL.md."""
    head = re.match(r"---\n(.*?)\n---\n(.*)", path.read_text(encoding="utf-8"), re.DOTALL)
    if head is None:
        return ["no front matter"]
    try:
        fields = yaml.safe_load(head[1])
    except yaml.YAMLError as error:
        return [f"not YAML: {error}"]
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        return ["front matter is not a mapping of texts"]
    found = [f"unknown key {key}" for key in fields if key not in KEYS]
    found += [] if fields.get("name") == path.parent.name else ["its name is not that of its folder"]
    found += (
        [] if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(fields.get("name"))) else ["its name is not in kebab-case"]
    )
    found += [] if len(str(fields.get("name"))) <= NAME else ["its name is too long"]
    found += [] if 0 < len(fields.get("description", "")) <= DESCRIPTION else ["description is missing or too long"]
    found += [] if len(head[2].splitlines()) <= LINES else ["its text is too long"]
    found += [f"{match[0]}: a guard, not a warning" for match in HOLLOW.finditer(head[2])]
    linked = re.findall(r"\]\((?!https?:|#)([^)#]+)|`((?:references|scripts|assets)/[^`]+)`", head[2])
    found += [f"{file} is not there" for pair in linked for file in pair if file and not (path.parent / file).exists()]
    return found


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.parent.name)
def test_a_skill_is_sound(path: Path) -> None:
    assert faults(path) == []


GOOD = "---\nname: s\ndescription: d\n---\ntext\n"
BAD = {
    "no front matter": "# text\n",
    "not YAML": GOOD.replace("description: d", "description: [unclosed"),
    "front matter is not a mapping of texts": GOOD.replace("description: d", "description: [a]"),
    "unknown key descripton": GOOD.replace("description: d", "description: d\ndescripton: d"),
    "its name is not that of its folder": GOOD.replace("name: s", "name: t"),
    "its name is not in kebab-case": GOOD.replace("name: s", "name: S s"),
    "description is missing or too long": GOOD.replace("description: d", f"description: {'d' * 1025}"),
    "its text is too long": GOOD + "line\n" * 201,
    "Make sure: a guard, not a warning": GOOD + "Make sure that it ends.\n",
    "references/gone.md is not there": GOOD + "See [it](references/gone.md).\n",
    "scripts/gone.py is not there": GOOD + "Run `scripts/gone.py`.\n",
}


def test_the_example_of_a_sound_skill_is_sound(tmp_path: Path) -> None:
    assert faults(written(tmp_path, GOOD)) == []


@pytest.mark.parametrize(("fault", "content"), BAD.items(), ids=list(BAD))
def test_an_unsound_skill_is_found_out(tmp_path: Path, fault: str, content: str) -> None:
    assert any(each.startswith(fault) for each in faults(written(tmp_path, content)))


def written(folder: Path, content: str) -> Path:
    path = folder / "s" / "SKILL.md"
    path.parent.mkdir()
    path.write_text(content)
    return path


def known() -> tuple[set[str], set[str]]:
    """Names of tools, and names of their arguments."""
    if not LIST.exists():
        pytest.skip("tools/tools_list.json is not generated yet: make docs")
    tools = json.loads(LIST.read_text(encoding="utf-8"))
    arguments = {name for tool in tools for name in tool["inputSchema"].get("properties", {})}
    return {tool["name"] for tool in tools}, arguments


def strange(text: str, tools: set[str], arguments: set[str]) -> set[str]:
    """Words in backticks that name nothing: no tool, no argument, no word of a result."""
    named = set(re.findall(r"`([a-z][a-z0-9_]*)`", text))
    absent = (named & COMING) - tools if "is offered" in text or "not among the tools" in text else set()
    return named - tools - arguments - WORDS - absent


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.parent.name)
def test_a_skill_names_tools_and_arguments_that_are_there(path: Path) -> None:
    tools, arguments = known()
    assert strange(path.read_text(encoding="utf-8"), tools, arguments) == set()


def test_a_tool_that_is_not_there_is_found_out() -> None:
    assert strange("Call `deploy_model` with `name`.", {"deploy_endpoint"}, {"name"}) == {"deploy_model"}
    assert strange("Call `scan_waste`.", set(), set()) == {"scan_waste"}
    assert strange("Where `scan_waste` is offered, call it.", set(), set()) == set()


def test_what_a_client_without_skills_gets_as_prompts_is_the_same_text() -> None:
    served = {skill.name: skill for skill in prompts.skills()}
    assert list(served) == ["deploy-a-model", "find-waste", "measure-and-compare"]
    for path in SKILLS:
        _, head, text = path.read_text(encoding="utf-8").split("---\n", 2)
        skill = served[path.parent.name]
        assert (skill.text, yaml.safe_load(head)) == (
            text.strip(),
            {"name": skill.name, "description": skill.description},
        )


@pytest.mark.parametrize(
    "head", ["name: s", "---\nname: s\n---", "---\nname: s\n  nested\n---\ntext", "---\nno\n---\nx"]
)
def test_a_skill_that_cannot_be_read_is_named(tmp_path: Path, head: str) -> None:
    with pytest.raises(ValueError, match=r"SKILL\.md: the front matter"):
        prompts.read(written(tmp_path, head))
