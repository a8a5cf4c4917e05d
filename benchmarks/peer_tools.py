"""How each tool of benchmarks/peers.py is called, and where in its results the figures are."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

TTFT, ITL, TOKENS, WAVES = 0.050, 0.010, 256, 2
WALL = TTFT + (TOKENS - 1) * ITL
TOKENIZER = """import json, sys
from pathlib import Path
from tokenizers import Tokenizer, models, pre_tokenizers
folder = Path(sys.argv[1]); folder.mkdir(exist_ok=True)
words = Tokenizer(models.WordLevel({"[UNK]": 0, "tok": 1}, unk_token="[UNK]"))
words.pre_tokenizer = pre_tokenizers.Whitespace()
words.save(str(folder / "tokenizer.json"))
(folder / "tokenizer_config.json").write_text(json.dumps(
    {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}))
(folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
"""


@dataclass(frozen=True)
class Said:
    """What a tool says of its own run: milliseconds and tokens per second."""

    ttft_p50: float
    ttft_p99: float
    per_token: float
    rate: float


Command = Callable[[Path, str, int, Path], list[str]]
Read = Callable[[Path], Said]


def ours(venv: Path, url: str, level: int, folder: Path) -> list[str]:
    return [
        str(venv / "bin/python"),
        str(Path(__file__).with_name("peers.py")),
        "--measure",
        url,
        "--levels",
        str(level),
        "--out",
        str(folder / "run.json"),
    ]


def read_ours(folder: Path) -> Said:
    run = json.loads((folder / "run.json").read_text("utf-8"))
    figures = {
        each["key"].partition(".")[2].partition(".")[2]: each.get("value") for each in run["parts"][0]["figures"]
    }
    return Said(*(float(figures[name]) for name in ("ttft_p50_ms", "ttft_p99_ms", "tpot_p50_ms", "tokens_per_second")))


def guidellm(venv: Path, url: str, level: int, folder: Path) -> list[str]:
    data = [{"prompt": f"hello number {n}", "output_tokens_count": TOKENS} for n in range(WAVES * level)]
    (folder / "data.json").write_text(json.dumps(data), "utf-8")
    return [
        str(venv / "bin/guidellm"), "run", "--backend", f"kind=openai_http,target={url},model=truth",
        "--profile", f"kind=concurrent,streams={level}", "--constraint", f"kind=max_requests,count={WAVES * level}",
        "--data", f"kind=json_file,path={folder / 'data.json'}", "--output", f"kind=json,path={folder / 'out.json'}",
        "--disable-console",
    ]  # fmt: skip


def read_guidellm(folder: Path) -> Said:
    metrics = json.loads((folder / "out.json").read_text("utf-8"))["benchmarks"][0]["metrics"]
    good = {
        name: value["successful"]
        for name, value in metrics.items()
        if isinstance(value, dict) and "successful" in value
    }
    ttft, itl = good["time_to_first_token_ms"], good["inter_token_latency_ms"]
    return Said(ttft["median"], ttft["percentiles"]["p99"], itl["median"], good["output_tokens_per_second"]["mean"])


def aiperf(venv: Path, url: str, level: int, folder: Path) -> list[str]:
    lines = (json.dumps({"text": f"hello number {n}"}) for n in range(WAVES * level))
    (folder / "data.jsonl").write_text("\n".join(lines), "utf-8")
    tokenizer = folder.parent / "tokenizer"
    if not tokenizer.exists():
        subprocess.run([str(venv / "bin/python"), "-c", TOKENIZER, str(tokenizer)], check=True, timeout=60)
    return [
        str(venv / "bin/aiperf"), "profile", "-m", "truth", "--tokenizer", str(tokenizer), "--endpoint-type", "chat",
        "--streaming", "--url", url, "--concurrency", str(level), "--request-count", str(WAVES * level),
        "--input-file", str(folder / "data.jsonl"), "--custom-dataset-type", "single_turn",
        "--extra-inputs", f"max_completion_tokens:{TOKENS}", "--use-server-token-count",
        "--output-artifact-dir", str(folder), "--ui", "none", "--export-level", "summary",
    ]  # fmt: skip


def read_aiperf(folder: Path) -> Said:
    found = json.loads((folder / "profile_export_aiperf.json").read_text("utf-8"))
    ttft = found["time_to_first_token"]
    rate = found["output_token_throughput"]["avg"]
    return Said(ttft["p50"], ttft["p99"], found["inter_token_latency"]["p50"], rate)


def vllm(venv: Path, url: str, level: int, folder: Path) -> list[str]:
    tokenizer = folder.parent / "tokenizer"
    if not tokenizer.exists():
        subprocess.run([str(venv / "bin/python"), "-c", TOKENIZER, str(tokenizer)], check=True, timeout=60)
    return [
        str(venv / "bin/vllm"), "bench", "serve", "--backend", "openai-chat", "--endpoint", "/v1/chat/completions",
        "--base-url", url, "--model", "truth", "--tokenizer", str(tokenizer), "--dataset-name", "random",
        "--random-input-len", "8", "--random-output-len", str(TOKENS), "--num-prompts", str(WAVES * level),
        "--max-concurrency", str(level), "--ignore-eos", "--save-result", "--result-dir", str(folder),
        "--result-filename", "out.json", "--percentile-metrics", "ttft,tpot,itl", "--disable-tqdm",
    ]  # fmt: skip


def read_vllm(folder: Path) -> Said:
    found = json.loads((folder / "out.json").read_text("utf-8"))
    names = ("median_ttft_ms", "p99_ttft_ms", "median_tpot_ms", "output_throughput")
    return Said(*(float(found[name]) for name in names))


TOOLS: Mapping[str, tuple[Command, Read]] = {
    "modelrig": (ours, read_ours),
    "guidellm": (guidellm, read_guidellm),
    "aiperf": (aiperf, read_aiperf),
    "vllm": (vllm, read_vllm),
}
