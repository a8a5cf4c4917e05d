"""modelrig beside CleanCloud and Cloud Custodian on one account of a local simulator: time, findings, prices, mistakes.

    python -m venv /somewhere && /somewhere/bin/pip install "moto[server,ec2,elbv2]" cleancloud c7n
    python benchmarks/waste_compare.py /somewhere

Method: moto serves one account on the loopback address. It is filled with seven kinds of waste and a healthy twin of
each, made 100 days ago (the simulator's clock is turned back). Each scanner runs as its own process, start-up included,
once to warm the simulator and five times more, in turn with the others; the median is shown, and its ratio to ours.
Every one looks at the same kinds in one region. CleanCloud runs all its hygiene rules, since it cannot be told which;
findings of its rule about missing tags are not counted. The Custodian policies are the plainest of its documentation,
written below. Log groups are left out: the simulator stores none of the gigabytes that we ask for before we call one
waste.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from waste_account import EACH, KINDS, REGION, Filling, simulator

ROOT = Path(__file__).resolve().parents[1]
RUNS = 5
OURS = (
    "ebs-unattached", "eip-unassociated", "snapshot-orphan", "nat-idle", "alb-no-targets", "ami-unused",
    "ec2-stopped",
)  # fmt: skip
POLICIES: dict[str, Any] = {
    "policies": [
        {"name": "volume", "resource": "ebs", "filters": [{"Attachments": []}]},
        {"name": "address", "resource": "network-addr", "filters": [{"AssociationId": "absent"}]},
        {"name": "snapshot", "resource": "ebs-snapshot", "filters": [{"type": "unused", "value": True}]},
        {
            "name": "nat",
            "resource": "nat-gateway",
            "filters": [
                {"type": "metrics", "name": "BytesOutToDestination", "statistics": "Sum", "days": 14, "value": 1,
                 "op": "less-than", "missing-value": 0},
            ],
        },
        {
            "name": "balancer",
            "resource": "app-elb",
            "filters": [
                {"type": "metrics", "name": "RequestCount", "statistics": "Sum", "days": 14, "value": 1,
                 "op": "less-than", "missing-value": 0},
            ],
        },
        {"name": "image", "resource": "ami", "filters": [{"type": "unused", "value": True}]},
        {"name": "instance", "resource": "ec2", "filters": [{"State.Name": "stopped"}]},
    ]
}  # fmt: skip


def environment(url: str, home: Path) -> dict[str, str]:
    """What every scanner is started with: made-up keys and the address of the simulator, nothing of the user's own."""
    return {
        "PATH": os.environ["PATH"], "HOME": str(home), "AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "simulated",
        "AWS_SECRET_ACCESS_KEY": "simulated", "AWS_DEFAULT_REGION": REGION, "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true", "MODELRIG_HOME": str(home / "modelrig"),
    }  # fmt: skip


def ours(_tools: Path, folder: Path) -> tuple[list[str], Path]:
    """Our command, and the file it writes."""
    command = [sys.executable, str(ROOT / "server.py"), "--clouds", "aws", "call", "scan_waste", f"scopes={REGION}"]
    return [*command, f"checks={','.join(OURS)}", "--json"], folder / "out"


def cleancloud(tools: Path, folder: Path) -> tuple[list[str], Path]:
    """CleanCloud's command, and the file it writes."""
    out = folder / "findings.json"
    command = [str(tools / "bin" / "cleancloud"), "scan", "--provider", "aws", "--region", REGION, "--output", "json"]
    return [*command, "--output-file", str(out), "--no-feedback"], out


def custodian(tools: Path, folder: Path) -> tuple[list[str], Path]:
    """Cloud Custodian's command, and the folder it writes."""
    policies = folder / "policies.json"
    policies.write_text(json.dumps(POLICIES))
    return [str(tools / "bin" / "custodian"), "run", "-s", str(folder / "out"), "--cache-period", "0", str(policies)], (
        folder / "out"
    )


def found_by_us(path: Path) -> dict[str, float | None]:
    """What our scan names, with its monthly price."""
    scan = json.loads(Path(json.loads(path.read_text())["files"]["json"]).read_text())
    return {each["resource"]: each.get("usd_per_month") for each in scan["findings"]}


def found_by_cleancloud(path: Path) -> dict[str, float | None]:
    """What CleanCloud names."""
    return {
        each["resource_id"]: each.get("estimated_monthly_cost_usd")
        for each in json.loads(path.read_text())["findings"]
        if "untagged" not in each["rule_id"]
    }


def found_by_custodian(path: Path) -> dict[str, float | None]:
    """What Cloud Custodian names; it prices nothing."""
    keys = ["VolumeId", "AllocationId", "SnapshotId", "NatGatewayId", "LoadBalancerArn", "ImageId", "InstanceId"]
    rows = {
        key: json.loads((path / kind / "resources.json").read_text()) for kind, key in zip(KINDS, keys, strict=True)
    }
    return {row[key]: None for key, found in rows.items() for row in found}


SCANNERS = (
    ("modelrig", ours, found_by_us),
    ("CleanCloud", cleancloud, found_by_cleancloud),
    ("Cloud Custodian", custodian, found_by_custodian),
)


def matched(names: set[str], found: dict[str, float | None]) -> dict[str, float | None]:
    """Those of some resources that a scanner named, by id or by the end of an ARN."""
    ends = {key.rsplit("/", 1)[-1]: usd for key, usd in found.items()}
    return {
        name: found[name] if name in found else ends.get(name, ends.get(name.rsplit("/", 1)[-1]))
        for name in names
        if name in found or name in ends or (name.startswith("arn:") and name.rsplit("/", 1)[-1] in ends)
    }


class _Run:
    """One scanner's runs: its command, the file or folder it writes, and how long each took."""

    def __init__(self, word: str, command: list[str], out: Path) -> None:
        self.word, self.command, self.out = word, command, out
        self.times: list[float] = []

    def again(self, variables: dict[str, str]) -> None:
        """Run it once more."""
        begun = time.perf_counter()
        done = subprocess.run(self.command, env=variables, capture_output=True, text=True, check=False, timeout=300)
        self.times.append(time.perf_counter() - begun)
        if self.word == SCANNERS[0][0]:
            self.out.write_text(done.stdout)
        if done.returncode:
            print(f"{self.word} ended with {done.returncode}: {done.stderr[-400:]}")

    @property
    def median(self) -> float:
        """Seconds of a run, without the first."""
        return sorted(self.times[1:])[RUNS // 2]


def _folder(root: Path, word: str) -> Path:
    folder = root / word.replace(" ", "")
    (folder / "home").mkdir(parents=True)
    return folder


def main(arguments: list[str]) -> int:
    """Run all three and print the table."""
    if len(arguments) != 1 or not (tools := Path(arguments[0])).joinpath("bin", "python").exists():
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as name, simulator(tools / "bin" / "python") as url:
        account = Filling(url)
        account.fill()
        print(f"{len(KINDS)} kinds, {EACH} wasted and at least {EACH} healthy of each\n")
        print("| scanner | seconds | waste found | with a price | $ a month | healthy called waste |")
        print("|---|---|---|---|---|---|")
        runs = {word: _Run(word, *make(tools, _folder(Path(name), word))) for word, make, _ in SCANNERS}
        for _ in range(RUNS + 1):  # in turn, since the machine is now faster and now slower
            for each in runs.values():
                each.again(environment(url, each.out.parent / "home"))
        base = runs[SCANNERS[0][0]].median
        for word, _, read in SCANNERS:
            out = runs[word].out
            found = read(out)
            hits = {kind: matched(account.waste[kind], found) for kind in KINDS}
            wrong = {kind: matched(account.healthy[kind], found) for kind in KINDS}
            priced = [usd for each in hits.values() for usd in each.values() if usd is not None]
            total = sum(map(len, hits.values()))
            mistakes = ", ".join(f"{len(each)} {kind}" for kind, each in wrong.items() if each) or "none"
            missed = ", ".join(f"{EACH - len(each)} {kind}" for kind, each in hits.items() if len(each) < EACH)
            seconds = f"{runs[word].median:.1f} ({runs[word].median / base:.1f} x)"
            print(
                f"| {word} | {seconds} | {total} of {len(KINDS) * EACH}"
                f"{f' (not {missed})' if missed else ''} | {len(priced)} | {sum(priced):,.2f} | {mistakes} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
