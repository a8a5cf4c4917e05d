"""What a text has no room for is named by the file that holds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clouds.base import Cloud, Missing
from clouds.errors import CloudError, CredentialExpired, NotSignedIn, Unreachable
from tools.context import Session
from tools.progress import CallProgress
from tools.settings import Settings
from tools.setup import Setup, check_setup

ROOT = Path(__file__).parents[2]


def setup(policy: str) -> Setup:
    return Setup(
        headline="Ready.", version="0", python="3", platform="x", data_directory="d", project="p", clouds=(),
        packages=(), settings=(), order_of_work=(), active_deployments=0, unresolved_steps=0,
        least_policy={"aws": policy},
    )  # fmt: skip


def test_a_policy_that_fits_stands_in_the_text() -> None:
    assert "sts:GetCallerIdentity" in setup("sts:GetCallerIdentity").text()


def test_a_policy_that_does_not_fit_is_named_by_its_file() -> None:
    told = setup("s3:ListAllMyBuckets, " * 500)
    text = told.text()
    assert "more characters" not in text
    file = text.rpartition(" and in ")[2].strip()
    assert file == str(ROOT / "policy" / "aws-scanner.json")
    assert Path(file).is_file()
    assert told.structured()["least_policy"]["aws"].startswith("s3:ListAllMyBuckets, ")


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_every_cloud_that_is_scanned_has_such_a_file(cloud: str) -> None:
    assert (ROOT / "policy" / f"{cloud}-scanner.json").is_file()


class Failing:
    """An identity that cannot be read."""

    def __init__(self, error: CloudError) -> None:
        self.error = error

    def read(self) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "sign_in", "told"),
    [
        (NotSignedIn("asking", fix="Sign in."), True, False),
        (CredentialExpired("asking", fix="Sign in."), True, False),
        (Unreachable("asking", fix="Sign in."), True, None),
        (NotSignedIn("asking", fix="Sign in."), False, None),
    ],
    ids=["nobody", "ended", "no answer", "not asked"],
)
def test_who_was_not_asked_is_not_called_signed_out(
    error: CloudError, sign_in: bool, told: bool | None, tmp_path: Path
) -> None:
    no, identity = Missing("identity alone"), Failing(error)
    cloud: Any = Cloud(name="aws", identity=identity, endpoints={}, quotas=no, capacity=no, prices=no, api=no)  # type: ignore[arg-type]
    session = Session(Settings.load({}, tmp_path), tmp_path, ("aws",), lambda _name, _home: cloud)
    found = check_setup(session.clouds, session.settings, session.book, CallProgress(None), sign_in=sign_in)
    session.book.close()
    assert found.clouds[0].signed_in is told
    assert "| aws | no |" not in found.text() or told is False


@pytest.mark.parametrize(
    ("sign_in", "told"),
    [(True, "mend what is named under problem."), (False, "check_setup without sign_in=false says who is signed in")],
)
def test_what_is_next_follows_from_what_was_asked(sign_in: bool, told: str, tmp_path: Path) -> None:
    no, identity = Missing("identity alone"), Failing(NotSignedIn("asking", fix="Sign in."))
    cloud: Any = Cloud(name="aws", identity=identity, endpoints={}, quotas=no, capacity=no, prices=no, api=no)  # type: ignore[arg-type]
    session = Session(Settings.load({}, tmp_path), tmp_path, ("aws",), lambda _name, _home: cloud)
    found = check_setup(session.clouds, session.settings, session.book, CallProgress(None), sign_in=sign_in)
    session.book.close()
    assert found.next.startswith(told)
    assert {"delete_endpoint", "explain_finding", "apply_cleanup"} <= set(found.order_of_work)


def test_a_set_of_packages_that_is_not_there_has_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = {
        "report": {"state": "absent", "detail": "resvg_py not found", "fix": "In x run `y`"},
        "aws": {"state": "installing", "detail": "half", "fix": "Repeat the call."},
        "core": {"state": "installed", "detail": ""},
    }
    monkeypatch.setattr("tools.setup.environment.status", lambda: states)
    session = Session(Settings.load({}, tmp_path), tmp_path, (), lambda *_: None)  # type: ignore[arg-type,return-value]
    found = check_setup(session.clouds, session.settings, session.book, CallProgress(None), sign_in=False)
    session.book.close()
    assert [each.detail for each in found.packages] == ["resvg_py not found. In x run `y`", "half", ""]
