"""The words for accelerators, and how other spellings of them are read. Where one can be deployed, a cloud says."""

from __future__ import annotations

import difflib
import re

from clouds.errors import InvalidInput

ACCELERATORS = (
    "T4", "L4", "L40S", "A10G", "A100-40GB", "A100-80GB", "H100", "H200", "B200", "RTX-PRO-6000", "MI300X",
    "v5e", "v5p", "v6e", "TPU7x", "Inferentia2", "Trainium", "Trainium2",
)  # fmt: skip
_SPELLINGS = {
    "a10": "A10G", "h100-80gb": "H100", "h200-141gb": "H200", "v5litepod": "v5e", "v5-lite": "v5e", "tpu-v5e": "v5e",
    "tpu-v5p": "v5p", "tpu-v6e": "v6e", "trillium": "v6e", "ironwood": "TPU7x", "inf2": "Inferentia2",
    "trn1": "Trainium", "trn2": "Trainium2", "rtx6000-pro": "RTX-PRO-6000", "rtx-pro-6000-blackwell": "RTX-PRO-6000",
}  # fmt: skip
_KNOWN = {word.lower(): word for word in ACCELERATORS} | _SPELLINGS


def accelerator(text: str) -> str:
    """Our word for an accelerator. Raises InvalidInput with the nearest and all known words."""
    plain = re.sub(r"^(nvidia|amd|google|aws)[ _-]+|[ _-]+(gpu|tensor-core|tpu)$", "", text.strip().lower())
    plain = re.sub(r"[ _]+", "-", plain)
    if plain in _KNOWN:
        return _KNOWN[plain]
    if plain == "a100":
        raise InvalidInput(
            "accelerator", "A100 is two accelerators", fix="Say A100-40GB or A100-80GB.", allowed=ACCELERATORS
        )
    near = difflib.get_close_matches(plain, _KNOWN, 1, cutoff=0.5)
    hint = f" Did you mean {_KNOWN[near[0]]}?" if near else ""
    raise InvalidInput(
        "accelerator",
        f"{text[:40]!r} is not known.{hint}",
        fix=f"Known: {', '.join(ACCELERATORS)}.",
        allowed=ACCELERATORS,
    )
