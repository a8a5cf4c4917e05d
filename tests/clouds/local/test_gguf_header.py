"""What is no complete GGUF file is refused before an engine sees it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from clouds.errors import InvalidInput
from clouds.local import gguf_header
from clouds.local.catalogue import TINY
from clouds.local.gguf_header import Header


def test_a_header_says_what_a_plan_needs(tiny_file: Path) -> None:
    size = tiny_file.stat().st_size
    found = Header("llama", "F16", size, 2, 4_096, 260, 128, 128, chat_template=True, weights=231_680)
    assert gguf_header.read(tiny_file) == found
    assert size > 231_680, "which holds the vocabulary besides"
    assert replace(TINY.header, bytes=size) == gguf_header.read(tiny_file)


def test_a_file_of_exactly_its_tensors_is_whole_and_one_byte_less_is_not(tiny_file: Path, tmp_path: Path) -> None:
    with tiny_file.open("rb") as file:
        needed = gguf_header._parse(file)[1]
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny_file.read_bytes()[:needed])
    assert gguf_header.read(cut).layers == 2
    cut.write_bytes(tiny_file.read_bytes()[: needed - 1])
    with pytest.raises(InvalidInput, match=f"is cut short: {needed - 1:,} bytes, and its tensors need {needed:,}"):
        gguf_header.read(cut)


DAMAGE: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("empty", lambda _: b"", "is not a GGUF file: it starts with b''"),
    ("another format", lambda _: b"PK\x03\x04" + b"x" * 100, "is not a GGUF file"),
    ("another version", lambda raw: raw[:4] + struct.pack("<I", 9) + raw[8:], "has GGUF version 9"),
    ("endless fields", lambda raw: raw[:16] + struct.pack("<Q", 2**60) + raw[24:], "is not readable here"),
    ("an endless string", lambda raw: raw[:24] + struct.pack("<Q", 2**50) + raw[32:], "is damaged or cut short"),
    ("half a header", lambda raw: raw[:3000], "is damaged or cut short inside its header"),
]


@pytest.mark.parametrize(("damage", "problem"), [row[1:] for row in DAMAGE], ids=[row[0] for row in DAMAGE])
def test_a_damaged_file_is_refused_in_words(
    tiny_file: Path, tmp_path: Path, damage: Callable[[bytes], bytes], problem: str
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(damage(tiny_file.read_bytes()))
    with pytest.raises(InvalidInput, match=problem) as caught:
        gguf_header.read(broken)
    assert caught.value.fix == "Give a complete GGUF file (version 2 or 3)."


def test_no_damage_anywhere_in_the_header_gets_another_error(tiny_file: Path, tmp_path: Path) -> None:
    random = Random(20261129)  # noqa: S311 - the same cases every time
    whole, broken = tiny_file.read_bytes(), tmp_path / "broken.gguf"
    for _ in range(60):
        at, value = random.randrange(4_000), random.choice((random.randbytes(8), b"\0" * 8, b"\xff" * 8))
        length = random.randint(1, 8)
        broken.write_bytes(whole[:at] + value[:length] + whole[at + length :])
        with suppress(InvalidInput):
            gguf_header.read(broken)


def test_the_parts_of_a_model_are_added_up_and_a_missing_one_is_named(tiny_file: Path, tmp_path: Path) -> None:
    first = tmp_path / "m-00001-of-00002.gguf"
    first.write_bytes(tiny_file.read_bytes())
    with pytest.raises(InvalidInput, match=r"its part 'm-00002-of-00002\.gguf' is not there"):
        gguf_header.read(first)
    second = tmp_path / "m-00002-of-00002.gguf"
    second.write_bytes(tiny_file.read_bytes())
    whole = gguf_header.read(first)
    assert (whole.bytes, whole.weights) == (2 * tiny_file.stat().st_size, None)
    with pytest.raises(InvalidInput, match="is not its first part"):
        gguf_header.read(second)
