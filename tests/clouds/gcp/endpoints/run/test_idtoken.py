"""The ID token: who made it is said, and it is made again only when it is old."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from clouds.errors import NotSignedIn
from clouds.gcp.endpoints.run import idtoken
from clouds.gcp.endpoints.run.idtoken import Made, Signer
from tests.clouds.gcp.rig import Rig

AUDIENCE = "https://gemma-abc.run.app"


def test_a_service_account_that_was_named_makes_it(rig: Rig) -> None:
    made = idtoken.make(rig.api, AUDIENCE, "sa@demo-project.iam.gserviceaccount.com")
    assert made.token == "a.b.c"
    assert made.how == "the ID token is sa@demo-project.iam.gserviceaccount.com's, by impersonation"
    (sent,) = rig.seam.sent
    assert sent.parameters["body"] == {"audience": AUDIENCE, "includeEmail": True}
    assert "a.b.c" not in repr(made)


def gcloud(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "gcloud"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_gcloud_makes_it_where_nobody_else_can(rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gcloud(tmp_path, 'test "$*" = "auth print-identity-token --quiet" && echo x.y.z', monkeypatch)
    made = idtoken.make(rig.api, AUDIENCE, "")
    assert (made.token, made.how) == ("x.y.z", "the ID token is that of gcloud's sign-in")


def test_what_gcloud_says_of_a_lost_sign_in_is_quoted(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcloud(tmp_path, "echo 'Reauthentication required.' >&2; exit 1", monkeypatch)
    with pytest.raises(NotSignedIn, match="Reauthentication required"):
        idtoken.make(rig.api, AUDIENCE, "")


def test_without_either_the_one_thing_to_do_is_named(rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotSignedIn) as told:
        idtoken.make(rig.api, AUDIENCE, "")
    assert "invoke_as" in told.value.fix


def test_a_token_is_used_until_it_is_old() -> None:
    made, now = [], [0.0]

    def tokens() -> Made:
        made.append(now[0])
        return Made(f"t{len(made)}", "the test's")

    signer = Signer(tokens, lambda: now[0])
    assert signer("POST", AUDIENCE, b"") == {"Authorization": "Bearer t1"}
    now[0] = 2600.0
    assert signer("POST", AUDIENCE, b"") == {"Authorization": "Bearer t1"}
    now[0] = 2800.0
    assert signer("POST", AUDIENCE, b"") == {"Authorization": "Bearer t2"}
    assert signer.how == "the test's"
    assert "t2" not in repr(signer)
