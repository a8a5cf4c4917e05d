"""Drives the reads and judgements of one cloud: every scope at once, each read made once, each check judged when ready.

    places -> listings of all scopes -> details and metrics -> judged check by check -> tags of what is waste

One thread drives; only `Traffic`'s workers wait for answers. What a scope has read is dropped when its last check is
judged, so that a large account does not have to fit into memory at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from clouds.base import Api, Progress
from clouds.errors import InvalidInput, NotOffered, Unreachable
from clouds.models import Call, Scope
from clouds.models.waste import Detail, Listing, Metric, WasteCheck
from clouds.models.waste_pack import WastePack
from tools.figures import did_you_mean
from tools.waste import inventory
from tools.waste.judging import judge, label_of, late_rows, tags_of
from tools.waste.reading import Ask, Box, fill, requests, untold
from tools.waste.rows import extract
from tools.waste.sight import Sight
from tools.waste.state import Looked, Order, Run, Shared, State, Wasted, fingerprint, is_late, settle
from tools.waste.traffic import Traffic

GLOBAL = "global"


class Survey:
    """One pass over one cloud."""

    def __init__(
        self, pack: WastePack, api: Api, account: str, now: datetime, progress: Progress, *,
        only: Mapping[str, frozenset[str]] | None = None, keep_rows: bool = False,
    ) -> None:  # fmt: skip
        """`only` narrows the judgement to single resources by check; `keep_rows` keeps what they were judged from."""
        self._pack, self._now, self._progress = pack, now, progress
        self._only, self._keep_rows = only, keep_rows
        self._traffic = Traffic(api, in_flight=pack.in_flight, clock=time.monotonic)
        self._looked = Looked(account)
        self._rows: dict[str, Any] = {}
        self._said = 0.0

    def run(self, checks: tuple[WasteCheck, ...], places: tuple[str, ...]) -> Looked:
        """Look at every place (all when none is named). Raises what finding the places raises, and Cancelled."""
        begun = time.monotonic()
        try:
            named = self._places(places)
            account = self._looked.account
            states = []
            local = tuple(check for check in checks if not check.kind.once)
            world = tuple(check for check in checks if check.kind.once)
            if local:
                order = Order(local)
                held = self._inventory(local, named)
                states += [
                    State(place, self._pack.scope(place, account), self._now, order, held.get(place))
                    for place in named
                    if place != GLOBAL
                ]
            if world and (not places or GLOBAL in places):
                states.append(State(GLOBAL, Scope(self._pack.home, account), self._now, Order(world)))
            self._looked.places = [state.place for state in states]
            self._begin(states)
            while self._traffic.open:
                (state, box, ask), answer, error = self._traffic.take(self._progress)
                if isinstance(ask, Shared):
                    ask.answer, ask.error, ask.answered = answer, error, True
                    self._give(state, ask)
                else:
                    self._hear(state, box, ask, answer, error)
                self._say()
        finally:
            self._traffic.close()
        self._looked.requests = dict(self._traffic.sent)
        self._looked.seconds = time.monotonic() - begun
        return self._looked

    def _places(self, places: tuple[str, ...]) -> list[str]:
        if places and all(place == GLOBAL for place in places):
            return []
        read = self._pack.places
        self._traffic.ask(read.call, Scope(self._pack.home, self._looked.account), None)
        _, answer, error = self._traffic.take(self._progress)
        if error is not None:
            if places:  # they were named, so that nothing has to be known about the others
                return list(places)
            if not self._pack.by_account or not self._looked.account:
                raise error
            self._looked.unlisted = (str(read.call), error)
            return [self._looked.account]
        self._rows = {place: row for row in extract(answer, read.rows) if (place := self._pack.place(row))}
        known = sorted(self._rows)
        if not known and self._pack.by_account and self._looked.account:
            known = [self._looked.account]  # what we are signed in to is there, although nobody may list it
        for place in places:
            if place not in known and place != GLOBAL:
                hint = did_you_mean(place, (*known, GLOBAL))
                raise InvalidInput(
                    "scopes",
                    f"{place[:40]!r} is not a {self._pack.scope_word} that this account can use.{hint}",
                    fix=f"Use some of {', '.join([*known, GLOBAL])}, or none for all.",
                    allowed=tuple(known),
                )
        return list(places) or known

    def _inventory(self, checks: tuple[WasteCheck, ...], named: list[str]) -> dict[str, inventory.Held]:
        """What each place holds, where the pack has an inventory that answers; a single place is read in full."""
        one, sorts = self._pack.inventory, inventory.sorts(checks)
        rows = {place: self._rows[place] for place in named if place in self._rows}
        if one is None or not sorts or self._only is not None or len(rows) < 2:
            return {}
        home = Scope(self._pack.home, self._looked.account)
        roots = [row for answer in self._told([one.roots.at(home)], home) for row in extract(answer, one.roots.rows)]
        return inventory.read_off(one, self._told([one.ask(row, sorts) for row in roots], home), rows)

    def _told(self, calls: list[Call], where: Scope) -> list[Any]:
        """The answers of calls that only save others: one that fails is left out."""
        for call in calls:
            self._traffic.ask(call, where, None)
        heard = [self._traffic.take(self._progress) for _ in calls]
        return [answer for _, answer, error in heard if error is None]

    def _begin(self, states: list[State]) -> None:
        first = []
        for state in states:
            first += [
                (-state.depth[read], state, box) for read, box in state.boxes.items() if isinstance(read, Listing)
            ]
        for rank, state, box in sorted(first, key=lambda item: item[0]):
            box.asked, box.open = True, 1
            read = box.read
            if isinstance(read, Listing):
                if inventory.nothing(read, state.held):
                    box.open = 0
                    self._ready(state, box)
                    continue
                self._traffic.ask(read.at(state.scope), state.scope, (state, box, Ask(read.parameters)), depth=-rank)

    def _hear(self, state: State, box: Box, ask: Ask, answer: Any, error: BaseException | None) -> None:
        if isinstance(error, Unreachable) and not self._pack.offered(box.read.service, state.scope.location or ""):
            # A service that a region does not have has no name there either: no answer comes, instead of a refusal.
            error = NotOffered(error.tried, answered=f"{box.read.service} is not in {state.place}", fix=error.fix)
        fill(box, ask, answer, error)
        if error is None:
            untold(box, ask, self._pack.lost(answer))
        box.open -= 1
        if box.open == 0:
            if is_late(box.read):
                self._finish(state)
                return
            settle(box)
            self._ready(state, box)

    def _ready(self, state: State, box: Box) -> None:
        """A box is full: ask what hangs on it, then judge the checks that waited for it last."""
        for child in state.children.get(box.read, ()):
            if state.due(child):
                self._expand(state, state.boxes[child], state.boxes[child.of])
        for run in state.runs_of.get(box.read, ()):
            run.waiting -= 1
            if run.waiting == 0:
                self._judge(state, run)
        self._finish(state)

    def _expand(self, state: State, box: Box, parent: Box) -> None:
        box.asked = True
        if parent.failure is not None:
            box.failure, box.cause = parent.failure, parent.call
            self._ready(state, box)
            return
        box.lost = parent.partly
        kinds = [run.check.kind for run in state.runs_of.get(box.read, ())]
        # Where another kind's check joins over these rows, all of them are needed and none may be left out.
        kind = kinds[0] if kinds and all(each.of is parent.read for each in kinds) else None
        only = self._wanted(state, kind)
        rows = state.needed(box.read, parent.rows) if isinstance(box.read, Detail) else parent.rows
        asks = list(requests(box, rows, self._now, kind, only))
        self._send(state, box, asks)
        if not asks:
            self._ready(state, box)

    def _wanted(self, state: State, kind: Any) -> frozenset[str] | None:
        """The single resources of a kind that are looked at, or None for all."""
        if self._only is None or kind is None:
            return None
        wanted: set[str] = set()
        for run in state.runs:
            if run.check.kind is kind:
                wanted |= self._only.get(run.check.id, frozenset())
        return frozenset(wanted)

    def _send(self, state: State, box: Box, asks: list[Ask]) -> None:
        read = box.read
        box.open += len(asks)
        for ask in asks:
            if isinstance(read, Metric) and read.charge is not None:
                self._looked.charged[read] = self._looked.charged.get(read, 0) + len(ask.rows)
            call = Call(read.service, read.operation, ask.parameters)
            where = ask.where or state.scope
            if isinstance(read, Detail) and str(call) in state.twice:
                key = f"{call} {where} {json.dumps(ask.parameters, sort_keys=True)}"
                known = state.shared.setdefault(key, Shared())
                known.waiting.append((box, ask))
                if known.answered or len(known.waiting) > 1:
                    continue
                self._traffic.ask(call, where, (state, None, known))
                continue
            self._traffic.ask(call, where, (state, box, ask))
        for known in [each for each in state.shared.values() if each.answered and each.waiting]:
            self._give(state, known)

    def _give(self, state: State, known: Shared) -> None:
        """Hand a shared answer to every reading that waits for it."""
        while known.waiting:
            box, ask = known.waiting.pop(0)
            self._hear(state, box, ask, known.answer, known.error)

    def _judge(self, state: State, run: Run) -> None:
        check = run.check
        only = None if self._only is None else self._only.get(check.id, frozenset())
        run.judged = judge(check, state.boxes[check.kind.of], state.sight, only)
        state.judged.append((run, run.judged))
        read, rows = late_rows(check, run.judged)
        if read is None or not rows:
            return
        run.late = state.boxes[read]
        run.late.asked = True
        known = {id(row) for row in run.late.kept}
        fresh = [row for row in rows if id(row) not in known]
        self._send(state, run.late, list(requests(run.late, fresh, self._now, None, None)))

    def _finish(self, state: State) -> None:
        """Report the checks that are judged and whose tags are known; drop the scope after its last one."""
        ended = [(run, judged) for run, judged in state.judged if run.late is None or not run.late.open]
        for run, judged in ended:
            state.judged.remove((run, judged))
            state.left -= 1
            for verdict in judged.verdicts:
                tags, problem = tags_of(run.check, verdict, state.sight)
                name = label_of(run.check, verdict.row)
                if problem:
                    judged.untagged(run.check.kind.tags_read or run.check.kind.of, problem, name)
                place = run.check.kind.place(verdict.row, state.scope) if run.check.kind.place else state.place
                self._looked.wasted.append(
                    Wasted(
                        run.check,
                        state.scope,
                        place,
                        verdict.id,
                        name,
                        verdict.row if self._keep_rows else None,
                        verdict.waste,
                        verdict.used,
                        verdict.created,
                        tags,
                        problem,
                        fingerprint(run.check, verdict, state.boxes, tags),
                    )
                )
            judged.verdicts = []
            self._looked.judged.append((state.place, judged))
        if ended and not state.left:
            state.boxes.clear()
            state.sight = Sight(self._now, state.scope, {})

    def _say(self) -> None:
        now = time.monotonic()
        if now - self._said > 0.5:
            self._said = now
            done, total = self._traffic.done, self._traffic.done + self._traffic.open
            self._progress.report(f"{done:,} of {total:,} requests answered", done, total)
