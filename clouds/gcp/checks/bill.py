"""What the bill shows by service, and which of its services the checks look at.

Google has no API that says what was spent: the bill is a table of BigQuery, where a billing account exports it to.
Which table that is must be named (`MODELRIG_GCP_BILLING_EXPORT=project.dataset.gcp_billing_export_v1_...`); one query
sums up thirty days by service, with credits taken off. BigQuery bills the bytes that it reads, 10 MiB at least; such a
table of a month is some hundred MiB, below the free TiB of a month (not tried live, 2026-11-29).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from clouds.errors import InvalidInput, Unexpected
from clouds.models import Call, Scope
from clouds.models.waste import Charge
from clouds.models.waste_pack import Bill

DAYS = 30
TABLE = "MODELRIG_GCP_BILLING_EXPORT"
CHARGE = Charge(
    0.0, "query below BigQuery's free TiB of a month", "2026-11-29", "BigQuery bills the bytes that are read"
)
_NAME = re.compile(r"(?P<project>[a-z][a-z0-9.:-]{4,60}[a-z0-9])\.(?P<dataset>\w{1,200})\.(?P<table>[\w-]{1,200})")
_MACHINES = ("vm", "gpu-vm", "tpu-vm", "group", "reservation", "future-reservation", "commitment", "node-group", "disk",
             "snapshot", "image", "machine-image", "instant-snapshot", "storage-pool", "tpu")  # fmt: skip
COVERED: Mapping[str, tuple[str, ...]] = {
    "Compute Engine": _MACHINES,
    "Cloud TPU": ("tpu",),
    "Vertex AI": ("vertex", "colab"),
    "Notebooks": ("workbench",),
    "Cloud Run": ("run",),
    "Kubernetes Engine": ("gke",),
    "App Engine": ("appengine",),
    "Networking": ("ip", "lb", "nat", "vpn", "interconnect", "vpc-connector", "firewall"),
    "Cloud SQL": ("sql",),
    "AlloyDB": ("alloydb",),
    "Cloud Spanner": ("spanner",),
    "Cloud Bigtable": ("bigtable",),
    "Cloud Memorystore for Redis": ("redis", "redis-cluster"),
    "Cloud Memorystore for Memcached": ("memcache",),
    "Cloud Filestore": ("filestore",),
    "Cloud Dataproc": ("dataproc",),
    "Cloud Dataflow": ("dataflow",),
    "Cloud Workstations": ("workstation",),
    "Cloud Storage": ("bucket",),
    "Cloud Logging": ("log",),
    "Artifact Registry": ("registry",),
    "Secret Manager": ("secret",),
    "Cloud Key Management Service (KMS)": ("kms",),
    "Cloud Pub/Sub": ("pubsub",),
    "Cloud DNS": ("dns",),
}


def ask(now: datetime, _scope: Scope) -> Call:
    """Thirty whole days until yesterday, by service. Raises InvalidInput where no table is named."""
    named = os.environ.get(TABLE, "")
    found = _NAME.fullmatch(named)
    if found is None:
        problem = f"{named[:60]!r} is no table of BigQuery" if named else "no billing export is named"
        raise InvalidInput(TABLE, problem, fix=f"Set {TABLE}=project.dataset.table, where the bill is exported to.")
    end = now.date()
    # BigQuery takes no parameter for a table: its name was matched above
    query = " ".join(
        (
            "SELECT service.description AS service, currency, SUM(cost)",
            "+ SUM(IFNULL((SELECT SUM(credit.amount) FROM UNNEST(credits) AS credit), 0)) AS amount",
            f"FROM `{named}`",
            f"WHERE usage_start_time >= TIMESTAMP('{end - timedelta(days=DAYS)}')",
            f"AND usage_start_time < TIMESTAMP('{end}')",
            "GROUP BY service, currency ORDER BY amount DESC",
        )
    )
    body = {"query": query, "useLegacySql": False, "timeoutMs": 60000, "maxResults": 1000}
    return Call("bigquery", "jobs.query", {"projectId": found["project"], "body": body})


def lines(answer: Any) -> Mapping[str, float]:
    """US dollars by service; amounts in another currency are left out rather than added up. Raises Unexpected."""
    if not answer.get("jobComplete"):
        raise Unexpected(
            "reading the billing export", answered="the query is not done after a minute", fix="Ask again."
        )
    found: dict[str, float] = {}
    for row in answer.get("rows") or ():
        service, currency, amount = (cell.get("v") for cell in row["f"])
        if currency == "USD" and amount is not None:
            found[str(service)] = round(found.get(str(service), 0.0) + float(amount), 6)
    return found


BILL = Bill(ask=ask, charge=CHARGE, lines=lines, days=DAYS, covered=COVERED, permission="bigquery.jobs.create")
