"""What we deployed ourselves and what has outlived its end, by the labels that it carries."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from clouds.gcp import meters
from clouds.gcp.checks import run, words
from clouds.gcp.checks.machines import MACHINE, priced
from clouds.gcp.checks.tpu import NODE, QUEUE
from clouds.gcp.endpoints.labels import DEPLOYMENT, EXPIRES, moment
from clouds.models.waste import Kind, Meter, Row, Seen, Waste, WasteCheck, outlived


def _judge(
    labels: Callable[[Row], dict[str, str]], lines: Callable[[Row, Seen], tuple[Meter, ...]]
) -> Callable[[Row, Seen], Waste | None]:
    def judge(row: Row, seen: Seen) -> Waste | None:
        found = labels(row)
        if DEPLOYMENT not in found:
            return None
        reason = outlived(found[DEPLOYMENT], moment(found.get(EXPIRES, "")), seen.now)
        if not reason:
            return None
        meters_ = lines(row, seen)
        return Waste(
            reason,
            meters_,
            free=not meters_,
            evidence={"deployment": found[DEPLOYMENT], "should have ended": found.get(EXPIRES, "never")},
        )

    return judge


def _labels(row: Row) -> dict[str, str]:
    return dict(words.labels(row))


def _queue_labels(row: Row) -> dict[str, str]:
    """A queued resource has no labels of its own: those of its nodes."""
    found: dict[str, str] = {}
    for each in (row.get("tpu") or {}).get("nodeSpec") or ():
        found.update((each.get("node") or {}).get("labels") or {})
    return found


def _node(row: Row, seen: Seen) -> tuple[Meter, ...]:
    return meters.node(row, words.name_place(row, seen.at)) if row.get("state") == "READY" else ()


def _machine(row: Row, seen: Seen) -> tuple[Meter, ...]:
    del seen
    return priced(row) if row.get("status") == "RUNNING" else ()


def _service(row: Row, seen: Seen) -> tuple[Meter, ...]:
    count = run.kept(row)
    return run.standing(row, count, words.name_place(row, seen.at)) if count else ()


def _nothing(row: Row, seen: Seen) -> tuple[Meter, ...]:
    del row, seen
    return ()


def _check(word: str, kind: Kind, judge: Callable[[Row, Seen], Waste | None], meter: str) -> WasteCheck:
    return WasteCheck(
        id=f"own-expired-{word}", title=f"Deployment of modelrig that has outlived its end ({kind.name})", kind=kind,
        judge=judge,
        why="Every deployment ends by itself; one that is still there had its end prevented, and goes on billing.",
        spares=("its end is still to come", "not deployed by modelrig"), meter=meter, category="own",
        unchecked=("whether somebody uses it after all",), min_age=timedelta(0), order=5,
        remove="delete_endpoint takes down the whole deployment, with every part of it", reversal="can be undone",
        recovery="deploy_endpoint deploys it again.",
    )  # fmt: skip


CHECKS = (
    _check("tpu", NODE, _judge(_labels, _node), "TPU chips by the hour"),
    _check("vm", MACHINE, _judge(_labels, _machine), "its machine type by the hour"),
    _check("run", run.SERVICE, _judge(_labels, _service), "GPU, vCPU and memory by the second"),
    _check("queued", QUEUE, _judge(_queue_labels, _nothing), "none; it holds quota"),
)
