"""The shape of a timed request: so many prompt tokens, so many of the reply ("1024/128")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from clouds.errors import InvalidInput
from tools.measure.client import ChatRequest, Reply
from tools.measure.haystack import filler
from tools.measure.measurement import Bench
from tools.measure.options import Options
from tools.measure.prompts import timing_prompt
from tools.measure.record import Scalar

SAMPLE = 24
"""Sentences of the prompt by which tokens per sentence are learnt."""
CHARACTERS = 4.0
"""Characters a token where the endpoint counts none."""
MOST_CHARACTERS = 16
"""A count that makes a token longer is not believed: every prompt would be far too long."""
OWN = 24
"""Tokens, about, of a timing prompt by itself."""
LONGEST = 1_000_000
TAKES = "prompt/output tokens, 1024/128; default a short prompt"


@dataclass(frozen=True)
class Shape:
    """`prompt` 0 is the short timing prompt by itself."""

    prompt: int
    output: int

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """As it stands in a record; nothing of the prompt where it is the short one, as in every earlier run."""
        return {"tokens": self.output, **({"prompt_tokens": self.prompt} if self.prompt else {})}

    def request(self, nonce: str, mark: str, position: int, per_sentence: float, label: str = "") -> ChatRequest:
        """One request whose first line no other has; the filler behind it is the same in every run."""
        text = timing_prompt(nonce, mark, position)
        if self.prompt:
            first, _, rest = text.partition("\n")
            text = f"{first}\n{filler(max(1, round((self.prompt - OWN) / per_sentence)))}\n{rest}"
        return ChatRequest(text, self.output, label=label or f"{mark} {position + 1}", fixed_length=True)


def shape(options: Options, name: str, tokens: int) -> Shape:
    """The shape that an option gives; else a short prompt and `tokens`. Raises InvalidInput."""
    given = options.text(name)
    if not given:
        return Shape(0, tokens)
    match = re.fullmatch(r"(\d{1,7})/(\d{1,6})", given.replace(",", ""))
    found = Shape(int(match[1]), int(match[2])) if match else Shape(0, 0)
    if not (0 <= found.prompt <= LONGEST and 2 <= found.output <= LONGEST):
        raise InvalidInput(
            "options", f"{name}={given[:40]} is no shape", fix="Give prompt/output tokens, such as 1024/128."
        )
    return found


async def learnt(bench: Bench, nonce: str, says: str) -> float:
    """How many tokens a sentence of the filler has here, learnt from one small request."""
    sample = ChatRequest(f"{nonce} sample\n{filler(SAMPLE)}\nAnswer with yes.", 4, label="sample")
    return per_sentence((await bench.together("sample", [sample], says)).replies[0])


def per_sentence(reply: Reply) -> float:
    """From the prompt's tokens as the endpoint counted them, where that count can be true."""
    length = len(filler(SAMPLE))
    counted = reply.prompt_tokens if reply.ok and reply.prompt_tokens else 0
    plausible = length / MOST_CHARACTERS < counted < 2 * length
    return (counted if plausible else length / CHARACTERS) / SAMPLE
