"""What a set of decisions shows, task by task, each figure beside what it has to be read against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from clouds.errors import InvalidInput
from clouds.models import Record
from tools.measure.decisions.items import Item
from tools.measure.decisions.reading import LabelRead, softmax
from tools.measure.statistics.calibration import Calibration, Temperature, calibration, ece, judge_temperature
from tools.measure.stats import percentile

FIT = 50
"""Labels that one temperature is fitted on."""
JUDGED = 100
"""Labels that must remain to judge it."""


@dataclass(frozen=True)
class Decision:
    """An item, how it was read (None: the request failed), and how long that took with one in flight."""

    item: Item
    read: LabelRead | None
    seconds: float | None = None
    error: str = ""

    @property
    def right(self) -> bool:
        """A failed or unreadable decision is wrong and stays in the denominator."""
        return self.read is not None and self.read.predicted == self.item.truth


class TaskSummary(Record):
    """One task. An accuracy says nothing without the majority share beside it."""

    task: str
    n: int
    right: int
    accuracy: float
    majority: float
    """Share of the most frequent true option: what always answering it would get."""
    failed: int
    unreadable: int
    """No label came back; counted as wrong."""
    labels_returned: float
    """Mean share of an item's labels that came back."""
    fallback_share: float
    """Share of the reads with at least one fallback value."""
    top_is_label: int
    """Reads whose most likely token was a label."""
    label_mass: float
    """Median probability on the labels."""
    ece_at_bound: float | None
    """ECE with every missing label moved to the most it could have had; beside `calibration.ece`."""
    changed_at_bound: int
    """Predicted labels that this would change. Above 0 only where no label came back."""
    p50_ms: float | None
    p90_ms: float | None
    calibration: Calibration | None
    temperature: Temperature | None


def summarize(decisions: Sequence[Decision]) -> tuple[TaskSummary, ...]:
    """One row a task in their order of appearance, and one over all where there are several."""
    tasks = list(dict.fromkeys(decision.item.task for decision in decisions))
    rows = [_summary(task, [each for each in decisions if each.item.task == task]) for task in tasks]
    if len(tasks) > 1:
        rows.append(_summary("all", decisions))
    return tuple(rows)


def _summary(task: str, decisions: Sequence[Decision]) -> TaskSummary:
    if not decisions:
        raise InvalidInput("decisions", "there is none", fix="Read at least one item.")
    reads = [each.read for each in decisions if each.read is not None]
    readable = [(each, each.read) for each in decisions if each.read is not None and each.read.readable]
    times = [1000 * each.seconds for each in decisions if each.seconds is not None]
    sure = [max(read.probabilities) for _, read in readable]
    hits = [decision.right for decision, _ in readable]
    at_bound = [softmax(read.bounds) for _, read in readable]
    right = sum(each.right for each in decisions)
    return TaskSummary(
        task=task,
        n=len(decisions),
        right=right,
        accuracy=right / len(decisions),
        majority=majority([each.item for each in decisions]),
        failed=len(decisions) - len(reads),
        unreadable=len(reads) - len(readable),
        labels_returned=fmean([read.returned / len(read.labels) for read in reads]) if reads else 0.0,
        fallback_share=fmean([float(read.used_fallback) for read in reads]) if reads else 0.0,
        top_is_label=sum(read.top_is_label for read in reads),
        label_mass=median([read.label_mass for read in reads]) if reads else 0.0,
        ece_at_bound=ece([max(each) for each in at_bound], hits) if readable else None,
        changed_at_bound=sum(_changed(read) for _, read in readable),
        p50_ms=percentile(times, 0.5) if times else None,
        p90_ms=percentile(times, 0.9) if times else None,
        calibration=calibration(sure, hits) if readable else None,
        temperature=_temperature(readable),
    )


def _changed(read: LabelRead) -> bool:
    """Whether another label would be more likely than the predicted one at the most it could have had."""
    return any(value > read.bounds[read.predicted or 0] for value in read.bounds)


def majority(items: Sequence[Item]) -> float:
    """Share of the most frequent true answer. Options that differ from item to item count by their place."""
    same = len({item.options for item in items}) == 1
    truths = Counter(item.options[item.truth] if same else str(item.truth) for item in items)
    return truths.most_common(1)[0][1] / len(items)


def _temperature(readable: Sequence[tuple[Decision, LabelRead]]) -> Temperature | None:
    """None where too few labels would remain to judge what was fitted."""
    if len(readable) < FIT + JUDGED:
        return None
    logprobs = [list(read.logprobs) for _, read in readable]
    return judge_temperature(logprobs, [decision.item.truth for decision, _ in readable], labels=FIT)
