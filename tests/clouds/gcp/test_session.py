"""Which credential is taken, which project, and how both are renewed; nothing of it is ever shown."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import CredentialExpired, InvalidInput, NotSignedIn, Unreachable
from clouds.gcp import session as sessions
from clouds.gcp.api import GcpApi
from clouds.models import Call, Scope
from tests.clouds.gcp.server import Google

NODES = Call("tpu", "projects.locations.nodes.list")
USER = {
    "type": "authorized_user",
    "client_id": "id.apps.googleusercontent.com",
    "client_secret": "s3cret-of-client",
    "refresh_token": "s3cret-refresh",
    "quota_project_id": "payer",
}


@pytest.fixture
def gcloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of gcloud's settings."""
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    (tmp_path / "configurations").mkdir()
    return tmp_path


def sign_in(folder: Path, info: dict[str, Any] = USER) -> Path:
    path = folder / "application_default_credentials.json"
    path.write_text(json.dumps(info), "utf-8")
    return path


def key() -> str:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    made = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505 - signs for a fake server
    form = serialization.PrivateFormat.PKCS8
    return made.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def test_the_sign_in_of_a_person_is_renewed_and_pays_by_its_quota_project(google: Google, gcloud: Path) -> None:
    sign_in(gcloud)
    google.on("oauth2.googleapis.com", {"access_token": "fresh", "expires_in": 3600})
    google.on(str(NODES), {})
    api = GcpApi(base=google.url)
    api.send(NODES, scope=Scope())
    renewal, call = google.asked
    assert b"grant_type=refresh_token" in renewal.content
    assert call.headers["Authorization"] == "Bearer fresh"
    assert call.headers["x-goog-user-project"] == "payer"
    assert (api.session.source.kind, api.project) == ("authorized_user", "payer")
    api.close()


def test_a_revoked_sign_in_says_what_to_run_and_no_secret(google: Google, gcloud: Path) -> None:
    sign_in(gcloud)
    google.on("oauth2.googleapis.com", (400, {"error": "invalid_grant", "error_description": "Bad Request"}))
    api = GcpApi(base=google.url)
    with pytest.raises(CredentialExpired, match="invalid_grant") as error:
        api.send(NODES, scope=Scope())
    assert error.value.fix.startswith("Run `gcloud auth application-default login`")
    assert "s3cret" not in f"{error.value} {error.value.fix} {api.session!r} {vars(error.value)}"
    assert error.value.__suppress_context__
    api.close()


def test_a_sign_in_made_meanwhile_is_taken(google: Google, gcloud: Path) -> None:
    sign_in(gcloud)
    google.on("oauth2.googleapis.com", lambda asked: {"access_token": _token(asked.content), "expires_in": 3600})
    refused = (401, {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "revoked"}})
    google.on(str(NODES), lambda asked: {} if asked.headers["Authorization"].endswith("new") else refused)
    api = GcpApi(base=google.url)
    assert api.session.source.info["refresh_token"] == "s3cret-refresh"
    sign_in(gcloud, {**USER, "refresh_token": "new", "quota_project_id": "other"})
    api.send(NODES, scope=Scope(account="p"))
    assert [each.headers.get("x-goog-user-project") for each in google.asked if each.name == str(NODES)][-1] == "other"
    api.close()


def test_a_sign_in_made_after_ours_had_ended_is_taken_without_a_restart(google: Google, gcloud: Path) -> None:
    sign_in(gcloud)
    ended = (400, {"error": "invalid_grant", "error_description": "expired or revoked"})
    granted = {"access_token": "new", "expires_in": 3600}
    google.on("oauth2.googleapis.com", lambda asked: granted if b"refresh_token=new" in asked.content else ended)
    google.on(str(NODES), {})
    api = GcpApi(base=google.url)
    with pytest.raises(CredentialExpired):
        api.send(NODES, scope=Scope())
    sign_in(gcloud, {**USER, "refresh_token": "new"})
    assert api.send(NODES, scope=Scope()) == {}
    assert api.fresh_headers()["Authorization"] == "Bearer new"
    api.close()


def test_a_renewal_that_failed_is_not_tried_again_by_everybody_who_waits(google: Google, gcloud: Path) -> None:
    sign_in(gcloud)
    google.on("oauth2.googleapis.com", (400, {"error": "invalid_grant"}))
    api = GcpApi(base=google.url)
    for _ in range(5):
        with pytest.raises(CredentialExpired):
            api.send(NODES, scope=Scope())
    assert google.operations == ["oauth2.googleapis.com"]
    api.session._failed = None
    with pytest.raises(CredentialExpired):
        api.send(NODES, scope=Scope())
    assert len(google.asked) == 2
    api.close()


def _token(content: bytes) -> str:
    return "new" if b"refresh_token=new" in content else "old"


def test_a_service_account_signs_with_its_own_key(
    google: Google, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = {
        "type": "service_account",
        "project_id": "own-project",
        "private_key": key(),
        "client_email": "robot@own-project.iam.gserviceaccount.com",
        "token_uri": "https://oauth2.googleapis.com/token",
    }
    path = tmp_path / "key.json"
    path.write_text(json.dumps(info), "utf-8")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    google.on("oauth2.googleapis.com", {"access_token": "robot", "expires_in": 3600})
    google.on(str(NODES), {})
    api = GcpApi(base=google.url)
    api.send(NODES, scope=Scope())
    assert google.asked[-1].headers["Authorization"] == "Bearer robot"
    assert (api.project, api.session.project_from) == ("own-project", "the key file of the service account")
    assert "PRIVATE KEY" not in repr(api.session)
    api.close()


def test_a_machine_of_googles_signs_with_its_own_account(google: Google, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GCE_METADATA_HOST", "metadata.google.internal")
    monkeypatch.setenv("NO_GCE_CHECK", "true")

    def metadata(asked: Any) -> Any:
        assert asked.headers["Metadata-Flavor"] == "Google"
        if asked.path.endswith("project/project-id"):
            return 200, b"machine-project", {"Metadata-Flavor": "Google"}
        if "/token" in asked.path:
            return 200, {"access_token": "machine", "expires_in": 3600}, {"Metadata-Flavor": "Google"}
        return 200, {"email": "m@x.iam.gserviceaccount.com", "scopes": []}, {"Metadata-Flavor": "Google"}

    google.on("metadata.google.internal", metadata)
    google.on(str(NODES), {})
    api = GcpApi(base=google.url)
    api.send(NODES, scope=Scope())
    assert google.asked[-1].headers["Authorization"] == "Bearer machine"
    assert google.asked[-1].parameters == {"parent": "projects/machine-project/locations/-"}
    api.close()


def test_no_answer_while_renewing_is_unreachable_and_not_expired(gcloud: Path) -> None:
    sign_in(gcloud)
    api = GcpApi(base="http://127.0.0.1:9")
    with pytest.raises(Unreachable) as error:
        api.send(NODES, scope=Scope())
    assert error.value.sent is False
    api.close()


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "is not a credential of Google's"), ("[]", "is not a credential"), ('{"type": "authorized_user"}', "lacks")],
)
def test_a_broken_file_is_not_signed_in(gcloud: Path, text: str, says: str) -> None:
    sign_in(gcloud).write_text(text, "utf-8")
    with pytest.raises(NotSignedIn, match=says):
        sessions.build()


def test_a_file_that_is_named_and_missing_says_which_variable_names_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "nowhere.json"))
    told = GcpApi().signed_out()
    assert told is not None
    assert "GOOGLE_APPLICATION_CREDENTIALS" in told.fix


def test_a_kind_of_credential_that_nobody_knows_is_refused(gcloud: Path) -> None:
    sign_in(gcloud, {"type": "gdch_service_account"})
    with pytest.raises(InvalidInput, match="gdch_service_account"):
        sessions.build()


@pytest.mark.parametrize(
    ("environ", "config", "project", "origin"),
    [
        (
            {"MODELRIG_GCP_PROJECT": "a", "GOOGLE_CLOUD_PROJECT": "b"},
            "",
            "a",
            "MODELRIG_GCP_PROJECT in the environment",
        ),
        ({"GOOGLE_CLOUD_PROJECT": "b"}, "[core]\nproject = c\n", "b", "GOOGLE_CLOUD_PROJECT in the environment"),
        ({}, "[core]\nproject = c\n", "c", "gcloud's active configuration"),
        ({}, "", "payer", "the quota project of the sign-in"),
        ({}, "[core\nbroken", "payer", "the quota project of the sign-in"),
    ],
)
def test_where_the_project_comes_from(
    gcloud: Path, environ: dict[str, str], config: str, project: str, origin: str
) -> None:
    (gcloud / "configurations" / "config_default").write_text(config, "utf-8")
    source = sessions.Source("authorized_user", "gcloud", USER)
    assert sessions.project_of(source, {"CLOUDSDK_CONFIG": str(gcloud), **environ}) == (project, origin)


def test_the_active_configuration_is_the_one_that_gcloud_activated(gcloud: Path) -> None:
    (gcloud / "active_config").write_text("work\n", "utf-8")
    (gcloud / "configurations" / "config_work").write_text(
        "[core]\nproject = w\n[compute]\nzone = us-east5-a\n", "utf-8"
    )
    environ = {"CLOUDSDK_CONFIG": str(gcloud)}
    assert sessions.project_of(sessions.Source("x"), environ)[0] == "w"
    assert sessions.location(environ) == "us-east5-a"
    assert sessions.location({"CLOUDSDK_CONFIG": str(gcloud / "none")}) == "us-central1"


def test_a_machine_says_itself_whether_it_is_googles(tmp_path: Path) -> None:
    product = tmp_path / "product_name"
    product.write_text("Google Compute Engine\n", "ascii")
    assert sessions.on_google({}, product)
    product.write_text("Standard PC\n", "ascii")
    assert not sessions.on_google({}, product)
    assert sessions.on_google({"K_SERVICE": "x"}, product)


def test_a_change_of_what_signs_in_changes_the_stamp(gcloud: Path) -> None:
    environ = {"CLOUDSDK_CONFIG": str(gcloud)}
    before = sessions.stamp(environ)
    sign_in(gcloud)
    after = sessions.stamp(environ)
    assert before != after
    assert sessions.stamp({**environ, "GOOGLE_CLOUD_PROJECT": "x"}) != after
    assert sessions.stamp(environ) == after


def test_a_token_that_is_valid_is_not_renewed(gcloud: Path) -> None:
    sign_in(gcloud)
    session = sessions.build()
    session.credentials.token = "held"
    session.credentials.expiry = (datetime.now(UTC) + timedelta(hours=1)).replace(tzinfo=None)
    assert session.headers(pytest.fail)["Authorization"] == "Bearer held"


@pytest.mark.parametrize(
    "info",
    [
        {
            "type": "impersonated_service_account",
            "service_account_impersonation_url": "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/r@p.iam.gserviceaccount.com:generateAccessToken",
            "source_credentials": {k: v for k, v in USER.items() if k != "quota_project_id"},
        },
        {
            "type": "external_account",
            "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "token_url": "https://sts.googleapis.com/v1/token",
            "credential_source": {"file": "token"},
        },
    ],
)
def test_borrowed_identities_are_understood(gcloud: Path, info: dict[str, Any]) -> None:
    sign_in(gcloud, info)
    assert sessions.build().credentials is not None
