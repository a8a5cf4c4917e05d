"""Extra flags are checked one by one; nothing else reaches an engine."""

from __future__ import annotations

import pytest

from clouds.errors import InvalidInput
from clouds.local import flags
from clouds.local.engines import ENGINES

LLAMA = ENGINES["xllamacpp"].flags

GOOD = [
    ("", ()),
    ("  --no-warmup  ", ("--no-warmup",)),
    ("--seed 7 --flash-attn=on", ("--seed", "7", "--flash-attn", "on")),
    ("--rope-freq-scale '0.5'", ("--rope-freq-scale", "0.5")),
]


@pytest.mark.parametrize(("text", "words"), GOOD, ids=[row[0] for row in GOOD])
def test_known_flags_become_words(text: str, words: tuple[str, ...]) -> None:
    assert flags.parse(text, LLAMA, "xllamacpp") == words


BAD = [
    ("--flash-att on", "'--flash-att' is not taken for xllamacpp. Did you mean --flash-attn?"),
    ("--seed", "--seed needs a value"),
    ("--seed x", "--seed: 'x' is no whole number"),
    ("--seed 1.5", "--seed: '1.5' is no whole number"),
    ("--batch-size 0", "--batch-size: 0 is not in 1 to 65536"),
    ("--rope-freq-scale nan", "--rope-freq-scale: nan is not in 0 to 1000"),
    ("--flash-attn maybe", "--flash-attn: 'maybe' is none of on, off, auto"),
    ("--no-warmup=1", "--no-warmup takes no value"),
    ("--seed 1 --seed 2", "--seed is given twice"),
    ("--seed '1", "cannot be split into words: No closing quotation"),
    ("; rm -rf /", "';' is not taken"),
    ("-m /etc/passwd", "'-m' is not taken"),
    ("--no-warmup --host 0.0.0.0", "'--host' is not taken"),
]


@pytest.mark.parametrize(("text", "problem"), BAD, ids=[row[0] for row in BAD])
def test_anything_else_is_refused_with_what_is_allowed(text: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        flags.parse(text, LLAMA, "xllamacpp")
    assert str(caught.value).startswith(f"`settings.flags`: {problem}")
    assert caught.value.allowed == tuple(LLAMA)


OURS = {
    "--host",
    "--port",
    "--api-key",
    "--api-key-file",
    "--model",
    "--log-file",
    "--slot-save-path",
    "--served-model-name",
}


@pytest.mark.parametrize("engine", list(ENGINES))
def test_no_engine_takes_a_flag_that_is_ours(engine: str) -> None:
    assert not OURS & set(ENGINES[engine].flags)
