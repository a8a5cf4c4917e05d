"""Recorded responses as a first-class transport: for tests, for a demonstration, and for `--replay DIR`."""

from __future__ import annotations

import os
from pathlib import Path

from clouds.errors import InvalidInput
from clouds.replay.fixtures import Fixture, Origin, Scenario, load, load_tree, plain
from clouds.replay.placebo import read_placebo
from clouds.replay.player import NotRecorded, Replay
from clouds.replay.seam import Answer, Request, Tap, ask, tell

__all__ = [
    "VARIABLE",
    "Answer",
    "Fixture",
    "NotRecorded",
    "Origin",
    "Replay",
    "Request",
    "Scenario",
    "Tap",
    "ask",
    "load",
    "load_tree",
    "plain",
    "read_placebo",
    "replay_of",
    "replaying",
    "tell",
]

VARIABLE = "MODELRIG_REPLAY"
"""The server's `--replay DIR` sets it, so that its worker processes answer from the same recordings."""


def replaying() -> Path | None:
    """The folder that every cloud answers from, or None. Raises InvalidInput when it is named and not there."""
    named = os.environ.get(VARIABLE, "")
    if not named:
        return None
    directory = Path(named)
    if not directory.is_dir():
        raise InvalidInput("replay", f"{named} is not a folder", fix="Start the server with --replay FOLDER.")
    return directory


def replay_of(cloud: str) -> Replay | None:
    """The replay of one cloud (`DIR/<cloud>`, else DIR itself), or None when the network is to be used.

    Where that holds a folder `account`, its scenarios answer before all others: they are one coherent account.
    """
    directory = replaying()
    if directory is None:
        return None
    own = directory / cloud
    tree = load_tree(own if own.is_dir() else directory)
    whole = (own if own.is_dir() else directory) / "account"
    return Replay(
        [scenario for scenario in tree if whole not in scenario.directory.parents],
        [scenario for scenario in tree if whole in scenario.directory.parents],
    )
