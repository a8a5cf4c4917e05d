"""Label probabilities from what an engine returns: exact label log-probabilities, or the top k with a fallback.

Some engines return only the k most likely tokens. A label outside of them gets the lowest returned log-probability
minus 5, as in the article of 2026-09-24. Where at least one label came back, the predicted label is exact all the
same; only the probabilities of the others are approximate, and how much that matters is shown by moving them to the
most they could have had (`bound`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, inf, log, log1p

from clouds.errors import InvalidInput
from clouds.models import Record

FALLBACK = 5.0
"""How far below the lowest returned log-probability a label is put that did not come back."""
MARKS = "▁Ġ \n\t"
"""What tokenizers write for a space before a word."""


class LabelRead(Record):
    """One decision as it was read. Probabilities are over the allowed labels and add up to one."""

    labels: tuple[str, ...]
    logprobs: tuple[float, ...]
    """Of each label; a fallback value where it did not come back."""
    bounds: tuple[float, ...]
    """The same with every missing label at the most it could have had."""
    returned: int
    """Labels that came back."""
    label_mass: float
    """Probability of the labels that came back, of all tokens: what the read makes of it sums to one regardless."""
    top_is_label: bool
    """Whether the most likely token was a label."""
    exact: bool
    """Read by the labels' own ids, so that nothing is a fallback."""

    @property
    def readable(self) -> bool:
        """False when no label came back: which one is most likely is then not known."""
        return self.returned > 0

    @property
    def used_fallback(self) -> bool:
        """At least one label did not come back."""
        return self.returned < len(self.labels)

    @property
    def predicted(self) -> int | None:
        """The place of the most likely label; None when none came back."""
        return max(range(len(self.labels)), key=lambda place: self.logprobs[place]) if self.readable else None

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Softmax over the labels."""
        return softmax(self.logprobs)


def softmax(logprobs: Sequence[float]) -> tuple[float, ...]:
    """Shares that add up to one, whatever constant was added to all log-probabilities."""
    top = max(logprobs)
    weights = [exp(value - top) for value in logprobs]
    return tuple(weight / sum(weights) for weight in weights)


def from_top(labels: Sequence[str], top: Sequence[tuple[str, float]]) -> LabelRead:
    """`top` are the most likely tokens and their log-probabilities at the answer's position, in any order.

    A label may be there in several spellings ("A", " A"): their probabilities add up. Raises InvalidInput for an
    empty list: an engine that returns nothing cannot be read, and that is no wrong answer.
    """
    if not top:
        raise InvalidInput(
            "top", "the engine returned no log-probabilities", fix="Ask for them, or use another engine."
        )
    found: dict[str, list[float]] = {}
    for token, logprob in top:
        found.setdefault(token.strip(MARKS), []).append(logprob)
    lowest = min(logprob for _, logprob in top)
    rest = 1 - sum(exp(logprob) for _, logprob in top)
    bound = min(lowest, log(rest)) if rest > 0 else -inf
    bound = max(bound, lowest - FALLBACK)
    own = [_together(found[label]) if label in found else None for label in labels]
    best = max(top, key=lambda pair: pair[1])[0]
    return LabelRead(
        labels=tuple(labels),
        logprobs=tuple(lowest - FALLBACK if value is None else value for value in own),
        bounds=tuple(bound if value is None else value for value in own),
        returned=sum(value is not None for value in own),
        label_mass=min(1.0, sum(exp(value) for value in own if value is not None)),
        top_is_label=best.strip(MARKS) in labels,
        exact=False,
    )


def from_exact(labels: Sequence[str], logprobs: Mapping[str, float], *, top_is_label: bool | None = None) -> LabelRead:
    """Log-probabilities asked for by the labels' own token ids. Raises InvalidInput when one is missing."""
    missing = [label for label in labels if label not in logprobs]
    if missing:
        raise InvalidInput("logprobs", f"no value for {', '.join(missing)}", fix="Ask for every label's token id.")
    own = tuple(logprobs[label] for label in labels)
    mass = min(1.0, sum(exp(value) for value in own))
    return LabelRead(
        labels=tuple(labels),
        logprobs=own,
        bounds=own,
        returned=len(own),
        label_mass=mass,
        # without the top token: a label that holds more than half of everything is the most likely one
        top_is_label=max(own) > log(0.5) if top_is_label is None else top_is_label,
        exact=True,
    )


def _together(logprobs: Sequence[float]) -> float:
    top = max(logprobs)
    return top + log1p(sum(exp(value - top) for value in logprobs) - 1)
