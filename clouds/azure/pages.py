"""How answers go on: nextLink, `@odata.nextLink`, Resource Graph's token, Cost Management's positional rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.azure.paths import Sending
from clouds.errors import Unexpected

TOKEN = "token:"  # noqa: S105 - the mark of a page, no secret
MOST = 10_000
"""Pages after which a listing is taken for one without an end."""
_LISTS = ("value", "data", "rows", "Items")
_LINKS = ("nextLink", "@odata.nextLink", "NextPageLink", "$skipToken")


def following(page: Any, what: Sending, asked: Any) -> tuple[str, Any]:
    """The link of the next page ("" for none; `token:...` where the page is asked for in the body) and its body."""
    if not isinstance(page, Mapping):
        return "", None
    if what.row.shape == "tenant-query":
        token = page.get("$skipToken")
        if not token and str(page.get("resultTruncated", "false")).lower() == "true":
            raise Unexpected(
                "reading Resource Graph",
                answered=f"the answer was cut after {page.get('count')} of {page.get('totalRecords')} rows",
                fix="Project `id` in the query: without it there is no next page. Report this as a bug of modelrig.",
            )
        if not token:
            return "", None
        body = dict(asked or {})
        return f"{TOKEN}{token}", {**body, "options": {**body.get("options", {}), "$skipToken": token}}
    holder = page.get("properties") if what.row.shape == "extension-query" else page
    link = next((holder[key] for key in _LINKS if holder.get(key)), "") if isinstance(holder, Mapping) else ""
    return (link if isinstance(link, str) else ""), asked


def own(page: Any) -> Any:
    """A page whose lists are ours, so that further pages can be put to them."""
    if not isinstance(page, Mapping):
        return page
    out = {key: list(value) if key in _LISTS and isinstance(value, list) else value for key, value in page.items()}
    if isinstance(out.get("properties"), Mapping) and "rows" in out["properties"]:
        out["properties"] = own(out["properties"])
    return out


def join(first: Any, more: Any) -> None:
    """Put a further page to the lists of the first, which is our own; whatever else the first says stays."""
    if not isinstance(first, dict) or not isinstance(more, Mapping):
        return
    for key, value in more.items():
        if key in _LISTS and isinstance(value, list):
            held = first.get(key)
            if isinstance(held, list):
                held.extend(value)
            else:
                first[key] = list(value)
        elif key == "properties" and isinstance(value, Mapping) and "rows" in value:
            join(first.get(key), value)


def without_link(answer: Any) -> Any:
    """The joined answer without the marks of its pages."""
    if not isinstance(answer, Mapping):
        return answer
    out = {key: value for key, value in answer.items() if key not in _LINKS}
    if isinstance(out.get("properties"), Mapping) and "rows" in out["properties"]:
        out["properties"] = without_link(out["properties"])
    return out


def listed(answer: Any) -> Any:
    """What a listing lists; None where it lists nothing at all."""
    return answer.get("value") if isinstance(answer, Mapping) else None
