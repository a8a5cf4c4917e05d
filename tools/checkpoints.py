"""inspect_checkpoint and repack_checkpoint: what is inside weights, and four bits out of them without loss."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from clouds.base import Progress
from tools.figures import duration, size
from tools.home import inside, write_atomically
from tools.ledger import Book
from tools.measure.checkpoint import inspection
from tools.measure.checkpoint.inspection import Inspection
from tools.measure.checkpoint.repack import Repacked, repack
from tools.measure.checkpoint.verify import Verified, verify
from tools.registry import Effect, Tool
from tools.result import Result, capped
from tools.settings import Settings

Texts = tuple[str, ...]
REPORT = "repack.json"


class Repack(Result):
    """A repack and its verification, which read both checkpoints again. The file holds both records whole."""

    lossless: bool
    folder: str
    file: str
    bytes_before: int
    bytes_after: int
    kinds: tuple[str, ...]
    """A line for each kind of packed tensor, and one for the copies."""
    kept: tuple[str, ...] = ()
    """Linear weights that stayed as they are, and why."""
    problems: tuple[str, ...] = ()

    def body(self) -> str:
        """A line a kind of tensor, what stayed as it is, what is wrong."""
        blocks = ["\n".join(f"- {line}" for line in self.kinds)]
        blocks += ["Kept in 16 bits:\n" + "\n".join(f"- {line}" for line in self.kept)] if self.kept else []
        blocks += ["\n".join(self.problems)] if self.problems else []
        return "\n\n".join([*blocks, f"All counts: `{self.file}`"])


def inspect_checkpoint(
    checkpoint: Annotated[str, Field(description=".safetensors or .gguf file, its folder, or URL")],
    progress: Progress,
    accelerators: Annotated[Texts, Field(description='L4, "4 x v6e"; empty: all')] = (),
    context_tokens: Annotated[int, Field(ge=0)] = 0,
    kv_dtype: str = "bf16",
    cast: Annotated[Literal["", "f16"], Field(description="count what F16 would lose; reads all")] = "",
    hashes: Annotated[bool, Field(description="sha256; reads all")] = False,
    token_env: Annotated[str, Field(description="variable with a URL's token: HF_TOKEN, …_API_KEY")] = "",
) -> Inspection:
    """Read a checkpoint's headers: parameters, bytes and dtype by part, and how many KV tokens fit each accelerator.

    Formulas are shown."""
    return inspection.inspect_checkpoint(
        checkpoint,
        accelerators=accelerators,
        context_tokens=context_tokens or None,
        kv_dtype=kv_dtype,
        cast=cast,
        hashes=hashes,
        token_env=token_env,
        progress=progress,
    )


def repack_checkpoint(
    checkpoint: Annotated[str, Field(description="folder of the 16-bit export")],
    folder: Annotated[str, Field(description="new, inside the project or data directory")],
    settings: Settings,
    book: Book,
    progress: Progress,
    keep_fused: Annotated[bool, Field(description="keep what engines fuse with a kept tensor too")] = False,
) -> Repack:
    """Repack weights trained for Q4_0 into compressed-tensors W4A16 without loss, and verify every group.

    A tensor with a group off the grid stays as it is.
    """
    target = inside(folder, settings.project, book.home, field="folder")
    workers = max(1, (os.cpu_count() or 2) - 1)
    made = repack(checkpoint, target, siblings="keep" if keep_fused else "pack", workers=workers, progress=progress)
    found = verify(checkpoint, target, progress=progress)
    file = target / REPORT
    records = {"repacked": made.model_dump(mode="json"), "verified": found.model_dump(mode="json")}
    write_atomically(file, json.dumps(records, indent=1) + "\n")
    groups = sum(row.groups for row in found.packed)
    whole = sum(row.groups_whole for row in found.packed)
    verdict = "without loss" if found.lossless else "WITH LOSS"
    shrunk = f"{size(made.source_bytes)} to {size(made.output_bytes)}"
    kept = [f"{each.tensor}: {each.reason}" for each in made.kept]
    shown, left_out = capped(kept)
    return Repack(
        headline=f"Repacked {verdict}: {whole:,} of {groups:,} groups whole, {shrunk} in {duration(made.seconds)}.",
        notes=(*_notes(made, found), *([f"Kept tensors shown: {left_out}."] if left_out else ())),
        next=f'deploy it: model="{target}".' if found.lossless else "do not serve it; the source is untouched.",
        lossless=found.lossless,
        folder=str(target),
        file=str(file),
        bytes_before=made.source_bytes,
        bytes_after=made.output_bytes,
        kinds=tuple(_kinds(found)),
        kept=shown,
        problems=found.problems,
    )


def _kinds(found: Verified) -> Iterator[str]:
    for row in found.packed:
        yield (
            f"{row.kind}: {row.tensors} tensors, {row.groups_whole:,} of {row.groups:,} groups whole, "
            f"{row.percent_identical:.1f} % of values bit-identical, worst relative difference "
            f"{row.worst_relative_difference:.2g}"
        )
    tensors, equal = sum(row.tensors for row in found.copied), sum(row.bytes_equal for row in found.copied)
    yield f"copied: {equal} of {tensors} tensors equal byte by byte"


def _notes(made: Repacked, found: Verified) -> Iterator[str]:
    ignored = f"{made.modules} packed modules, {made.ignored} in the ignore list"
    yield f"Group size {made.group_size} was found, not assumed; {ignored}."
    if found.textbook_median_error is not None:
        error = 100 * found.textbook_median_error
        yield f"The rule step = max / 8 would err by {error:.2g} % (median of sampled groups)."
    yield from made.warnings


INSPECT_CHECKPOINT = Tool(inspect_checkpoint, title="Inspect checkpoint", effect=Effect.READ, long=True)
REPACK_CHECKPOINT = Tool(repack_checkpoint, title="Repack checkpoint", effect=Effect.WRITE, long=True, open_world=False)
