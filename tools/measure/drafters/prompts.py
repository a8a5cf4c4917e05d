"""Six kinds of prompt: a drafter guesses code far better than stories, so one kind says little. The same in every run.

The kinds are those of the article of 2026-10-27; the texts are our own.
"""

from __future__ import annotations

from collections.abc import Mapping

KINDS: Mapping[str, str] = {
    "code": "Write a Python class for a bank account with deposit, withdraw, transfer and a printed statement.",
    "chat": "I have a free Saturday in a small coastal town and it may rain. What would you do, hour by hour?",
    "story": "Tell a story about a ferry pilot who finds a letter addressed to a passenger of fifty years ago.",
    "explanation": "Explain step by step how a refrigerator moves heat out of a cold box.",
    "facts": "List facts about the planets of the solar system: size, day, year and moons of each.",
    "summary": (
        "Summarize in a few paragraphs: In spring the council closed the old bridge. Carters lost an hour a day, the "
        "mill took on two boats, the market moved to the east bank, and the school opened an hour later. By autumn a "
        "new bridge of oak stood a little upstream. The carters came back, the boats were sold, but the market stayed "
        "where it was, since its new square was wider, and the school kept its hour."
    ),
}
