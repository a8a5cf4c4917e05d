"""How much is measured: `standard` is what the articles did, `quick` is a look of about half a minute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """Sizes of the measurements. Runs of different profiles are not compared."""

    name: str
    short_tokens: int
    long_tokens: int
    pairs: int
    levels: tuple[int, ...]
    load_tokens: int
    batches: int
    answer_streams: int
    answer_tokens: int
    caveat: str = ""


STANDARD = Profile(
    name="standard",
    short_tokens=16,
    long_tokens=512,
    pairs=5,
    levels=(1, 4, 16),
    load_tokens=256,
    batches=2,
    answer_streams=4,
    answer_tokens=128,
)
QUICK = Profile(
    name="quick",
    short_tokens=8,
    long_tokens=72,
    pairs=3,
    levels=(1, 4),
    load_tokens=48,
    batches=2,
    answer_streams=4,
    answer_tokens=12,
    caveat="Quick profile: replies of 8 and 72 tokens three times, loads of 48 tokens "
    "where no shape was given, answers of at most 12 tokens. "
    "It shows large differences only; `standard` is for figures to keep.",
)
PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (STANDARD, QUICK)}
