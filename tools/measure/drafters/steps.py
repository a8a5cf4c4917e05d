"""From tokens, drafts and seconds to steps: one pass of the model over the last token and those that were guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools.measure.client import Batch
from tools.measure.drafters.counters import drafts_of

FORMULAS = {
    "drafters_rate": "geometric mean over the kinds of prompt of 1 / TPOT, one request at a time; median over repeats",
    "drafters_kind": "1 / TPOT of the replies to this kind of prompt, one at a time; median over repeats",
    "tokens_per_step": "(N - 1) / steps, steps = N - 1 - guesses kept; the prompt's pass makes the first token",
    "kept": "guesses kept / guesses made, as the engine counts them",
    "drafted_per_step": "guesses made / steps",
    "step": "(last - first delta) / steps, summed over the replies",
    "drafters_load": "output tokens of the good replies / (last token - first request); median over batches",
}


@dataclass(frozen=True)
class Steps:
    """Sums over some replies. `seconds` are those between the first and the last delta of each."""

    tokens: float
    """After the first one of each reply."""
    drafted: float
    kept: float
    seconds: float

    @property
    def steps(self) -> float:
        """Passes of the model; at least one in as many tokens as could be kept."""
        return self.tokens - self.kept

    @property
    def tokens_per_step(self) -> float | None:
        """1 without a drafter."""
        return self.tokens / self.steps if self.steps > 0 else None

    @property
    def kept_percent(self) -> float | None:
        """None when nothing was drafted."""
        return 100 * self.kept / self.drafted if self.drafted > 0 else None

    @property
    def drafted_per_step(self) -> float | None:
        """0 without a drafter."""
        return self.drafted / self.steps if self.steps > 0 else None

    @property
    def step_ms(self) -> float | None:
        """Milliseconds of one step."""
        return 1e3 * self.seconds / self.steps if self.steps > 0 and self.seconds > 0 else None


def steps_of(batches: Sequence[Batch]) -> Steps | None:
    """The steps of all replies of some batches; None unless the engine told its drafts in every one."""
    tokens = drafted = kept = seconds = 0.0
    for batch in batches:
        told = drafts_of(batch)
        if told is None:
            return None
        drafted, kept = drafted + told[0], kept + told[1]
        tokens += sum(reply.tokens - 1 for reply in batch.good)
        seconds += sum(reply.last - reply.first for reply in batch.good)
    return Steps(tokens, drafted, kept, seconds) if tokens > 0 else None
