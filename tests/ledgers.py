"""Data directories with a ledger that is made already: making one is most of what a short test of an endpoint does."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from tools.ledger import Book

NAME = "ledger.sqlite3"


def lay(home: Path) -> Path:
    """Put an empty ledger into `home` where there is none, and a reserve that takes no room; the tests of both do not
    come here."""
    home.mkdir(parents=True, exist_ok=True)
    ledger, reserve = home / NAME, home / f"{NAME}.reserve"
    if not ledger.exists():
        ledger.touch(0o600)
        ledger.write_bytes(_empty())
    if not reserve.exists():
        reserve.touch(0o600)
    return home


@cache
def _empty() -> bytes:
    with tempfile.TemporaryDirectory() as made:
        Book(Path(made)).close()
        return (Path(made) / NAME).read_bytes()
