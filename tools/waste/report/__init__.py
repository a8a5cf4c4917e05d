"""A scan as files for people and programs. Every one is made from the saved scan alone and calls no cloud."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tools.home import write_atomically
from tools.waste import store
from tools.waste.records import Scan
from tools.waste.report import csv, html, sarif

ENDINGS = ("html", "csv", "sarif")


def write(home: Path, scan: Scan) -> Mapping[str, Path]:
    """Write the whole result and its reports; returns their paths by kind."""
    found = {"json": store.save(home, scan)}
    for ending, text in (("html", html.render(scan)), ("csv", csv.render(scan)), ("sarif", sarif.render(scan))):
        found[ending] = write_atomically(store.path(home, scan.id, ending), text)
    return found
