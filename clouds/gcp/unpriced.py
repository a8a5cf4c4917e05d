"""Why a price key of Google Cloud has no rate somewhere, and what would give it one, in words for a person."""

from __future__ import annotations

from collections.abc import Mapping

from clouds.gcp.prices import parts
from clouds.gcp.skus import SERVING, STORED, WASTED
from clouds.pricetable import UNLISTED, unpriced

_NO_SKU = "no source that could be read names its SKU (2026-11-30), so nothing fetches it"
_VERTEX = "Vertex AI lists machines and GPUs at rates of its own"
UNMETERED: Mapping[str, str] = {
    "alloydb/": _NO_SKU,
    "appengine-flex/": _NO_SKU,
    "bigtable/": _NO_SKU,
    "cloud-run/": "Google lists its seconds by tier of regions; the table has CPU and memory of tier 1",
    "cloudsql-storage/": "cheaper storage of Cloud SQL has SKUs of its own, which were not seen (2026-11-30)",
    "dataflow/": f"vCPUs and memory of its workers are not read; {_NO_SKU}",
    "disk/hyperdisk-": _NO_SKU,
    "disk/pd-extreme": _NO_SKU,
    "filestore/": _NO_SKU,
    "instant-snapshot/": _NO_SKU,
    "interconnect/": _NO_SKU,
    "machine-image/": _NO_SKU,
    "memcache/": _NO_SKU,
    "redis-cluster/": _NO_SKU,
    "snapshot/": _NO_SKU,
    "sole-tenant/": "the node type stands in its template, which is not read, and Google bills it by type",
    "spanner/": f"Google lists it by edition and by the regions of its configuration; {_NO_SKU}",
    "storage-pool/": f"Google lists it by kind and by how its capacity is provisioned; {_NO_SKU}",
    "vertex-agent/": _NO_SKU,
    "vertex-feature-store/": _NO_SKU,
    "vertex-gpu/": f"{_VERTEX}; {_NO_SKU}",
    "vertex/": f"{_VERTEX}; {_NO_SKU}",
    "vpn/": _NO_SKU,
    "workstations/": _NO_SKU,
}
"""What checks count and nothing fetches, by the beginning of its key, with the reason that a person is told."""
FETCHED = frozenset(meter.key for meter in (*SERVING, *STORED, *WASTED))
"""The keys that a refresh asks for. A machine is made of some of them."""


def fetched(key: str) -> bool:
    """Whether a refresh asks for a key, or for all that a machine of it is made of."""
    made = parts(key)
    return key in FETCHED or (bool(made) and all(part in FETCHED for part, _ in made))


def without_rate(key: str) -> str:
    """Why a key has no rate in some place."""
    if words := unpriced(key, fetched=fetched(key), cloud="gcp", whom="Google", reasons=UNMETERED):
        return words
    match key.split("/"):
        case ["gce", kind, market] if "custom" in kind:
            return f"not priced: custom machine types have rates of their own ({market}), which nothing fetches"
        case ["gce" | "tpu" | "gce-gpu", _, market]:
            return f"not priced: no source with a date lists that type {_MARKET.get(market, market)}"
        case ["cloudsql", *_]:
            return "not priced: the table knows Cloud SQL by its vCPUs and memory, without editions and licences"
    return UNLISTED


_MARKET = {"on-demand": "on demand"}
