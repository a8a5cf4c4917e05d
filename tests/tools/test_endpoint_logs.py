"""get_endpoint_logs looks for a text in all lines that are kept, and says among how many it looked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from clouds.base import Cloud, Missing
from clouds.local.endpoints import logs
from clouds.local.places import Place
from clouds.models import EndpointRef, LogPage
from tools.context import Target
from tools.endpoint_logs import Logs, get_endpoint_logs

REF = EndpointRef("local", "llama", "this-machine", "one")


@dataclass
class Written:
    """A service whose log is a file on this machine, of which a cloud may give only the newest lines."""

    place: Place
    gives: int = 1_000_000
    counts: bool = True

    def logs(self, _ref: EndpointRef, *, since: timedelta, limit: int) -> LogPage:
        page = logs.page(self.place, since=since, limit=min(limit, self.gives), now=datetime.now(UTC))
        return LogPage(page.lines, page.source, page.total if self.counts else None, page.note)


def asked(tmp_path: Path, contains: str, limit: int = 40, **service: Any) -> Logs:
    """3,000 lines, of which the tenth to the nineteenth say load_model."""
    place = Place(tmp_path, "one")
    place.make()
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    words = ("load_model: loading" if 10 <= n < 20 else "print_timing" for n in range(3_000))
    place.log.write_text("".join(f"{now} engine | {n} {each}\n" for n, each in enumerate(words)))
    no = Missing("one service")
    llama: Any = Written(place, **service)
    cloud = Cloud(name="local", identity=no, endpoints={"llama": llama}, quotas=no, capacity=no, prices=no, api=no)  # type: ignore[arg-type]
    return get_endpoint_logs(Target(str(REF), REF, cloud, llama), limit=limit, contains=contains)


def test_lines_far_back_are_found(tmp_path: Path) -> None:
    found = asked(tmp_path, "load_model")
    assert (found.shown, found.total, len(found.lines)) == (10, 3_000, 10)
    assert found.headline == f'10 lines of `{REF}` with "load_model".'
    assert found.notes == ("The 3,000 lines were searched.",)


def test_what_is_in_no_line_is_said_of_all_lines(tmp_path: Path) -> None:
    assert asked(tmp_path, "no such thing").notes == ('None of the 3,000 lines contains "no such thing".',)


def test_where_only_the_newest_lines_can_be_had_nothing_is_said_of_the_others(tmp_path: Path) -> None:
    known = asked(tmp_path, "load_model", gives=300)
    assert known.shown == 0
    assert known.notes[-1] == 'None of the newest 300 lines of 3,000 contains "load_model".'
    unknown = asked(tmp_path, "load_model", gives=300, counts=False)
    assert unknown.notes[-1] == 'None of the newest 300 lines contains "load_model".'


def test_more_lines_than_are_shown_are_counted(tmp_path: Path) -> None:
    assert asked(tmp_path, "print_timing", limit=5).headline == f'5 of 2,990 lines of `{REF}` with "print_timing".'
    assert asked(tmp_path, "", limit=5).headline == f"5 lines of `{REF}`."
