"""Vector stores, knowledge bases and search indexes that hold capacity while nobody searches."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Unseen, Waste, WasteCheck

COLLECTIONS = Listing("opensearchserverless", "ListCollections", "collectionSummaries")
COLLECTION = Detail(
    COLLECTIONS,
    "opensearchserverless",
    "BatchGetCollection",
    lambda rows, _at: {"ids": [row["id"] for row in rows]},
    rows="collectionDetails",
    batch=100,
    pair=(lambda row: row["id"], lambda row: row["id"]),
    each=True,
)
BASES = Listing("bedrock-agent", "ListKnowledgeBases", "knowledgeBaseSummaries")
BASE = Detail(
    BASES, "bedrock-agent", "GetKnowledgeBase", lambda rows, _at: {"knowledgeBaseId": rows[0]["knowledgeBaseId"]},
    rows="knowledgeBase", each=True,
)  # fmt: skip
VECTORS = Kind(
    name="OpenSearch Serverless collection",
    of=COLLECTION,
    id=lambda row, _at: row["arn"],
    label=lambda row: row["name"],
    created=lambda row: row["createdDate"],
    tags_read=Detail(
        COLLECTION, "opensearchserverless", "ListTagsForResource", lambda rows, _at: {"resourceArn": rows[0]["arn"]},
        rows="tags", late=True,
    ),
    tags_of=words.tag_row,
)  # fmt: skip
SEARCHES = usage(
    "AWS/AOSS",
    "SearchRequestRate IngestionRequestRate",
    COLLECTION,
    by=lambda row: [{"CollectionName": row["name"], "CollectionId": row["id"], "ClientId": row["arn"].split(":")[4]}],
    days=7,
    absent="zero",
    when=lambda row: row["status"] == "ACTIVE",
    unit="requests a minute, summed",
    source="OpenSearch Serverless docs, CloudWatch metrics: rates are emitted when requests come",
)


def _stores(row: Row) -> Iterable[Any]:
    storage = row.get("storageConfiguration") or {}
    for part in storage.values():
        if isinstance(part, dict):
            yield from (part[name] for name in ("collectionArn", "domainArn", "resourceArn") if part.get(name))


def _group(row: Row) -> Iterable[Any]:
    """Collections that share capacity: those of one group, else those of one kind of type and key."""
    shared = "vector" if row.get("type") == "VECTORSEARCH" else "text"
    return [row.get("collectionGroupName") or f"{shared}/{row.get('kmsKeyArn', '')}"]


def _collection(row: Row, seen: Seen) -> Waste | None:
    if row["status"] != "ACTIVE" or row["arn"] in seen.index(BASE, _stores):
        return None
    if seen.metric(SEARCHES, row):
        return None
    sharing = seen.index(COLLECTION, _group)[next(iter(_group(row)))]
    standby = row.get("standbyReplicas", "ENABLED") == "ENABLED"
    # Two half units each for indexing and search, with standby replicas twice that (OpenSearch Serverless pricing page,
    # read 2026-11-29); what several collections share goes only with the last of them.
    units = 2.0 if standby else 1.0
    alone = len(sharing) == 1
    return Waste(
        reason="neither searched nor filled in 7 days, and no knowledge base uses it"
        + ("" if alone else f"; it shares its least capacity with {len(sharing) - 1} more"),
        meters=(Meter("opensearch-serverless/ocu", "unit-hour", units),) if alone else (),
        free=not alone,
        bound="at least",
        evidence={"type": row.get("type", ""), "standby replicas": standby, "sharing capacity": len(sharing)},
        blocked="its deletion protection is on" if row.get("deletionProtection") == "ENABLED" else "",
    )


def _delete_collection(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (
        step(
            "delete",
            f"delete collection {doomed.name} with all it holds",
            "opensearchserverless.DeleteCollection",
            {"id": doomed.row["id"]},
            "cannot be undone",
            until=gone(
                "opensearchserverless.BatchGetCollection", {"ids": [doomed.row["id"]]}, "collectionDetails[].status"
            ),
        ),
    )


COLLECTION_IDLE = WasteCheck(
    id="aoss-idle-collection",
    title="Vector or search collection that nobody searches",
    kind=VECTORS,
    reads=(SEARCHES, BASES, BASE),
    judge=_collection,
    why="OpenSearch Serverless holds a least capacity for every group of collections, searched or not.",
    spares=(
        "a knowledge base stores its vectors in it",
        "searched or filled in 7 days",
        "deletion protection (reported)",
    ),
    unchecked=("clients outside AWS that search less than once a week", "knowledge bases of other accounts"),
    meter="OpenSearch compute unit hours, the least that is held; shared ones go with the last collection",
    category="ai",
    remove=_delete_collection,
    reversal="cannot be undone",
    recovery="The index has to be filled again from its source.",
    order=60,
    steps=("opensearchserverless.DeleteCollection", "opensearchserverless.BatchGetCollection"),
)

SOURCES = Detail(
    BASE, "bedrock-agent", "ListDataSources", lambda rows, _at: {"knowledgeBaseId": rows[0]["knowledgeBaseId"]},
    rows="dataSourceSummaries",
)  # fmt: skip
AGENTS = Listing("bedrock-agent", "ListAgents", "agentSummaries")
AGENT_BASES = Detail(
    AGENTS, "bedrock-agent", "ListAgentKnowledgeBases",
    lambda rows, _at: {"agentId": rows[0]["agentId"], "agentVersion": rows[0].get("latestAgentVersion") or "DRAFT"},
    rows="agentKnowledgeBaseSummaries",
)  # fmt: skip
KNOWLEDGE_BASE = Kind(
    name="Bedrock knowledge base",
    of=BASE,
    id=lambda row, _at: row["knowledgeBaseArn"],
    label=lambda row: row["name"],
    created=lambda row: row["createdAt"],
    tags_read=Detail(
        BASE, "bedrock-agent", "ListTagsForResource", lambda rows, _at: {"resourceArn": rows[0]["knowledgeBaseArn"]},
        rows="tags", late=True,
    ),
)  # fmt: skip
_BASE_ID = words.by("knowledgeBaseId")


def _base_orphan(row: Row, seen: Seen) -> Waste | None:
    if row["status"] != "ACTIVE" or seen.of(SOURCES, row):
        return None
    if row.get("knowledgeBaseConfiguration", {}).get("type") not in ("VECTOR", None):
        return None  # a SQL or Kendra base has no data source of its own
    if row["knowledgeBaseId"] in seen.index(AGENT_BASES, _BASE_ID):
        return None
    stores = ", ".join(str(each) for each in _stores(row)) or row.get("storageConfiguration", {}).get("type", "none")
    return Waste(
        reason="has no data source and no agent uses it; what costs is its vector store",
        free=True,
        evidence={"vector store": stores, "updated": str(row.get("updatedAt", ""))},
    )


def _delete_base(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"knowledgeBaseId": doomed.row["knowledgeBaseId"]}
    return (
        step(
            "delete", f"delete knowledge base {doomed.name}; its vectors stay where they are",
            "bedrock-agent.DeleteKnowledgeBase", name, "can be undone",
            until=gone("bedrock-agent.GetKnowledgeBase", name, "knowledgeBase.status"),
        ),
    )  # fmt: skip


BASE_ORPHAN = WasteCheck(
    id="bedrock-kb-orphan",
    title="Knowledge base without a data source",
    kind=KNOWLEDGE_BASE,
    reads=(SOURCES, AGENTS, AGENT_BASES),
    judge=_base_orphan,
    why="It costs nothing itself and keeps a vector store in use that does.",
    spares=("used by an agent's latest version", "has a data source", "SQL and Kendra bases"),
    unchecked=("applications that retrieve from it without an agent", "documents ingested directly"),
    meter="none: look at its vector store (aoss-idle-collection)",
    category="ai",
    min_age=timedelta(days=7),
    remove=_delete_base,
    reversal="can be undone",
    recovery="It can be made again over the same vectors.",
    order=15,
    steps=("bedrock-agent.DeleteKnowledgeBase", "bedrock-agent.GetKnowledgeBase"),
)

INDEXES = Listing("kendra", "ListIndices", "IndexConfigurationSummaryItems")
INDEX = Kind(
    name="Kendra index",
    of=INDEXES,
    id=lambda row, at: words.arn("kendra", at, f"index/{row['Id']}"),
    label=lambda row: row.get("Name") or row["Id"],
    created=lambda row: row["CreatedAt"],
    tags_read=Detail(
        INDEXES, "kendra", "ListTagsForResource",
        lambda rows, at: {"ResourceARN": words.arn("kendra", at, f"index/{rows[0]['Id']}")}, rows="Tags", late=True,
    ),
    tags_of=words.tag_row,
)  # fmt: skip
QUERIES = usage(
    "AWS/Kendra",
    "IndexQueryCount",
    INDEXES,
    by=lambda row: [{"IndexId": row["Id"]}],
    days=14,
    absent="zero",
    when=lambda row: row["Status"] == "ACTIVE",
    unit="queries",
    source="Kendra docs, CloudWatch metrics: IndexQueryCount is emitted with each query",
)


def _kendra_of(row: Row) -> Iterable[Any]:
    """The Kendra index that a knowledge base reads from."""
    about = row.get("knowledgeBaseConfiguration", {}).get("kendraKnowledgeBaseConfiguration") or {}
    return [about["kendraIndexArn"]] if about.get("kendraIndexArn") else []


def _index_idle(row: Row, seen: Seen) -> Waste | None:
    if row["Status"] != "ACTIVE" or seen.metric(QUERIES, row):
        return None
    try:
        if seen.id(INDEX, row) in seen.index(BASE, _kendra_of):
            return None
        unsure = ""
    except Unseen:  # the scan names it as unread; that nobody queried it is known without
        unsure = "whether a knowledge base reads from it could not be read"
    edition = row.get("Edition", "ENTERPRISE_EDITION").removesuffix("_EDITION").lower().replace("_", "-")
    return Waste(
        reason=f"no query in 14 days ({edition} edition)",
        meters=(Meter(f"kendra/{edition}", "hour"),),
        bound="at least",
        evidence={"edition": edition},
        blocked=unsure,
    )


def _delete_index(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"Id": doomed.row["Id"]}
    return (
        step(
            "delete", f"delete Kendra index {doomed.name} with all it holds", "kendra.DeleteIndex", name,
            "cannot be undone", until=gone("kendra.DescribeIndex", name, "Status", seconds=3600),
        ),
    )  # fmt: skip


INDEX_IDLE = WasteCheck(
    id="kendra-index-idle",
    title="Kendra index that nobody queries",
    kind=INDEX,
    reads=(QUERIES, BASES, BASE),
    judge=_index_idle,
    why="A Kendra index is billed by the hour for its edition, queried or not.",
    spares=("queried in 14 days", "a knowledge base reads from it", "being made or changed"),
    unchecked=(
        "extra capacity units, which cost on top", "a Q Business application that reads from it",
        "passages that are retrieved without a query, where Kendra does not count those",
    ),
    meter="Kendra index hours by edition, without extra units",
    category="ai",
    min_age=timedelta(days=14),
    remove=_delete_index,
    reversal="cannot be undone",
    recovery="The index has to be made and filled again from its sources.",
    order=60,
    steps=("kendra.DeleteIndex", "kendra.DescribeIndex"),
)  # fmt: skip
CHECKS = (COLLECTION_IDLE, INDEX_IDLE, BASE_ORPHAN)
