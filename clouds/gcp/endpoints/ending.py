"""The end of what Google does not end by itself: a Cloud Scheduler job that sends the deleting call at one minute.

The TPU API ends flex-start nodes alone, and Cloud Run ends nothing. A cron line names a minute of a year, so a job that
was forgotten would ask again a year later for something that is not there; deleting the endpoint deletes the job.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from clouds.errors import InvalidInput
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import binding
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.preflight import region_of
from clouds.models import Call, Scope

CLOUD = "https://www.googleapis.com/auth/cloud-platform"


def job_parent(project: str, place: str) -> str:
    """Jobs are regional."""
    return f"projects/{project}/locations/{region_of(place)}"


def job(project: str, place: str, name: str, uri: str, labels: Mapping[str, str], end: datetime, account: str) -> Call:
    """The call that makes the job; `account` is the service account that it deletes as."""
    where = job_parent(project, place)
    return Call(
        "cloudscheduler",
        "projects.locations.jobs.create",
        {
            "parent": where,
            "body": {
                "name": f"{where}/jobs/{name}",
                "description": tags.described(labels),
                "schedule": binding.cron(end),
                "timeZone": "Etc/UTC",
                "attemptDeadline": "60s",
                "retryConfig": {"retryCount": 5, "minBackoffDuration": "30s", "maxBackoffDuration": "300s"},
                "httpTarget": {
                    "uri": uri,
                    "httpMethod": "DELETE",
                    "oauthToken": {"serviceAccountEmail": account, "scope": CLOUD},
                },
            },
        },
    )


def moved(project: str, place: str, name: str, end: datetime) -> Call:
    """The call that moves the end of a job."""
    where = job_parent(project, place)
    body = {"schedule": binding.cron(end), "timeZone": "Etc/UTC"}
    asked = {"name": f"{where}/jobs/{name}", "updateMask": "schedule,timeZone", "body": body}
    return Call("cloudscheduler", "projects.locations.jobs.patch", asked)


def default_account(api: GcpApi, project: str) -> str:
    """Compute Engine's default service account, from the project's number. Raises what cannot be read."""
    row = api.send(Call("compute", "projects.get", {"project": project}), scope=Scope(account=project))
    account = str(row.get("defaultServiceAccount", ""))
    if not account:
        raise InvalidInput(
            "end_by", f"{project} has no default service account", fix="Give end_by, a service account that may delete."
        )
    return account
