"""Build rungs on this machine from one GGUF: gguf quantizes the simple types, libgguf the K-quants, where installed.

Every matrix becomes the asked type, where its width allows it. That is not the mix of llama.cpp's own quantizer, which
keeps some matrices larger (Q4_K here is not its Q4_K_M), so such rungs are compared with each other only.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from clouds.base import Progress
from clouds.errors import CloudError, Conflict, InvalidInput, NotInstalled
from clouds.models import Record
from tools.measure.checkpoint.digest import file_sha256, tensors_sha256
from tools.measure.checkpoint.opening import open_checkpoint
from tools.measure.checkpoint.source import Local

SIMPLE = ("F32", "BF16", "F16", "Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0")
K_QUANTS = ("Q6_K", "Q5_K", "Q4_K", "Q3_K", "Q2_K")
FILE_TYPES = {
    "F32": 0,
    "F16": 1,
    "Q4_0": 2,
    "Q4_1": 3,
    "Q8_0": 7,
    "Q5_0": 8,
    "Q5_1": 9,
    "Q2_K": 10,
    "Q3_K": 12,
    "Q4_K": 15,
    "Q5_K": 17,
    "Q6_K": 18,
    "BF16": 32,
}
"""`general.file_type` of each (gguf 0.19, LlamaFileType, read 2026-11-29)."""
WHOLE = ("F32", "BF16", "F16")


class Built(Record):
    """One rung that was built: its file with both hashes, and what its matrices really are."""

    rung: str
    file: str
    bytes: int
    sha256: str
    tensors_sha256: str
    types: dict[str, int]
    """Tensors by type: a matrix whose width is no multiple of a K-quant's 256 falls back to Q8_0."""
    source_type: str
    """The type that most of the source's bytes have."""
    seconds: float
    notes: tuple[str, ...] = ()


def available() -> tuple[str, ...]:
    """The rungs that this machine can build now, largest first; empty without the gguf package."""
    if find_spec("gguf") is None:
        return ()
    return SIMPLE + (K_QUANTS if find_spec("libgguf") is not None else ())


def build_rung(source: Path, rung: str, folder: Path, progress: Progress | None = None) -> Built:
    """Write `<source>-<rung>.gguf` into `folder`, one tensor at a time. Raises CloudError before it writes anything."""
    started = time.monotonic()
    _check(source, rung)
    target = folder / f"{source.stem}-{rung}.gguf"
    if target.exists():
        raise Conflict(f"building {target.name}", answered="it is there", fix="Use it, or name another folder.")
    opened = open_checkpoint(str(source))
    sizes: Counter[str] = Counter()
    for tensor in opened.tensors:
        sizes[tensor.dtype] += tensor.size
    folder.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    types = _write(source, rung, partial, progress)
    partial.replace(target)
    made = open_checkpoint(str(target))
    source_type = sizes.most_common(1)[0][0]
    notes = []
    if source_type not in WHOLE:
        notes.append(f"The source is {source_type} already: a rung above it restores nothing that it lost.")
    fallen = sum(count for kind, count in types.items() if kind not in {rung, "F32"})
    if fallen:
        notes.append(f"{fallen} of {sum(types.values())} tensors do not divide into {rung} blocks and are larger.")
    return Built(
        rung=rung,
        file=target.name,
        bytes=target.stat().st_size,
        sha256=file_sha256(Local(target)),
        tensors_sha256=tensors_sha256(made),
        types=dict(types),
        source_type=source_type,
        seconds=time.monotonic() - started,
        notes=tuple(notes),
    )


def _check(source: Path, rung: str) -> None:
    if rung not in SIMPLE + K_QUANTS:
        raise InvalidInput("rung", f"{rung[:20]!r} is not known", fix="Name one.", allowed=SIMPLE + K_QUANTS)
    if rung not in available():
        package = "gguf" if find_spec("gguf") is None else "libgguf"
        raise NotInstalled(f"building {rung}", fix=f"Install the package {package}.")
    if not source.is_file():
        raise InvalidInput("source", f"{source.name} is no file", fix="Name a GGUF file.")


def _write(source: Path, rung: str, target: Path, progress: Progress | None) -> Counter[str]:
    import gguf

    reader = gguf.GGUFReader(source)
    architecture = str(reader.fields["general.architecture"].contents())
    writer = gguf.GGUFWriter(target, architecture)
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in {"general.architecture", "general.file_type"}:
            continue
        inner = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=inner)
    writer.add_file_type(FILE_TYPES[rung])
    kinds = [_kind(tensor, rung) for tensor in reader.tensors]
    for tensor, kind in zip(reader.tensors, kinds, strict=True):
        shape, size, dtype = _stored(tensor, kind)
        writer.add_tensor_info(tensor.name, shape, dtype, size, raw_dtype=gguf.GGMLQuantizationType[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    try:
        for done, (tensor, kind) in enumerate(zip(reader.tensors, kinds, strict=True)):
            if progress is not None:
                progress.report(f"{rung}: {tensor.name}", done, len(kinds))
            writer.write_tensor_data(_convert(tensor, kind))
    finally:
        writer.close()
    return Counter(kinds)


def _kind(tensor: Any, rung: str) -> str:
    """The type that a tensor gets: vectors stay as they are in 32 bits; a width that no block divides falls back."""
    import gguf

    if len(tensor.shape) < 2:
        return "F32"
    width = int(tensor.shape[0])
    for kind in (rung, "Q8_0"):
        if width % gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]][0] == 0:
            return kind
    return "F16"


def _stored(tensor: Any, kind: str) -> tuple[tuple[int, ...], int, Any]:
    """Shape as the writer wants it (in bytes for packed types), bytes, and the array's dtype."""
    import gguf
    import numpy as np

    shape = tuple(int(side) for side in reversed(tensor.shape))
    block, width = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]]
    size = int(np.prod(shape)) // block * width
    if kind in {"F32", "F16"}:
        return shape, size, np.dtype(np.float32 if kind == "F32" else np.float16)
    return (*shape[:-1], shape[-1] // block * width), size, np.dtype(np.uint8)


def _convert(tensor: Any, kind: str) -> Any:
    import gguf
    import numpy as np

    shape = tuple(int(side) for side in reversed(tensor.shape))
    values = np.asarray(gguf.quants.dequantize(tensor.data, tensor.tensor_type), dtype=np.float32).reshape(shape)
    if kind in K_QUANTS:
        import libgguf

        packed = libgguf.quantize_rows(values.reshape(-1, shape[-1]), gguf.GGMLQuantizationType[kind])
        return np.ascontiguousarray(packed)
    return np.ascontiguousarray(gguf.quants.quantize(values, gguf.GGMLQuantizationType[kind]))


def main(arguments: list[str]) -> int:
    """`python -m tools.measure.ladder.build SOURCE FOLDER [RUNG ...]`: one JSON line a rung; all rungs by default."""
    if len(arguments) < 2:
        print(
            f"usage: {(main.__doc__ or '').split(':')[0].strip('`')}; this machine can build: {', '.join(available())}"
        )
        return 2
    source, folder, *rungs = arguments
    try:
        for rung in rungs or available():
            print(build_rung(Path(source), rung, Path(folder)).model_dump_json(), flush=True)
    except CloudError as error:
        print(f"{error}. {error.fix}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
