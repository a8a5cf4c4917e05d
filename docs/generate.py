"""Writes what is generated: tools/tools_list.json (what `tools/list` answers), docs/tools.md, docs/run.schema.json, and
docs/checks-CLOUD.md for every cloud with waste checks.

python docs/generate.py            write them
python docs/generate.py --check    exit 1 where one is not current, and say how to mend it
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import clouds  # noqa: E402 - the root is put on the path first, so that this runs from any folder
from clouds.base import Missing  # noqa: E402
from clouds.models.waste import Metric, WasteCheck  # noqa: E402
from clouds.models.waste_pack import WastePack  # noqa: E402
from tools import TOOLS, binding, schemas  # noqa: E402
from tools.figures import duration  # noqa: E402
from tools.measure import record  # noqa: E402
from tools.registry import Effect, Tool  # noqa: E402

WORDS = {Effect.READ: "read-only", Effect.WRITE: "write", Effect.DESTRUCTIVE: "destructive"}


def listed(tool: Tool) -> dict[str, Any]:
    """One entry of tools/list."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": binding.input_schema(tool, clouds.names()),
        "outputSchema": schemas.output_schema(tool),
        "annotations": dict(tool.hints),
    }


def reference(entries: Sequence[dict[str, Any]]) -> str:
    """docs/tools.md, out of what tools/list answers."""
    lines = [
        "# Tools",
        "",
        "Generated from the tools themselves by `make docs`; do not edit.",
        "",
        "| tool | effect | what it does |",
        "|---|---|---|",
    ]
    lines += [f"| [`{t.name}`](#{t.name}) | {WORDS[t.effect]} | {t.description.splitlines()[0]} |" for t in TOOLS]
    for tool, entry in zip(TOOLS, entries, strict=True):
        lines += [
            "",
            f"## {tool.name}",
            "",
            tool.description,
            "",
            f"Effect: {WORDS[tool.effect]}. {_manners(tool)}",
            "",
        ]
        lines += ["| argument | type | default | meaning |", "|---|---|---|---|"]
        model = binding.arguments_model(tool)
        for name, node in entry["inputSchema"].get("properties", {}).items():
            info = model.model_fields[name]
            default = (
                "required"
                if info.is_required()
                else json.dumps(info.default)
                if info.default not in ("", (), {})
                else ""
            )
            lines.append(f"| `{name}` | {_type(node)} | {default} | {node.get('description', '')} |")
        lines += ["", "Answers: " + ", ".join(f"`{name}`" for name in entry["outputSchema"]["properties"]) + "."]
    return "\n".join(lines) + "\n"


def _manners(tool: Tool) -> str:
    parts = []
    if tool.preview is not None:
        parts.append("Asks first: the first call answers with its steps and a `confirm` token.")
    if tool.long:
        parts.append("Long: after 40 s it answers with an `operation` for `get_operation`.")
    return " ".join(parts)


def _type(node: dict[str, Any]) -> str:
    if "enum" in node:
        return " / ".join(f"`{each}`" for each in node["enum"])
    kind = node.get("type", "any")
    if kind == "array":
        return f"list of {_type(node.get('items', {}))}"
    bounds = [
        f"{word} {node[key]}"
        for key, word in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"))
        if key in node
    ]
    return " ".join([kind if isinstance(kind, str) else " or ".join(kind), *bounds])


def checks(cloud: str, pack: WastePack) -> str:
    """docs/checks-CLOUD.md: what each check of one cloud looks for, leaves alone, reads and would do."""
    kinds = Counter(check.category for check in pack.checks)
    counted = f"{len(pack.checks)} checks: {', '.join(f'{count} {word}' for word, count in kinds.most_common())}."
    lines = [
        f"# Waste checks: {cloud}",
        "",
        "Generated from the checks themselves by `make docs`; do not edit.",
        "",
        counted,
        f"Prices leave out: {'; '.join(pack.excludes)}.",
        f"Left alone: {pack.keep_hint or 'what is tagged modelrig-keep'}.",
        "",
        "| check | what it finds | younger is spared | priced by | removal |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| [`{c.id}`](#{c.id}) | {c.title} | {_age(c.age)} | {c.meter} | {_removal(c)} |" for c in pack.checks]
    for c in pack.checks:
        permissions = {name for each in (*c.operations, *c.steps) for name in pack.permissions(*each.split(".", 1))}
        said = {
            "Leaves alone": "; ".join(c.spares),
            "Does not look at": "; ".join(c.unchecked),
            "Metrics": "; ".join(_metric(read) for read in c.all_reads if isinstance(read, Metric)),
            "Recovery": f"{c.reversal}. {c.recovery}",
            "Removal": c.remove if isinstance(c.remove, str) else "",
            "Steps": ", ".join(f"`{step}`" for step in c.steps),
            "Permissions": ", ".join(f"`{name}`" for name in sorted(permissions)),
        }
        lines += ["", f"## {c.id}", "", f"{c.title}. {c.why}", ""]
        lines += [f"- {word}: {text}" for word, text in said.items() if text]
    return "\n".join(lines) + "\n"


def _age(age: timedelta) -> str:
    if age >= timedelta(days=1):
        return f"{age / timedelta(days=1):g} d"
    return duration(age.total_seconds()) if age else "none"


def _metric(read: Metric) -> str:
    return f"{read.name} over {read.days:g} days; no series means {read.absent}" + (
        f" ({read.source})" if read.source else ""
    )


def _removal(check: WasteCheck) -> str:
    return "explained, not planned" if isinstance(check.remove, str) else check.reversal


def packs() -> Iterator[tuple[str, WastePack]]:
    """Every cloud that has checks. Nothing is sent."""
    for name in clouds.names():
        pack = clouds.connect(name, ROOT / "build").waste
        if not isinstance(pack, Missing):
            yield name, pack


def main(argv: list[str]) -> int:
    """Write or check; returns the exit status."""
    entries = [listed(tool) for tool in TOOLS]
    wanted = {
        ROOT / "tools" / "tools_list.json": json.dumps(entries, indent=1, ensure_ascii=False) + "\n",
        ROOT / "docs" / "tools.md": reference(entries),
        ROOT / "docs" / "run.schema.json": json.dumps(record.schema(), indent=1) + "\n",
        **{ROOT / "docs" / f"checks-{name}.md": checks(name, pack) for name, pack in packs()},
    }
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in argv:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not current: run `make docs` and commit it")
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
