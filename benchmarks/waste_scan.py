"""How long a waste scan takes and how much memory it needs, without a network: its answers come after a fixed delay.

    python benchmarks/waste_scan.py            both, with the bars they are held to; exit 1 where one is missed
    python benchmarks/waste_scan.py --quick    a tenth of the resources

Method: the whole AWS pack over 17 regions, each answering every read with one resource (the scenarios under
fixtures/aws/waste) after 50 ms; then 100,000 volumes and snapshots in one region and over 17. Each case runs in a
process of its own, three times; the median is shown. CPU is that of the whole process less what making the answers
took.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from clouds.aws.checks import CHECKS, PACK  # noqa: E402 - the root is put on the path first
from clouds.base import Cloud, Missing  # noqa: E402
from clouds.models import Call, Identity, Scope  # noqa: E402
from clouds.models.waste import Listing, Metric  # noqa: E402
from tools.progress import CallProgress  # noqa: E402
from tools.waste.scan import Wanted, scan  # noqa: E402

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DELAY = 0.05
REGIONS = tuple(f"us-east-{number}" for number in range(1, 18))
RUNS = 3


class Somebody:
    """Who is signed in."""

    def read(self) -> Identity:
        """The identity of every scan here."""
        return Identity(principal="bench", account="123456789012", kind="user", renews="")


class Canned:
    """One resource for every read, after a delay; counts what is asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        for path in sorted((ROOT / "fixtures" / "aws" / "waste").glob("*/*/[0-9]*.json")):
            expected = json.loads((path.parent / "expected.json").read_text("utf-8"))
            fixture = json.loads(path.read_text("utf-8"))
            if expected.get("findings") and fixture.get("status", 200) == 200 and "two_pages" not in path.parent.name:
                self.answers.setdefault(path.stem[3:], fixture["body"])
        self.sent: Counter[str] = Counter()
        self.by_key: Counter[tuple[str, str]] = Counter()
        self.lock = Lock()

    def send(self, call: Call, *, scope: Scope) -> Any:
        """One answer, after the delay."""
        with self.lock:
            self.sent[f"{call} {scope} {json.dumps(dict(call.parameters), sort_keys=True)}"] += 1
            self.by_key[call.service, str(scope)] += 1
        time.sleep(DELAY)
        if call.operation == "DescribeRegions":
            return {"Regions": [{"RegionName": region} for region in REGIONS]}
        if call.operation == "GetMetricData":
            queries = call.parameters["MetricDataQueries"]
            return {
                "MetricDataResults": [{"Id": each["Id"], "Values": [0.0], "StatusCode": "Complete"} for each in queries]
            }
        return self.answers.get(str(call), {})


class Many:
    """So many volumes and snapshots in each region, made before the clock starts."""

    def __init__(self, regions: tuple[str, ...], each: int) -> None:
        self.regions, self.seconds = regions, 0.0
        self.each = each

    def send(self, call: Call, *, scope: Scope) -> Any:
        """One answer; `seconds` adds up what making them took."""
        begun = time.thread_time()
        answer = self._answer(call, scope)
        self.seconds += time.thread_time() - begun
        return answer

    def _answer(self, call: Call, scope: Scope) -> Any:
        half = self.each // 2
        if call.operation == "DescribeRegions":
            return {"Regions": [{"RegionName": region} for region in self.regions]}
        if call.operation == "DescribeVolumes":
            return {"Volumes": [_volume(number, scope) for number in range(half)]}
        if call.operation == "DescribeSnapshots":
            return {"Snapshots": [_snapshot(number, half) for number in range(half)]}
        if call.operation == "GetMetricData":
            queries = call.parameters["MetricDataQueries"]
            return {
                "MetricDataResults": [{"Id": each["Id"], "Values": [9.0], "StatusCode": "Complete"} for each in queries]
            }
        return {}


def _volume(number: int, scope: Scope) -> dict[str, Any]:
    free = number % 50 == 0
    attached = [] if free else [{"InstanceId": f"i-{number:017x}", "Device": "/dev/sdf", "State": "attached"}]
    return {
        "VolumeId": f"vol-{number:017x}", "Size": 100 + number % 900, "VolumeType": "gp3", "Iops": 3000,
        "Throughput": 125, "State": "available" if free else "in-use", "CreateTime": "2026-01-10T08:00:00+00:00",
        "AvailabilityZone": f"{scope.location}a", "Attachments": attached, "Tags": [{"Key": "team", "Value": "search"}],
    }  # fmt: skip


def _snapshot(number: int, volumes: int) -> dict[str, Any]:
    source = number if number % 40 else number + 10 * volumes
    return {
        "SnapshotId": f"snap-{number:017x}", "VolumeId": f"vol-{source:017x}", "VolumeSize": 100, "State": "completed",
        "StartTime": "2026-01-10T08:00:00+00:00", "OwnerId": "123456789012", "StorageTier": "standard",
        "Description": "nightly", "Tags": [],
    }  # fmt: skip


def _cloud(network: Any) -> Cloud:
    return Cloud(
        "aws",
        Somebody(),
        {},
        Missing(""),
        Missing(""),
        Missing("prices are not timed"),
        network,
        waste_pack=lambda: PACK,
    )


def chain() -> int:
    """The longest chain of reads in the pack, one after the other."""
    longest = 0
    for check in CHECKS:
        for read in check.all_reads:
            length, each = 1, read
            while not isinstance(each, Listing):
                each, length = each.of, length + 1
            longest = max(longest, length + (check.kind.tags_read is not None and not isinstance(read, Metric)))
    return longest


def one_speed() -> dict[str, Any]:
    """One scan over 17 regions with 50 ms an answer."""
    network = Canned()
    begun = time.perf_counter()
    found = scan({"aws": _cloud(network)}, Wanted(), (), NOW, CallProgress(), "bench")
    seconds = time.perf_counter() - begun
    requests = sum(network.sent.values())
    limit = max(
        chain() * DELAY,
        max(-(-count // PACK.in_flight) for count in network.by_key.values()) * DELAY,
        requests / 256 * DELAY,
    )
    twice = sum(count > 1 for count in network.sent.values())
    return {
        "seconds": seconds, "limit": limit + DELAY, "requests": requests, "twice": twice,
        "findings": found.totals.findings, "chain": chain(),
    }  # fmt: skip


def one_size(regions: int, total: int) -> dict[str, Any]:
    """One scan of many resources: memory and CPU of our own."""
    network = Many(REGIONS[:regions], total // regions)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    checks = ("ebs-unattached", "ebs-idle-attached", "ebs-gp2-to-gp3", "snapshot-orphan", "ami-unused")
    found = scan({"aws": _cloud(network)}, Wanted(checks=checks), (), NOW, CallProgress(), "bench")
    cpu = time.process_time() - begun - network.seconds
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "regions": regions, "resources": found.coverage.resources, "findings": found.totals.findings,
        "us": cpu / total * 1e6, "mib": peak / 1024, "mib_before": before / 1024,
    }  # fmt: skip


def _child(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--child", *arguments], capture_output=True, text=True, check=True, timeout=300
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _median(runs: list[dict[str, Any]], key: str) -> dict[str, Any]:
    return sorted(runs, key=lambda run: run[key])[len(runs) // 2]


def main(arguments: list[str]) -> int:
    """Run what is asked for and print it."""
    if arguments[:1] == ["--child"]:
        kind, *numbers = arguments[1:]
        print(json.dumps(one_speed() if kind == "speed" else one_size(*map(int, numbers))))
        return 0
    total = 10_000 if "--quick" in arguments else 100_000
    missed = []
    speed = _median([_child("speed") for _ in range(RUNS)], "seconds")
    ratio = speed["seconds"] / speed["limit"]
    print(
        f"{len(CHECKS)} checks, 17 regions, 50 ms an answer: {speed['seconds']:.2f} s for {speed['requests']:,} "
        f"requests ({speed['twice']} sent twice), {speed['findings']:,} findings"
    )
    print(
        f"  longest chain {speed['chain']} reads, the least under the limits {speed['limit']:.2f} s: {ratio:.2f} x "
        "(bar 1.5 x)"
    )
    missed += ["speed"] * (ratio > 1.5) + ["a request sent twice"] * bool(speed["twice"])
    for regions in (1, 17):
        size = _median([_child("size", str(regions), str(total)) for _ in range(RUNS)], "us")
        print(
            f"{size['resources']:,} resources in {regions} region(s): {size['us']:.1f} us of our CPU each (bar 20), "
            f"{size['mib']:.0f} MiB at most (bar 250), {size['findings']:,} findings"
        )
        missed += ["cpu"] * (size["us"] > 20) + ["memory"] * (size["mib"] > 250)
    print("missed: " + ", ".join(missed) if missed else "every bar is met")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
