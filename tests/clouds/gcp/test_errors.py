"""One code for quota, stockout and rate limit: told apart as Google's reasons and words tell them."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.errors import (
    ApiDisabled,
    CloudError,
    Conflict,
    CredentialExpired,
    InvalidInput,
    NoCapacity,
    NotFound,
    NotOffered,
    PermissionMissing,
    QuotaTooSmall,
    Throttled,
    Unexpected,
    Unreachable,
)
from clouds.gcp.errors import elsewhere, of_answer, of_operation, of_status, permission

ZONES = "us-central1-a,us-central1-f"
STOCKOUT = {
    "status": "DONE",
    "httpErrorStatusCode": 503,
    "httpErrorMessage": "SERVICE UNAVAILABLE",
    "error": {
        "errors": [
            {
                "code": "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
                "message": "The zone 'projects/p/zones/z' does not have enough resources available.",
                "errorDetails": [
                    {"help": {"links": [{"url": "https://cloud.google.com/compute/docs/resource-error"}]}},
                    {"localizedMessage": {"locale": "en-US", "message": "A n1 VM instance is currently unavailable"}},
                    {
                        "errorInfo": {
                            "reason": "resource_availability",
                            "domain": "compute.googleapis.com",
                            "metadatas": {"vmType": "n1-standard-4", "zone": "us-central1-b", "zonesAvailable": ZONES},
                        }
                    },
                ],
            }
        ]
    },
}
NO_QUOTA = {
    "status": "DONE",
    "httpErrorStatusCode": 403,
    "error": {
        "errors": [
            {
                "code": "QUOTA_EXCEEDED",
                "message": "Quota 'TPUS_PER_TPU_FAMILY' exceeded.  Limit: 0.0 in region us-east5.",
                "errorDetails": [
                    {
                        "quotaInfo": {
                            "metricName": "compute.googleapis.com/tpus_per_tpu_family",
                            "limitName": "TPUS-PER-TPU-FAMILY-per-project-region",
                            "dimensions": {"region": "us-east5", "tpu_family": "CT6E"},
                            "limit": 0,
                        }
                    }
                ],
            }
        ]
    },
}


def operation(code: int, message: str) -> dict[str, Any]:
    return {"name": "operations/1", "done": True, "error": {"code": code, "message": message}}


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (
            'There is no more capacity in the zone "europe-west4-a"; you can try in another zone [EID: 0xba39]',
            NoCapacity,
        ),
        ("Insufficient reserved capacity in zone us-east5-b [EID: 0x1]", NoCapacity),
        (
            "Quota limit 'TPUV6EPreemptiblePerProjectPerRegionForTPUAPI' has been exceeded. Limit: 0 in region x.",
            QuotaTooSmall,
        ),
        ("Quota 'TPUV5sLitepod' exhausted. Limit 8 in zone us-west4-a", QuotaTooSmall),
        ("Quota exceeded for quota metric 'CreateNode requests' and limit 'CreateNode requests per minute'", Throttled),
        ("The following quota metrics exceed quota limits: aiplatform.googleapis.com/custom_model_tpu", QuotaTooSmall),
        ("Node quota exceeded: the project has a limit of 5 nodes", QuotaTooSmall),
        ("something that nobody has seen before", Throttled),
    ],
)
def test_code_8_is_a_stockout_a_quota_or_a_rate_by_its_words(message: str, kind: type[CloudError]) -> None:
    error = of_operation(operation(8, message), "creating n")
    assert type(error) is kind
    assert error.answered == message


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        (7, "Insufficient regional quota to satisfy request: resource \"V100\": request requires '2.0'", QuotaTooSmall),
        (7, "The caller has no permission to read the quota of this project", PermissionMissing),
        (
            3,
            'FLEX_START provisioning model is not supported for accelerator type "v6e-1" in location "asia-east1-c"',
            NotOffered,
        ),
        (
            3,
            'Cloud TPU received a bad request. The requested zone "asia-northeast1-a" is not supported. [EID: 0x2]',
            NotOffered,
        ),
        (3, "This user agent is not allowed to use the machine type [ct5lp-hightpu-1t].", NotOffered),
        (3, "Invalid value for field nodeId", InvalidInput),
        (5, "Resource not found", NotFound),
        (6, "Resource 'n' already exists", Conflict),
        (7, "Permission 'tpu.nodes.create' denied on 'projects/p'", PermissionMissing),
        (13, "internal error", Unexpected),
    ],
)
def test_the_other_codes_of_an_operation(code: int, message: str, kind: type[CloudError]) -> None:
    assert type(of_operation(operation(code, message), "creating n")) is kind


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Quota exceeded for total allowable count of GPUs per project per region.", QuotaTooSmall),
        ("Revision is not ready: MemAllocPerProjectRegion requested: 85899345920 allowed: 42949672960", QuotaTooSmall),
        ("project exceeded its quota limit for run.googleapis.com/nvidia_l4_gpu_allocation", QuotaTooSmall),
        ("Quota limit 'tpu.googleapis.com/qps/create' has been exceeded", Throttled),
        ("Machine type with name 'ct6e-standard-1t' does not exist in zone 'us-south1-a'.", NotOffered),
    ],
)
def test_failures_that_others_reported_are_told_by_their_words(message: str, kind: type[CloudError]) -> None:
    assert type(of_status({"code": 9, "message": message}, "waiting")) is kind
    assert type(of_answer(400, {"error": {"code": 400, "message": message}}, {}, "asking")) is kind


def test_a_stockout_that_speaks_of_quota_is_a_stockout() -> None:
    inner = {"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": "Quota exceeded: the zone has no resources"}
    assert type(of_operation({"error": {"errors": [inner]}}, "creating")) is NoCapacity


def test_a_stockout_of_compute_engine_names_the_zones_that_have_some() -> None:
    error = of_operation(STOCKOUT, "creating vm1")
    assert type(error) is NoCapacity
    assert error.code == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
    assert elsewhere(error) == ("us-central1-a", "us-central1-f")
    assert error.fix.startswith("Google says that us-central1-a, us-central1-f may have some now")


def test_a_stockout_that_names_no_zone_advises_fewer_chips() -> None:
    error = of_operation({"error": {"errors": [{"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": "m"}]}}, "x")
    assert type(error) is NoCapacity
    assert elsewhere(error) == ()
    assert "ask for fewer chips" in error.fix


def test_a_quota_of_compute_engine_is_named_by_its_limit() -> None:
    error = of_operation(NO_QUOTA, "creating vm1")
    assert type(error) is QuotaTooSmall
    assert "TPUS-PER-TPU-FAMILY-per-project-region" in error.fix


def test_a_finished_operation_without_an_error_is_no_error() -> None:
    assert of_operation({"status": "DONE"}, "x") is None
    assert of_operation({"done": True, "error": {}}, "x") is None


def test_a_failed_queued_resource_is_told_by_the_same_words() -> None:
    status = {"code": 8, "message": 'There is no more capacity in the zone "us-west4-a"'}
    assert type(of_status(status, "waiting for q1")) is NoCapacity


def info(reason: str, **metadata: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "metadata": metadata}


def error(code: int, message: str, *details: dict[str, Any], status: str = "", **more: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details), **more}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (403, error(403, "denied", info("IAM_PERMISSION_DENIED", permission="tpu.nodes.list")), PermissionMissing),
        (403, error(403, "off", info("SERVICE_DISABLED", service="tpu.googleapis.com")), ApiDisabled),
        (403, error(403, "no billing", info("BILLING_DISABLED")), ApiDisabled),
        (403, error(403, "Quota 'CPUS' exceeded.  Limit: 0.0", errors=[{"reason": "quotaExceeded"}]), QuotaTooSmall),
        (403, error(403, "Rate Limit Exceeded", errors=[{"reason": "rateLimitExceeded"}]), Throttled),
        (403, error(403, "x has not been used in project 1 before or it is disabled."), ApiDisabled),
        (403, error(403, "forbidden"), PermissionMissing),
        (
            429,
            error(429, "Quota limit 'A' has been exceeded. Limit: 0 in region r", status="RESOURCE_EXHAUSTED"),
            QuotaTooSmall,
        ),
        (429, error(429, "slow down", info("RATE_LIMIT_EXCEEDED"), status="RESOURCE_EXHAUSTED"), Throttled),
        (
            429,
            error(429, "Quota limit 'A' has been exceeded. Limit: 0", info("RATE_LIMIT_EXCEEDED", quota_limit="A")),
            QuotaTooSmall,
        ),
        (401, error(401, "invalid", status="UNAUTHENTICATED"), CredentialExpired),
        (409, error(409, "exists", errors=[{"reason": "alreadyExists"}]), Conflict),
        (412, error(412, "etag"), Conflict),
        (400, error(400, "bad field"), InvalidInput),
        (404, error(404, "none"), NotFound),
        (500, error(500, "oops"), Unexpected),
        (503, error(503, "busy"), Unreachable),
        (400, {"error": "invalid_grant", "error_description": "Token has been expired or revoked."}, CredentialExpired),
        (502, "<html><b>Server Error</b></html>", Unreachable),
        (418, "teapot", Unexpected),
    ],
)
def test_an_answer_is_told_by_reason_then_words_then_status(status: int, body: Any, kind: type[CloudError]) -> None:
    assert type(of_answer(status, body, {}, "asking")) is kind


def test_the_missing_permission_is_named_wherever_google_says_it() -> None:
    named = of_answer(403, error(403, "no", info("IAM_PERMISSION_DENIED", permission="tpu.nodes.list")), {}, "x")
    worded = of_answer(403, error(403, "Permission 'compute.disks.list' denied on resource"), {}, "x")
    assert (permission(named), permission(worded)) == ("tpu.nodes.list", "compute.disks.list")
    assert "`tpu.nodes.list`" in named.fix
    assert "`compute.disks.list`" in worded.fix
    assert permission(of_answer(403, error(403, "forbidden"), {}, "x")) == ""


def test_a_disabled_api_is_enabled_by_its_own_command() -> None:
    details = info("SERVICE_DISABLED", service="run.googleapis.com", consumer="projects/123")
    told = of_answer(403, error(403, "off", details), {}, "x")
    assert told.fix.startswith("Enable it: `gcloud services enable run.googleapis.com --project 123`")


@pytest.mark.parametrize(
    ("headers", "details", "seconds"),
    [
        ({"Retry-After": "12"}, (), 12.0),
        ({}, ({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "30s"},), 30.0),
        ({"retry-after": "soon"}, (), None),
    ],
)
def test_how_long_to_wait_is_taken_from_header_or_detail(
    headers: dict[str, str], details: tuple[dict[str, Any], ...], seconds: float | None
) -> None:
    assert of_answer(429, error(429, "slow", *details), headers, "x").retry_after == seconds


def test_words_from_outside_are_one_bounded_line() -> None:
    told = of_answer(500, error(500, "line\nline\x1b[31m" + "x" * 900), {}, "x")
    assert len(told.answered) == 600
    assert "\n" not in told.answered
    assert "\x1b" not in told.answered


@pytest.mark.parametrize("strange", [None, [], 7, {"error": None}, {"error": [1]}, {"error": {"errors": [1, "x"]}}])
def test_an_answer_of_no_known_form_is_still_an_error_of_our_tree(strange: Any) -> None:
    assert isinstance(of_answer(500, strange, {}, "x"), CloudError)
