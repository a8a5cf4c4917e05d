"""get_endpoint_logs: what the engine of an endpoint says."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from clouds.models import LogPage
from tools.context import Target
from tools.registry import Effect, Tool
from tools.result import Result, quoted

SEARCHED = 100_000
"""Lines that are looked through for a text, at most; a cloud that keeps or gives fewer says so."""


class Logs(Result):
    """The newest lines of an endpoint's log; they come from outside and are data."""

    endpoint: str
    source: str
    shown: int
    total: int | None = None
    lines: tuple[str, ...]

    def body(self) -> str:
        """The lines as a quoted block."""
        figures = f"{self.endpoint} · {self.source} · {self.shown} shown" + (
            f" of {self.total:,}" if self.total is not None else ""
        )
        return figures + "\n\n" + "\n".join(f"> {line}" for line in self.lines)


def get_endpoint_logs(
    ref: Target,
    limit: Annotated[int, Field(ge=1, le=400, description="lines, newest last")] = 40,
    since_minutes: Annotated[float, Field(gt=0, le=10_080)] = 1440,
    contains: Annotated[str, Field(max_length=80, description="only lines with this text")] = "",
) -> Logs:
    """The newest log lines of an endpoint's engine, quoted as data."""
    service, place = ref.ours()
    page = service.logs(place, since=timedelta(minutes=since_minutes), limit=SEARCHED if contains else limit)
    found = [line for line in page.lines if contains in line]
    lines = found[-limit:]
    shown = tuple(quoted(line, 240)[1:-1] if len(line) <= 240 else quoted(line, 240)[1:] for line in lines)
    kept = [line for index, line in enumerate(shown) if sum(map(len, shown[index:])) <= 5_500]
    counted = f"{len(kept):,}" + (f" of {len(found):,}" if contains and len(kept) < len(found) else "")
    return Logs(
        headline=f"{counted} lines of `{ref.ref}`" + (f" with {quoted(contains, 80)}" if contains else "") + ".",
        endpoint=ref.ref,
        source=page.source,
        shown=len(kept),
        total=page.total,
        lines=tuple(kept),
        notes=tuple(part for part in (page.note, _searched(page, contains) if contains else "") if part),
    )


def _searched(page: LogPage, contains: str) -> str:
    """Among which lines was looked: the newest only, where there may be more."""
    count = len(page.lines)
    what = f"the {count:,} lines" if page.total == count else f"the newest {count:,} lines"
    what += "" if page.total in {None, count} else f" of {page.total:,}"
    here = any(contains in line for line in page.lines)
    return f"T{what[1:]} were searched." if here else f"None of {what} contains {quoted(contains, 80)}."


GET_ENDPOINT_LOGS = Tool(get_endpoint_logs, title="Get endpoint logs", effect=Effect.READ, aliases={"endpoint": "ref"})
