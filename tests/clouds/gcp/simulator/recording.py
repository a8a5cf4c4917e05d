"""Writes `fixtures/gcp/account`: one project with an endpoint and with waste, as `--replay fixtures` shows it.

    .venv/bin/python -m tests.clouds.gcp.simulator.recording

Gemma 4 E2B is deployed on one flex-start v6e of us-east5-a by the real service against the simulator. Beside it stands
what the first scenario of every waste check holds. Then everything is read that the tools read. What depends on the
hour of reading is any value in the fixtures.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date, timedelta
from http.server import HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from clouds.base import Cloud, Missing
from clouds.errors import CloudError
from clouds.gcp import pages
from clouds.gcp.api import GcpApi
from clouds.gcp.capacity import GcpCapacity
from clouds.gcp.checks import PACK
from clouds.gcp.session import RECORDED, Session, Source
from clouds.models import DeploymentSpec, EndpointRef, Scope
from clouds.record import Recorder
from clouds.replay import Answer, Request
from tests.clouds.gcp import rig as rigs
from tests.clouds.gcp.endpoints.conftest import Engine
from tests.clouds.gcp.simulator import NAME, OPERATIONS, Seam
from tools.progress import CallProgress
from tools.waste.scan import Wanted, scan

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures" / "gcp"
HERE = FIXTURES / "account" / "a_v6e_serves_gemma"
ON = date(2026, 11, 29)
SERIES = "monitoring.projects.timeSeries.list"
WASTE_PROJECT = "shop-prod"
_TIMES = frozenset(
    {"interval.startTime", "interval.endTime", "startTime", "endTime", "start", "filter.time", "body.now"}
)
_LIMITS = {"TPUS-PER-TPU-FAMILY-per-project-region": 8, "PREEMPTIBLE-TPU-V6E-per-project-region": 64,
           "NvidiaL4GpuAllocNoZonalRedundancyPerProjectRegion": 3, "NvidiaL4GpuAllocPerProjectRegion": 0,
           "MemAllocPerProjectRegion": 40, "CpuAllocPerProjectRegion": 20}  # fmt: skip
_SHARED = frozenset({"compute.regions.list"})
"""What the simulator alone answers: a second list would say everything twice."""
_LISTED = {
    "us-east5-a": ("ct6e-standard-1t", "ct6e-standard-4t"), "us-east5-b": ("ct6e-standard-1t", "ct6e-standard-4t"),
    "europe-west4-a": ("ct6e-standard-1t", "ct6e-standard-4t", "ct6e-standard-8t", "ct5lp-hightpu-1t"),
    "us-west4-a": ("ct5lp-hightpu-1t", "g2-standard-4"), "us-central1-a": ("g2-standard-4", "g2-standard-8"),
    "us-central1-b": ("g2-standard-4", "g2-standard-8", "ct6e-standard-1t"),
}  # fmt: skip
"""Which zones list which machine; us-central1-b has the hardware and was seen to refuse flex-start."""
_IMAGES = ("docker.io/vllm/vllm-tpu:v0.30.0", "docker.io/vllm/vllm-openai:v0.30.0")
_SAME_NAMES = ("web", "data", "gemma", "shop", "front", "orders", "shop-models", "dev", "71", "31", "11", "5512", "771")


class Waste:
    """The first scenario of every check, side by side in one project: a name that two of them use is told apart."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.series: dict[str, list[Any]] = {}
        for number, path in enumerate(sorted((FIXTURES / "waste").glob("*.scenarios"))):
            if path.name.startswith("own-"):
                continue  # endpoints of ours; the account has one of its own
            text = json.dumps(next(iter(json.loads(path.read_text("utf-8"))["scenarios"].values())))
            for name in _SAME_NAMES:
                other = f"{name}{number:02}" if name.isdigit() else f"{name}-{path.stem.rsplit('-', 1)[-1]}"
                text = re.sub(rf"(?<![\w.-]){name}(?![\w.-])", other, text)
            one = json.loads(text.replace(WASTE_PROJECT, RECORDED))
            for operation, body in one["answers"].items():
                self.answers[operation] = pages.joined(dict(self.answers.get(operation, {})), body)
            for kind, rows in one.get("metrics", {}).items():
                self.series.setdefault(kind, []).extend(rows)

    def answer(self, request: Request) -> Any:
        """What stands there; what is asked of one place or parent is answered with what is in it."""
        if request.name == "compute.machineTypes.aggregatedList":
            return _machine_types(str(request.parameters.get("filter", "")))
        if request.name == "compute.advice.capacity":
            return _score(request.parameters)
        if request.name == SERIES and "aggregation.groupByFields" in request.parameters:
            return self._usage(request)
        whole = self.answers.get(request.name)
        if whole is None:
            return None
        return {
            key: list(_inside(request, value)) if isinstance(value, list) else value for key, value in whole.items()
        }

    def _usage(self, request: Request) -> Any:
        kind, resource = (request.parameters["filter"].split('"')[place] for place in (1, 3))
        grouped = {word.removeprefix("resource.label.") for word in request.parameters["aggregation.groupByFields"]}
        return {
            "timeSeries": [
                {
                    "metric": {"type": kind}, "resource": {"type": resource, "labels": labels}, "metricKind": "GAUGE",
                    "points": [{"interval": {"endTime": "2026-11-29T12:00:00Z"}, "value": {"doubleValue": value}}],
                }
                for labels, value in self.series.get(kind, ())
                if set(labels) == grouped
            ]
        }  # fmt: skip


def _machine_types(wanted: str) -> Any:
    """The zones that list a type, as a filter of one name or of several asks for it."""
    return {
        "items": {
            f"zones/{zone}": {"machineTypes": [{"name": kind, "zone": zone} for kind in kinds if f'"{kind}"' in wanted]}
            for zone, kinds in _LISTED.items()
        }
    }


def _score(asked: Mapping[str, Any]) -> Any:
    """Spot machines are likely where the first zone of the question is."""
    zone = asked["body"]["distributionPolicy"]["zones"][0]["zone"]
    (choice,) = asked["body"]["instanceFlexibilityPolicy"]["instanceSelections"].values()
    kind = choice["machineTypes"][0]
    shard = {"zone": zone, "machineType": kind, "instanceCount": 1, "provisioningModel": "SPOT"}
    scores = {"obtainability": 0.8, "estimatedUptime": "36000s"}
    return {"recommendations": [{"scores": scores, "shards": [shard]}]}


def _inside(request: Request, rows: list[Any]) -> Iterator[Any]:
    """The rows of a list that are where the question is about; places are listed once each."""
    parent = str(request.parameters.get("parent", ""))
    seen = set()
    for row in rows:
        name = str(row.get("name", "")) if isinstance(row, Mapping) else ""
        if request.operation.endswith("locations.list"):
            if name in seen:
                continue
            seen.add(name)
        elif parent and "/-" not in parent and name.startswith("projects/") and not name.startswith(f"{parent}/"):
            continue
        yield row


class Asked:
    """A tap that answers from the simulator and from what stands beside it, and records each different question."""

    def __init__(self, seam: Seam, waste: Waste, recorder: Recorder) -> None:
        self._seam, self._waste, self._recorder = seam, waste, recorder
        self._seen = set[str]()

    def before(self, request: Request) -> Answer:
        beside = self._waste.answer(request)
        simulated = OPERATIONS.get(request.name)
        if simulated is None and beside is None:
            answer = Answer(200, {})
        elif simulated is None:
            answer = Answer(200, beside)
        else:
            answer = self._seam.before(_renamed(request))
            if request.operation.endswith("acceleratorTypes.list") and request.location == "-":
                answer = Answer(200, {"acceleratorTypes": list(self._everywhere(request))})
            if answer.status == 200 and isinstance(answer.body, dict):
                body = json.loads(json.dumps(answer.body).replace(NAME, RECORDED))
                if beside is not None and request.name not in _SHARED:
                    body = _once(pages.joined(body, beside), request)
                answer = Answer(200, body)
        asked = replace(request, parameters=_timeless(request.parameters))
        mark = f"{asked} {json.dumps(asked.parameters, sort_keys=True, default=str)}"
        if mark not in self._seen:
            self._seen.add(mark)
            self._recorder.after(asked, answer)
        return answer

    def _everywhere(self, request: Request) -> Iterator[Any]:
        """The simulator lists the types of one zone."""
        for zone in sorted({key.rsplit("@", 1)[1] for key in rigs.usual().capacity}):
            parent = f"projects/{NAME}/locations/{zone}"
            yield from self._seam.before(replace(request, parameters={"parent": parent})).body["acceleratorTypes"]

    def after(self, request: Request, answer: Answer) -> None:
        raise AssertionError(f"{request} reached the network")


def _renamed(request: Request) -> Request:
    return replace(request, parameters=json.loads(json.dumps(request.parameters).replace(RECORDED, NAME)))


def _once(body: dict[str, Any], request: Request) -> dict[str, Any]:
    return {key: list(_inside(request, value)) if isinstance(value, list) else value for key, value in body.items()}


def _timeless(value: Any, key: str = "") -> Any:
    if key in _TIMES or (isinstance(value, str) and re.match(r"20\d\d-\d\d-\d\dT\d\d:", value)):
        return "*"
    if isinstance(value, Mapping):
        return {name: _timeless(item, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_timeless(item) for item in value]
    return value


@contextmanager
def engine() -> Iterator[int]:
    """An engine on loopback, so that the endpoint is ready: one token came through."""
    server = HTTPServer(("127.0.0.1", 0), Engine)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join(5)


def record(directory: Path) -> None:
    """Write the whole scenario anew."""
    shutil.rmtree(directory, ignore_errors=True)
    with TemporaryDirectory() as home, engine() as port:
        project = rigs.usual()
        for name, limit in _LIMITS.items():
            for region in ("us-west4", "us-east5", "us-central1", "europe-west4"):
                project.limits[f"{name}@{region}"] = limit
        rig = rigs.rig(Path(home), project, engine_port=port)
        try:
            rig.deploy(name="gemma-4-e2b", settings={"market": "flex-start"}, ttl_hours=168)
            project.clock.sleep(600)
            recorder = Recorder(directory, source="the simulated project of tests/clouds/gcp/simulator", on=ON)
            session = Session(Source("recorded"), RECORDED, "the recording", "us-central1")
            tap = Asked(rig.seam, Waste(), recorder)
            api = GcpApi(build=lambda: session, taps=(tap,), attempts=1, sleep=rig.seam.wait)
            read(api, rig, Path(home))
            for image in _IMAGES:
                asked = Request("registry", "manifests.get", parameters={"image": image})
                recorder.after(asked, Answer(200, {"digest": rigs.DIGEST}))
        finally:
            rig.book.close()
    (directory / "expected.json").write_text(json.dumps({"held_by": "tests/clouds/gcp/test_replay.py"}) + "\n", "utf-8")
    origin = directory / "origin.json"
    origin.write_text(origin.read_text("utf-8").replace('"recorded"', '"emulator"'), "utf-8")


def read(api: GcpApi, rig: rigs.Rig, home: Path) -> None:
    """What the tools ask: who, which endpoints, one of them, its log, quotas, capacity, plans, and a whole scan."""
    from clouds.gcp.endpoints.gce import Gce
    from clouds.gcp.endpoints.run import CloudRun
    from clouds.gcp.endpoints.tpu import Tpu
    from clouds.gcp.identity import GcpIdentity
    from clouds.gcp.prices import GcpPrices
    from clouds.gcp.quotas import GcpQuotas

    identity, quotas, prices = GcpIdentity(api), GcpQuotas(api, now=rig.project.now), GcpPrices(None, home)
    capacity = GcpCapacity(api, home, prices, now=rig.project.now)
    identity.read()
    common: dict[str, Any] = {
        "now": rig.project.now, "pause": rig.project.clock.sleep, "digest": lambda _: rigs.DIGEST,
    }  # fmt: skip
    ports = (api, identity, quotas, prices)
    services = {"gce": Gce(*ports, **common), "tpu": Tpu(*ports, **common), "run": CloudRun(*ports, **common)}
    for service in services.values():
        for endpoint in service.list(scope=Scope()).found:
            service.get(EndpointRef.parse(endpoint.ref))
            service.logs(EndpointRef.parse(endpoint.ref), since=timedelta(hours=1), limit=200)
    everywhere = (Scope(),)
    for accelerator in ("v5e", "v6e", "v5p", "L4"):
        quotas.read(accelerator, (), everywhere)
        capacity.read(accelerator, (), everywhere)
    for name, places in _PLANS.items():
        for place, changes in places:
            for called in ("gemma-4-e2b", "gemma-4-e2b-it"):
                spec = DeploymentSpec(
                    cloud="gcp", service=name, name=called, model="google/gemma-4-E2B-it", location=place,
                    max_usd_per_hour=4.0, **changes,
                )  # fmt: skip
                with suppress(CloudError):  # a name that is taken; everything was asked before it is said
                    services[name].plan(spec)
    cloud = Cloud("gcp", identity, {}, Missing(""), Missing(""), prices, api, waste_pack=lambda: PACK)
    scan({"gcp": cloud}, Wanted(), (), rig.project.now(), CallProgress(), "scan")


_PLANS: Mapping[str, tuple[tuple[str, Mapping[str, Any]], ...]] = {
    "tpu": (("us-west4-a", {}), ("us-west4-a", {"settings": {"market": "flex-start"}})),
    "gce": (
        ("us-east5-a", {}), ("us-east5-b", {}),
        ("us-east5-a", {"settings": {"market": "flex-start"}, "instance_types": ("ct6e-standard-1t",)}),
        ("us-central1-a", {"accelerator": "L4"}),
    ),
    "run": (("us-central1", {}), ("us-east5", {})),
}  # fmt: skip


if __name__ == "__main__":
    record(HERE)
