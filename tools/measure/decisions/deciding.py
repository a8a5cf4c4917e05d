"""Decisions measured: the endpoint is probed and tried on five items, then read on all, reversed, and one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.measure.client import Reply
from tools.measure.cost import PriceUsed
from tools.measure.decisions.figures import FORMULAS, decision_figures
from tools.measure.decisions.items import Item as Question
from tools.measure.decisions.items import ItemSet, own_items, read_items
from tools.measure.decisions.keeping import item_of
from tools.measure.decisions.probing import Shape, probe, read_labels
from tools.measure.decisions.smoke import smoke, smoke_items
from tools.measure.decisions.summary import Decision
from tools.measure.measurement import Ask, Bench, Measurement, Taken
from tools.measure.record import Figure, Scalar
from tools.measure.turns import thinking

AT_A_STEP = 64
ONE_BY_ONE = 40
"""Items whose times are taken with one in flight."""
FORWARD, REVERSED, SINGLE = "forward", "reversed", "single"


@dataclass(frozen=True)
class DecisionsPlan:
    """The items, how many at once, whether they are read reversed too, and what a price is."""

    items: ItemSet
    streams: int
    reversed_too: bool
    thinks: str
    extra: Mapping[str, object]
    price: PriceUsed | None

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """The shape of the part."""
        return {
            "set": self.items.name,
            "sha256": self.items.sha256,
            "items": len(self.items.items),
            "at_once": self.streams,
            "reversed_too": self.reversed_too,
            "thinking": self.thinks,
            "temperature": 0,
        }

    @property
    def steps(self) -> int:
        """One for some items in each order, one for those read by themselves, one for the trial."""
        return 2 + -(-len(self.items.items) // AT_A_STEP) * (1 + self.reversed_too)


def plan(ask: Ask) -> DecisionsPlan:
    """What will be read. Reads the item file where one is named."""
    options = ask.options
    limit, path = options.whole("decisions.limit", 100_000, 1, 100_000), None
    if options.text("decisions.items", "own") != "own":
        path = options.file("decisions.items")
    found = own_items() if path is None else read_items(path, expected_sha256=options.text("decisions.sha256"))
    thinks, extra = thinking(options, "decisions.thinking")
    return DecisionsPlan(
        items=ItemSet(found.name, found.sha256, found.items[:limit]),
        streams=options.whole("decisions.at_once", 8, 1, 256),
        reversed_too=options.flag("decisions.reversed", default=True),
        thinks=thinks,
        extra=extra,
        price=ask.price,
    )


async def run(plan: DecisionsPlan, bench: Bench) -> None:
    """Where the endpoint cannot be read, nothing is paid for but the trial, and the record says why."""
    items = plan.items.items
    first = items[0]
    shape = await probe(bench.client, first.prompt(), first.labels, plan.extra)
    tried = await _read(plan, bench, shape, smoke_items(items), "smoke") if shape.read else []
    found = smoke(tried)
    if not found.ok:
        problem = found.problem if shape.read else "no log-probabilities came back"
        bench.taken.stopped = "; ".join((problem, *shape.tried))[:600]
        bench.stepped("decisions: this endpoint cannot be read")
        return
    for order in (FORWARD, REVERSED) if plan.reversed_too else (FORWARD,):
        for start in range(0, len(items), AT_A_STEP):
            await _keep(plan, bench, shape, items[start : start + AT_A_STEP], order)
    for question in items[:ONE_BY_ONE]:
        batch = await bench.client.together([shape.request(question.prompt(), question.id)])
        bench.taken.batches.append((SINGLE, 1, batch))
    bench.stepped("decisions: one at a time")


async def _read(
    plan: DecisionsPlan, bench: Bench, shape: Shape, items: Sequence[Question], label: str
) -> list[Decision]:
    turned = label == REVERSED
    requests = [shape.request(each.prompt(reversed_order=turned), each.id) for each in items]
    batch = await bench.client.in_flight(requests, plan.streams)
    says = f"decisions: {len(items)} read, {label}"
    bench.keep(label, plan.streams, batch, says)
    return [_decision(each, reply, shape) for each, reply in zip(items, batch.replies, strict=True)]


def _decision(question: Question, reply: Reply, shape: Shape) -> Decision:
    read = read_labels(reply, question.labels, shape) if reply.ok else None
    error = "" if read else reply.detail or reply.kind if not reply.ok else "it returned no log-probabilities"
    return Decision(question, read, reply.seconds if reply.ok else None, error)


async def _keep(plan: DecisionsPlan, bench: Bench, shape: Shape, items: Sequence[Question], order: str) -> None:
    decisions = await _read(plan, bench, shape, items, order)
    replies = bench.taken.batches[-1][2].replies
    for decision, reply in zip(decisions, replies, strict=True):
        tried = "" if bench.taken.items else "; ".join(shape.tried)
        bench.taken.items.append(item_of(decision, reply, order, shape.read, tried))


def figures(plan: DecisionsPlan, taken: Taken) -> tuple[Figure, ...]:
    """Every figure of the decisions that were kept."""
    singles = [batch.replies[0].seconds for batch in taken.labelled(SINGLE) if batch.good]
    walls = [(len(batch.replies), batch.wall) for batch in taken.labelled(FORWARD)]
    tokens = [r.prompt_tokens for b in taken.labelled(FORWARD) for r in b.replies if r.prompt_tokens]
    return decision_figures(taken.items, singles, walls, plan.streams, plan.price, tokens, why=taken.stopped)


DECISIONS = Measurement(
    name="decisions",
    title="typed questions read as probabilities over their labels",
    plan=plan,
    run=run,
    figures=figures,
    formulas=FORMULAS,
    options={
        "items": "own or a JSON-lines file; default own",
        "sha256": "of that file, checked before anything is asked",
        "limit": "items; default all",
        "at_once": "default 8",
        "reversed": "on or off: read again with the options reversed; default on",
        "thinking": "on or off; default: as the engine does",
    },
)
