"""Prompts for timing: all different, and different from the first token on, so that no prefix cache can help."""

from __future__ import annotations

SUBJECTS = (
    "a lighthouse keeper on an island",
    "the first railway over a mountain",
    "how bread is made",
    "a team that repairs an observatory",
    "a river from spring to delta",
    "a night train with one empty seat",
    "how sorting a list works",
    "a market town before a festival",
    "a bridge over a tidal channel",
    "letters between two botanists",
    "how forecasts came to be trusted",
    "a clockmaker's apprentice",
)
FORMS = ("Write a long story about", "Explain at length", "Describe in detail")


def timing_prompt(nonce: str, label: str, position: int) -> str:
    """The prompt of one timed request. `nonce` differs from run to run; `label` and `position` inside a run."""
    subject = SUBJECTS[position % len(SUBJECTS)]
    form = FORMS[position // len(SUBJECTS) % len(FORMS)]
    return f"{nonce} {label}.{position}\n{form}: {subject}."
