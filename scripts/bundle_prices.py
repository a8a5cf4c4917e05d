"""Writes a cloud's bundled price table from collected facts: `scripts/bundle_prices.py FACTS CLOUD [OLD=NEW ...]`.

FACTS is JSON: `{"rows": [{"key", "unit", "location", "usd", "as_of", "source"}]}`, or a table as it is bundled. Rates
that were found one by one stand in `scripts/added_prices/CLOUD.json`, in the form of the table, and are joined with
them: a new rate goes there, never into the table itself. Rates that only the waste checks of Google Cloud ask for have
a table of their own: `scripts/bundle_prices.py clouds/gcp/waste_prices.json gcp-waste` joins it with what was added. Of
each key and location the newest row is kept, and of its suspect ones (source ends with `[suspect: ...]`) too, so that a
person can look them up; they never answer. `OLD=NEW` renames the first part of a key.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ADDED = Path(__file__).resolve().parent / "added_prices"
"""Where the rates are that were found one by one."""
OWN = {"gcp-waste": ROOT / "clouds" / "gcp" / "waste_prices.json"}
"""Tables beside the one that a cloud has."""
_SUSPECT = re.compile(r"\s*\[suspect: (.+)\]$")
# Where a figure was found is no use without the index it was found in; what it says of itself stays.
_PRIVATE = re.compile(r",? ?\(find_string id \d+\)|[;,] find_string id \d+|; commit date not in the store")


def table(rows: Iterable[Mapping[str, Any]], renamed: Mapping[str, str]) -> dict[str, Any]:
    """The table as it is written: sources once each, rows as lists."""
    newest: dict[tuple[str, str, bool], list[Any]] = {}
    sources: dict[str, int] = {}
    told = cache(_told)  # thousands of rows share a source
    for row in rows:
        if not row["usd"] > 0:
            raise SystemExit(f"{row['key']} in {row['location']}: {row['usd']} is not a price")
        source, doubt = told(row["source"])
        section, _, rest = row["key"].partition("/")
        key = f"{renamed.get(section, section)}/{rest}"
        place = (key, row["location"], doubt is not None)
        if place not in newest or row["as_of"] >= newest[place][4]:
            found = [key, row["unit"], row["location"], row["usd"], row["as_of"], source]
            newest[place] = found if doubt is None else [*found, doubt]
    for place in sorted(newest):
        newest[place][5] = sources.setdefault(newest[place][5], len(sources))
    return {
        "note": "Facts with their dates and sources; written by a script, refreshed by refresh-prices. Prices in USD.",
        "columns": ["key", "unit", "location", "usd", "as_of", "source", "suspect"],
        "sources": list(sources),
        "rows": [newest[place] for place in sorted(newest)],
    }


def _told(source: str) -> tuple[str, str | None]:
    """A source as it is published, and why its rows are suspect; None where they are not."""
    suspect = _SUSPECT.search(source)
    return _PRIVATE.sub("", _SUSPECT.sub("", source)).strip(), suspect[1] if suspect else None


def target(cloud: str) -> Path:
    """The file of a bundled table."""
    return OWN.get(cloud, ROOT / "clouds" / cloud / "prices.json")


def facts(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of facts or of a table; a suspect row of a table says so in its source, as facts do."""
    content = json.loads(path.read_text("utf-8"))
    if "columns" not in content:
        return list(content["rows"])
    rows = [dict(zip(content["columns"], row, strict=False)) for row in content["rows"]]
    for row in rows:
        doubt = row.pop("suspect", "")
        row["source"] = content["sources"][row["source"]] + (f" [suspect: {doubt}]" if doubt else "")
    return rows


def added(cloud: str) -> list[dict[str, Any]]:
    """The rates of a cloud that were found one by one; none where it has no file of them."""
    path = ADDED / f"{cloud}.json"
    return facts(path) if path.is_file() else []


def bundled(collected: Iterable[Mapping[str, Any]], cloud: str, renamed: Mapping[str, str]) -> dict[str, Any]:
    """The table of a cloud from collected facts and from what was added one by one."""
    return table([*collected, *added(cloud)], renamed)


def written(content: Mapping[str, Any]) -> str:
    """One row a line, so that a change of one price is a change of one line."""
    head = json.dumps({key: value for key, value in content.items() if key != "rows"}, indent=1)
    rows = ",\n".join("  " + json.dumps(row) for row in content["rows"])
    return f'{head[:-2]},\n "rows": [\n{rows}\n ]\n}}\n'


def main(arguments: list[str]) -> None:
    """Read the facts and what was added, write the table, say how many rows."""
    found, cloud, *renames = arguments
    content = bundled(facts(Path(found)), cloud, dict(pair.split("=", 1) for pair in renames))
    path = target(cloud)
    path.write_text(written(content), "utf-8")
    print(f"{path.relative_to(ROOT)}: {len(content['rows'])} rows from {len(content['sources'])} sources")


if __name__ == "__main__":
    main(sys.argv[1:])
