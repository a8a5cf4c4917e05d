"""What making and ending endpoints sends besides reads, for least-privilege roles; a test holds it to what is sent.

Handing a service account to a machine, a service or a job is no call of its own: it needs iam.serviceAccounts.actAs.
"""

from __future__ import annotations

from clouds.models import Call

_RULE = (Call("compute", "firewalls.insert"), Call("compute", "firewalls.delete"))
_JOB = tuple(Call("cloudscheduler", f"projects.locations.jobs.{verb}") for verb in ("create", "patch", "delete"))
_QUEUED = tuple(
    Call(service, f"projects.locations.queuedResources.{verb}")
    for service in ("tpu", "tpu-v2alpha1")
    for verb in ("create", "delete")
)
GCE = (
    *_RULE,
    *(Call("compute", f"instances.{verb}") for verb in ("insert", "delete", "setLabels", "setMetadata")),
)
TPU = (
    *_RULE,
    *_JOB,
    *_QUEUED,
    *(Call("tpu", f"projects.locations.nodes.{verb}") for verb in ("create", "delete", "patch")),
)
RUN = (
    *_JOB,
    *(Call("run", f"projects.locations.services.{verb}") for verb in ("create", "delete", "patch")),
    Call("iamcredentials", "projects.serviceAccounts.generateIdToken"),
)
TUNNEL = "iap.tunnelInstances.accessViaIAP"
"""The permission of the relay (roles/iap.tunnelResourceAccessor)."""
