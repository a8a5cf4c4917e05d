"""What is inside a checkpoint, read from its headers: parts, dtypes, what fits where, what an F16 cast would lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from clouds.base import Progress
from clouds.errors import InvalidInput
from tools.figures import number, size
from tools.measure.checkpoint.cast import CastCounts, f16_cast
from tools.measure.checkpoint.digest import file_sha256, tensors_sha256
from tools.measure.checkpoint.fits import UTILISATION, Fit, fits, formula
from tools.measure.checkpoint.kv_cache import BYTES, kv_cache
from tools.measure.checkpoint.opening import open_checkpoint
from tools.measure.checkpoint.parts import BODY, PartSize, sizes
from tools.measure.checkpoint.tensors import Checkpoint
from tools.result import SHOWN, Result, table

CONTEXT = 8192
"""Tokens of a full-length request when neither the caller nor the model says."""
HOLD = 3
"""Accelerators that hold it and are always shown."""


class Inspection(Result):
    """A checkpoint by its parts. Bytes of the parts add up to `bytes`; the files add their headers."""

    location: str
    format: str
    parameters: int
    bytes: int
    quantization: str
    parts: tuple[PartSize, ...]
    streamed_bytes: int | None = None
    """What one generated token reads: the body, the output head, and of the experts only those chosen."""
    kv_bytes_per_token: float | None = None
    fits_on: tuple[Fit, ...] = ()
    formulas: tuple[str, ...] = ()
    cast: tuple[str, ...] = ()
    """What an F16 cast would do: all tensors together, then those that lose most."""
    sha256: Mapping[str, str] = {}
    """By file."""
    tensors_sha256: str = ""
    """Of the tensors without the file's metadata: equal where only a converter's notes differ."""

    def body(self) -> str:
        """Parts, what fits, the formulas; then cast and hashes where they were asked for."""
        blocks = [table(self.parts)]
        blocks += [table(self.fits_on)] if self.fits_on else []
        blocks.append("\n".join(self.formulas))
        blocks += ["Cast to F16:\n" + "\n".join(f"- {line}" for line in self.cast)] if self.cast else []
        if self.tensors_sha256:
            hashes = [f"{name}: {value}" for name, value in list(self.sha256.items())[:SHOWN]]
            blocks.append("\n".join(["sha256", *hashes, f"tensors without metadata: {self.tensors_sha256}"]))
        return "\n\n".join(block for block in blocks if block)


def inspect_checkpoint(
    checkpoint: str,
    *,
    accelerators: Sequence[str] = (),
    context_tokens: int | None = None,
    kv_dtype: str = "bf16",
    utilisation: float = UTILISATION,
    cast: Literal["", "f16"] = "",
    hashes: bool = False,
    token_env: str = "",
    progress: Progress | None = None,
) -> Inspection:
    """Headers only, unless `cast` or `hashes` ask for every byte. Raises CloudError."""
    if kv_dtype not in BYTES:
        raise InvalidInput("kv_dtype", f"{kv_dtype[:20]!r} is not known", fix="Name one.", allowed=tuple(BYTES))
    if not 0 < utilisation <= 1:
        raise InvalidInput("utilisation", f"{utilisation} is no share", fix="Give a share above 0 and up to 1.")
    if context_tokens is not None and context_tokens < 1:
        raise InvalidInput("context_tokens", f"{context_tokens} is no length", fix="Give a number of tokens.")
    opened = open_checkpoint(checkpoint, token_env)
    total = sum(tensor.size for tensor in opened.tensors)
    parts = sizes(opened.tensors)
    cache = kv_cache(opened.config, opened.form, kv_dtype)
    context = context_tokens or min((cache.context_tokens if cache else None) or CONTEXT, CONTEXT)
    rows = fits(total, cache, context=context, accelerators=accelerators, utilisation=utilisation)
    streamed = _streamed(opened, parts)
    parameters = sum(part.parameters for part in parts)
    notes = []
    formulas = [formula(total, cache, utilisation), f"KV cache: {cache.formula}"] if cache else []
    formulas += [f"A generated token reads {size(streamed[0])}: {streamed[1]}"] if streamed else []
    made = f16_cast(opened.tensors, progress) if cast == "f16" else None
    if made is not None:
        lose = f"{made.losing_tensors} of {made.tensors} tensors lose weights in a cast to F16"
        notes.append(f"{lose}; {made.skipped} have no float weights to cast.")
    if not accelerators:
        rows, left_out = _near(rows)
        notes += [f"{left_out} larger accelerators hold it too."] if left_out else []
    if cache is None:
        notes.append("Its KV cache per token is unknown: there is no configuration beside it that says enough.")
    unknown = next((part for part in parts if part.part == "other"), None)
    if unknown is not None:
        notes.append(f"{unknown.tensors} tensors have names that no rule knows; they are listed as other.")
    return Inspection(
        headline=_headline(parameters, total, parts, rows, context),
        notes=tuple(notes),
        location=opened.location,
        format=opened.form,
        parameters=parameters,
        bytes=total,
        quantization=_quantization(opened),
        parts=parts,
        streamed_bytes=streamed[0] if streamed else None,
        kv_bytes_per_token=cache.bytes_per_token if cache else None,
        fits_on=rows,
        formulas=tuple(formulas),
        cast=tuple(_lost(each) for each in (made.total, *made.losing[:SHOWN])) if made else (),
        sha256={each.name: file_sha256(each) for each in opened.sources} if hashes else {},
        tensors_sha256=tensors_sha256(opened) if hashes else "",
    )


def _near(rows: tuple[Fit, ...]) -> tuple[tuple[Fit, ...], int]:
    """Those too small and the smallest that hold it; how many larger ones were left out."""
    small = [row for row in rows if not row.fits]
    hold = [row for row in rows if row.fits]
    kept = max(HOLD, SHOWN - len(small))
    return tuple(small + hold[:kept]), len(hold[kept:])


def _headline(parameters: int, total: int, parts: Sequence[PartSize], rows: Sequence[Fit], context: int) -> str:
    largest = " and ".join(f"{size(part.bytes)} {part.part}" for part in parts[:2])
    held = next((row for row in rows if row.fits), None)
    text = f"{_many(parameters)} parameters in {size(total)} ({largest})"
    if held is None:
        return f"{text}; fits none of the {len(rows)} accelerators asked for."
    tokens = f" with {held.kv_tokens:,} KV tokens" if held.kv_tokens is not None else ""
    full = (
        f", {number(float(f'{held.full_contexts:.3g}'))} requests of {context:,}"
        if held.full_contexts is not None
        else ""
    )
    return f"{text}; the smallest that holds it is {held.accelerator}{tokens}{full}."


def _lost(row: CastCounts) -> str:
    return (
        f"{row.tensor}: of {row.n:,} weights {row.overflow:,} overflow, {row.underflow:,} become zero, "
        f"{row.subnormal:,} lose bits; largest {row.absmax:.4g}"
    )


def _many(parameters: int) -> str:
    for unit, word in ((10**9, "billion"), (10**6, "million")):
        if parameters >= unit:
            return f"{parameters / unit:.3g} {word}"
    return f"{parameters:,}"


def _quantization(opened: Checkpoint) -> str:
    if opened.form == "gguf":
        kinds: dict[str, int] = {}
        for tensor in opened.tensors:
            kinds[tensor.dtype] = kinds.get(tensor.dtype, 0) + tensor.size
        return max(kinds, key=lambda kind: kinds[kind], default="none")
    stated = opened.config.get("quantization_config") or {}
    words = [str(stated.get(key)) for key in ("quant_method", "format") if stated.get(key)]
    return " ".join(words)[:80] or "none"


def _streamed(opened: Checkpoint, parts: Sequence[PartSize]) -> tuple[int, str] | None:
    """Of sparse experts a token reads only those chosen; a tied output head reads the token embedding again."""
    held: Mapping[str, int] = {part.part: part.bytes for part in parts}
    chosen, experts = _experts(opened)
    body = sum(held.get(part, 0) for part in BODY if part != "experts")
    words = ["body without experts"] if held.get("experts") else ["body"]
    if held.get("experts"):
        if not chosen or not experts:
            return None
        body += held["experts"] * chosen // experts
        words.append(f"{chosen} of {experts} experts")
    head = held.get("output head") or held.get("token embedding", 0)
    words.append("output head" if held.get("output head") else "token embedding, which is the output head too")
    return (body + head, " + ".join(words)) if body else None


def _experts(opened: Checkpoint) -> tuple[int, int]:
    if opened.form == "gguf":
        name = opened.config.get("general.architecture")
        return _whole(opened.config.get(f"{name}.expert_used_count")), _whole(opened.config.get(f"{name}.expert_count"))
    text = opened.config.get("text_config") or opened.config
    chosen = text.get("top_k_experts") or text.get("num_experts_per_tok")
    return _whole(chosen), _whole(
        text.get("num_experts") or text.get("num_local_experts") or text.get("n_routed_experts")
    )


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 0
