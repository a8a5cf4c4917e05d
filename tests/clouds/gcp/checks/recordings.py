"""Answers that Cloud Custodian's tests recorded, as the network of a scan.

Their files are named by verb and path with `-` for `/`. A path says no host, so that each folder says here whose API it
was recorded from. Where they asked another version of an API than we do, its answer is taken: the fields that we read
have the same names in both. A list of locations that they did not record is made of the places that they asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clouds.errors import CloudError
from clouds.gcp import methods
from clouds.models import Call
from clouds.replay import Answer, Request
from tests.clouds.gcp.checks.stage import ROOT

RECORDINGS = ROOT.parent / "shared" / "recordings" / "cloud-custodian" / "gcp"
PROJECT = "cloud-custodian"
APIS: Mapping[str, str] = {
    "artifactregistry-repositories-query": "artifactregistry", "dns-managed-zone-query": "dns-v1",
    "gke-cluster-nodepool-query": "container", "image-query": "compute", "instance-terminate": "compute",
    "kms-cryptokey-version-query": "cloudkms", "lb-addresses-delete": "compute", "lb-backend-buckets-delete": "compute",
    "lb-forwarding-rules-query": "compute", "lb-global-forwarding-rules-query": "compute",
    "pubsub-subscription-query": "pubsub", "redis-cluster-query": "redis", "region-commitment-query": "compute",
    "snapshot-query": "compute", "sql-backup-run-delete": "sqladmin", "test_notebook_instance_list_query": "notebooks",
    "vertexai-endpoint-delete": "aiplatform", "vertexai-endpoint-monitor": "aiplatform",
    "vertexai-model-filtering": "aiplatform",
}  # fmt: skip
_OTHER = {"v1-": ("sql-v1beta4-",), "dns-v1-": ("dns-v1beta2-",), "v2-": ("v1-",)}
"""How a path begins with us -> how it may begin with them."""


class NotRecorded(CloudError):
    """They did not ask this."""


class Recording:
    """A tap that answers from one folder; every request without an answer is an error."""

    def __init__(self, name: str) -> None:
        self.api = APIS[name]
        self.files = {path.name: path for path in sorted((RECORDINGS / name).iterdir())}

    def holds(self, call: Call) -> bool:
        """Whether a request of that sort was recorded, in any place."""
        if call.service != self.api:
            return False
        path = re.sub(r"\{\+?\w+\}", "\0", methods.method(call).path).replace("/", "-")
        patterns = [re.escape(name).replace("\0", ".+").replace("\\\0", ".+") for name in _names(path)]
        return any(re.fullmatch(rf"get-{each}_\d+\.json", name) for each in patterns for name in self.files)

    def before(self, request: Request) -> Answer:
        """The first answer that they recorded to it."""
        if request.name == "cloudresourcemanager.projects.search":
            return Answer(200, {"projects": [{"name": "projects/1", "projectId": PROJECT, "state": "ACTIVE"}]})
        if request.service == self.api:
            method = methods.table(request.service)[request.operation]
            path = method.url(request.parameters).split("://", 1)[1].partition("/")[2].replace("/", "-")
            for name in _names(path):
                if f"{method.verb.lower()}-{name}_1.json" in self.files:
                    return _answer(self.files[f"{method.verb.lower()}-{name}_1.json"])
            if request.operation == "projects.locations.list":
                return Answer(200, {"locations": [{"locationId": each} for each in self.places()]})
        raise NotRecorded(f"{request}", answered="it was not recorded", fix="Nothing: it is unread.", sent=False)

    def after(self, request: Request, answer: Answer) -> None:
        """Nothing: there is no network."""

    def places(self) -> list[str]:
        """The locations in the names of the files."""
        return sorted({found[1] for name in self.files if (found := re.search(r"locations-([a-z]+-[a-z]+\d)-", name))})


def _names(path: str) -> list[str]:
    """A path as we ask it, and as they may have asked it."""
    others = [
        each + path.removeprefix(ours) for ours, theirs in _OTHER.items() if path.startswith(ours) for each in theirs
    ]
    return list(dict.fromkeys([path, *others]))


def _answer(path: Path) -> Answer:
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    status = int(content.get("headers", {}).get("status") or 200)
    return Answer(status, content["body"])
