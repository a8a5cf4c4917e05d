"""Who is signed in, where, by what, and what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.errors import CredentialExpired
from clouds.gcp.identity import GcpIdentity
from clouds.gcp.session import Session, Source
from tests.clouds.gcp.recorded import Recorded
from tests.clouds.gcp.server import FakeCredentials, Google

PERSON, PROJECT, BILLING = (
    "oauth2.userinfo.get",
    "cloudresourcemanager.projects.get",
    "cloudbilling.projects.getBillingInfo",
)
DENIED = (
    403,
    {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "The caller does not have permission"}},
)


def reader(google: Google, source: Source, project: str = "p1") -> GcpIdentity:
    api = google.api(project=project)
    session = Session(source, project, "GOOGLE_CLOUD_PROJECT in the environment", "us-east5-a", FakeCredentials())
    api._build = lambda: session
    return GcpIdentity(api)


def answers(google: Google, **other: Any) -> None:
    google.on(PERSON, other.get("person", {"email": "person@example.com"}))
    google.on(PROJECT, other.get("project", {"name": "projects/12", "displayName": "One", "state": "ACTIVE"}))
    google.on(BILLING, other.get("billing", {"billingEnabled": True}))


def test_from_recordings() -> None:
    recorded = Recorded("identity/caller/a_person_in_a_project")
    recorded.check(GcpIdentity(recorded.api).read())


def test_an_ended_sign_in_from_recordings() -> None:
    recorded = Recorded("identity/caller/a_sign_in_that_ended")
    with pytest.raises(CredentialExpired) as error:
        GcpIdentity(recorded.api).read()
    recorded.check_error(error.value)


def test_a_person(google: Google) -> None:
    answers(google)
    read = reader(
        google, Source("authorized_user", "gcloud", {"refresh_token": "s3cret", "quota_project_id": "q"})
    ).read()
    assert read.model_dump() == {
        "principal": "person@example.com",
        "account": "p1",
        "kind": "sign-in of `gcloud auth application-default login`",
        "renews": "renews itself until it is revoked or the organisation asks for a new sign-in",
        "location": "us-east5-a",
        "details": {
            "credential source": "gcloud",
            "quota project": "q",
            "project from": "GOOGLE_CLOUD_PROJECT in the environment",
            "project": "p1 (One), number 12",
        },
    }


@pytest.mark.parametrize(
    ("source", "principal", "kind"),
    [
        (
            Source(
                "service_account", "GOOGLE_APPLICATION_CREDENTIALS", {"client_email": "r@p.iam.gserviceaccount.com"}
            ),
            "r@p.iam.gserviceaccount.com",
            "key of a service account",
        ),
        (
            Source(
                "impersonated_service_account",
                "gcloud",
                {
                    "service_account_impersonation_url": "https://x/v1/projects/-/serviceAccounts/r@p:generateAccessToken"
                },
            ),
            "r@p",
            "service account by impersonation",
        ),
        (
            Source("external_account", "gcloud", {"audience": "//iam.googleapis.com/projects/1/pool"}),
            "federated identity of //iam.googleapis.com/projects/1/pool",
            "workload identity federation",
        ),
    ],
)
def test_identities_that_their_file_names(google: Google, source: Source, principal: str, kind: str) -> None:
    answers(google)
    read = reader(google, source).read()
    assert (read.principal, read.kind) == (principal, kind)
    assert PERSON not in google.operations


def test_the_account_of_this_machine(google: Google) -> None:
    answers(google)
    google.on("metadata.google.internal", lambda _: (200, b"m@p.iam.gserviceaccount.com"))
    read = reader(google, Source("metadata")).read()
    assert (read.principal, read.renews) == ("m@p.iam.gserviceaccount.com", "renews itself")


def test_what_may_not_be_read_is_said_and_stops_nothing(google: Google) -> None:
    answers(google, person=DENIED, project=DENIED, billing=DENIED)
    read = reader(google, Source("authorized_user", "gcloud")).read()
    assert read.principal == "a person whose sign-in does not tell the address"
    assert read.details["project"] == "p1 could not be read: The caller does not have permission"


@pytest.mark.parametrize(
    ("other", "warning"),
    [
        ({"billing": {"billingEnabled": False}}, "p1 has no billing account: most APIs refuse it"),
        (
            {"project": {"name": "projects/12", "state": "DELETE_REQUESTED"}},
            "the project's state is DELETE_REQUESTED: nothing can be made in it",
        ),
    ],
)
def test_a_project_in_which_nothing_works_is_warned_of(google: Google, other: dict[str, Any], warning: str) -> None:
    answers(google, **other)
    assert reader(google, Source("authorized_user", "gcloud")).read().details["warning"] == warning


def test_without_a_project_the_person_is_known_all_the_same(google: Google) -> None:
    answers(google)
    read = reader(google, Source("authorized_user", "gcloud"), project="").read()
    assert (read.principal, read.account) == ("person@example.com", "")
    assert read.details["warning"].startswith("Run `gcloud config set project PROJECT`")
    assert google.operations == [PERSON]


def test_a_credential_that_ended_is_an_error_and_no_identity(google: Google) -> None:
    answers(google, person=(401, {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "expired"}}))
    with pytest.raises(CredentialExpired):
        reader(google, Source("authorized_user", "gcloud")).read()
