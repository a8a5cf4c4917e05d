"""Creates and deletes nodes and instances through Google's own packages, google-cloud-tpu and google-cloud-compute.

They are imported at the first such call, and of compute_v1 only what is used here (`trimmed.py`). What they send passes
through `GcpApi`: the same signing, pace, errors and taps; what Google answered is returned as it came, because the
packages drop fields and enum values that they do not know. `.result()` of their operations is never used: the one of
tpu_v2 breaks on an unknown field, the one of compute_v1 polls another address than it was told (facts of 1.28.0 and
1.57.0). What they cannot express (flex-start on the TPU API, a newer field) goes over REST, and so does all of it where
a package is not installed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from threading import RLock, local
from typing import TYPE_CHECKING, Any

from clouds.errors import Unexpected
from clouds.gcp import methods, trimmed
from clouds.models import Scope
from clouds.replay import Request

if TYPE_CHECKING:
    from google.cloud.compute_v1 import InstancesClient
    from google.cloud.tpu_v2 import TpuClient

    from clouds.gcp.api import GcpApi

TIMEOUT = 75
_COMPUTE = "google.cloud.compute_v1"
_TPU = "tpu.projects.locations."
CARRIED = frozenset(
    {
        "compute.instances.insert",
        "compute.instances.delete",
        f"{_TPU}nodes.create",
        f"{_TPU}nodes.delete",
        f"{_TPU}queuedResources.create",
        f"{_TPU}queuedResources.delete",
    }
)
"""What `GcpApi.send` hands over. `nodes.get` can be carried too, and is not by itself: see `Sdk.node`."""
_UNIVERSE = "https://{}.googleapis.com"


@dataclass
class _Heard(local):
    """What was answered on this thread while a package was sending."""

    answers: list[Any] = field(default_factory=list)


class Sdk:
    """The two clients. Safe to share between threads."""

    def __init__(self, api: GcpApi) -> None:
        """Nothing is imported before the first call."""
        self._api = api
        self._lock = RLock()
        self._heard = _Heard()
        self._tpu: TpuClient | None = None
        self._compute: InstancesClient | None = None

    @property
    def tpu(self) -> TpuClient:
        """The real `tpu_v2.TpuClient` over REST. Raises ImportError where google-cloud-tpu is not installed."""
        from google.auth.credentials import AnonymousCredentials
        from google.cloud.tpu_v2 import TpuClient

        with self._lock:
            if self._tpu is None:
                client = TpuClient(credentials=AnonymousCredentials(), transport="rest")  # type: ignore[no-untyped-call]
                self._bridged(client.transport, "tpu")
                self._tpu = client
            return self._tpu

    @property
    def compute(self) -> InstancesClient:
        """The real `compute_v1.InstancesClient`. Raises ImportError where google-cloud-compute is not installed."""
        from google.auth.credentials import AnonymousCredentials

        with self._lock:
            if self._compute is None:
                package = trimmed.module(_COMPUTE, "services.instances")
                client: InstancesClient = package.InstancesClient(credentials=AnonymousCredentials())  # type: ignore[no-untyped-call]
                self._bridged(client.transport, "compute")
                self._compute = client
            return self._compute

    def node(self, name: str) -> Mapping[str, Any]:
        """One TPU node (`projects/P/locations/Z/nodes/N`) as Google describes it, read by `tpu_v2`. Raises NotFound."""
        method = methods.table("tpu")["projects.locations.nodes.get"]
        found: Mapping[str, Any] = self.carry(self._api.request_of(method, {"name": name}, Scope()))
        return found

    def carry(self, request: Request) -> Any:
        """Send one of the calls that the packages know; the answer's body. Raises CloudError."""
        try:
            send = self._prepared(request)
        except (ImportError, _Inexpressible):
            return self._api.rest(request)
        self._heard.answers = []
        try:
            send()
        except Exception as error:
            from clouds.errors import CloudError

            if isinstance(error, CloudError):
                raise
            if not self._heard.answers:
                raise Unexpected(
                    f"{request}", answered=str(error)[:300], code=type(error).__name__,
                    fix="Report this as a bug of modelrig: Google's package did not send the call.", sent=False,
                ) from error  # fmt: skip
            # Google did it, and its package could not read the answer: what it said is what counts
        return self._heard.answers[-1]

    def _prepared(self, request: Request) -> Callable[[], Any]:
        told = dict(request.parameters)
        kind = request.operation.rsplit(".", 2)[-2]
        last = request.operation.rsplit(".", 1)[-1]
        options: dict[str, Any] = {"timeout": TIMEOUT, "retry": None}
        if request.service == "compute":
            words = trimmed.module(_COMPUTE, "types.compute")
            ids = {"request_id": told["requestId"]} if "requestId" in told else {}
            where = {"project": told["project"], "zone": told["zone"], **ids}
            if last == "delete":
                gone = words.DeleteInstanceRequest(instance=told["instance"], **where)
                return lambda: self.compute.delete_unary(request=gone, **options)
            if told.keys() - {"project", "zone", "body", "requestId"}:
                raise _Inexpressible
            made = words.InsertInstanceRequest(instance_resource=_message(words.Instance, told["body"]), **where)
            return lambda: self.compute.insert_unary(request=made, **options)
        from google.cloud import tpu_v2

        queued = kind == "queuedResources"
        ids = {"request_id": told["requestId"]} if "requestId" in told else {}
        match last:
            case "create" if queued:
                body = _message(tpu_v2.QueuedResource, told["body"])
                new = tpu_v2.CreateQueuedResourceRequest(
                    parent=told["parent"], queued_resource_id=told.get("queuedResourceId"), queued_resource=body, **ids
                )
                return lambda: self.tpu.create_queued_resource(request=new, **options)
            case "create":
                node = _message(tpu_v2.Node, told["body"])
                one = tpu_v2.CreateNodeRequest(parent=told["parent"], node_id=told.get("nodeId"), node=node)
                return lambda: self.tpu.create_node(request=one, **options)
            case "delete" if queued:
                force = str(told.get("force", "")).lower() == "true"
                husk = tpu_v2.DeleteQueuedResourceRequest(name=told["name"], force=force, **ids)
                return lambda: self.tpu.delete_queued_resource(request=husk, **options)
            case "delete":
                return lambda: self.tpu.delete_node(request=tpu_v2.DeleteNodeRequest(name=told["name"]), **options)
            case _:
                return lambda: self.tpu.get_node(request=tpu_v2.GetNodeRequest(name=told["name"]), **options)

    def _bridged(self, transport: Any, service: str) -> None:
        """Let everything that this client sends pass through our api."""
        from requests import Response
        from requests.adapters import BaseAdapter

        sdk, api = self, self._api

        class Bridge(BaseAdapter):
            def send(self, request: Any, *_: Any, **__: Any) -> Response:
                body = json.loads(request.body) if request.body else None
                found = methods.recognise(service, str(request.method), str(request.url), body)
                if found is None:
                    raise Unexpected(
                        f"{request.method} {request.url}", answered="Google's package sent something unknown to us",
                        fix="Report this as a bug of modelrig.", sent=False,
                    )  # fmt: skip
                method, filled = found
                marks = {k: str(v) for k, v in request.headers.items() if k.lower().startswith("x-goog-")}
                answer = api.rest(api.request_of(method, filled, Scope()), marks)
                sdk._heard.answers.append(answer)
                made = Response()
                made.status_code, made.request, made.url = 200, request, str(request.url)
                made.headers["Content-Type"] = "application/json"
                made.raw = BytesIO(json.dumps(answer).encode())
                return made

            def close(self) -> None:
                """Nothing: the api's client stays open."""

        transport._session.mount("https://", Bridge())  # noqa: SLF001 - no public way; a test would see it gone


def carries(request: Request) -> bool:
    """Whether Google's packages send this call."""
    return request.name in CARRIED


class _Inexpressible(Exception):
    """The package of this version does not know a field of the call."""


def _message(kind: Any, body: Mapping[str, Any]) -> Any:
    from google.protobuf.json_format import ParseError  # type: ignore[import-untyped]

    try:
        return kind.from_json(json.dumps(body), ignore_unknown_fields=False)
    except ParseError:
        raise _Inexpressible from None
