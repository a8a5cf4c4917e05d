"""What a client may name as a bare URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from clouds.local import connect
from tools.context import Session
from tools.settings import Settings


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(
        settings=Settings.load({}, tmp_path),
        home=tmp_path,
        known=("local",),
        connect=lambda _name, home: connect(home),
    )


@pytest.mark.parametrize("url", ["http://localhost:1/v1", "http://[::1]:80", "https://api.example.com", "http://127.1"])
def test_a_plain_url_is_taken_as_it_is(session: Session, url: str) -> None:
    assert session.target(url).ref == url


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "http://[::1",
        "http://h:99999",
        "http://h:x",
        "http://h:0",
        "http://u:p@h",
        "http://h/\x1b",
        "http://" + "h" * 500,
    ],
)
def test_what_is_no_plain_url_is_refused_in_words(session: Session, url: str) -> None:
    with pytest.raises(InvalidInput, match="`endpoint`: is not a plain http"):
        session.target(url, "endpoint")


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "[::ffff:169.254.169.254]",
        "[fe80::1%25eth0]",
        "[fd00:ec2::254]",
        "metadata.google.internal.",
        "Metadata.Google.Internal",
    ],
)
def test_a_metadata_address_is_refused_in_every_spelling(session: Session, host: str) -> None:
    with pytest.raises(InvalidInput, match="metadata address"):
        session.target(f"http://{host}/v1")


def test_a_variable_that_the_project_lists_may_be_sent(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_WORD", "open-sesame")
    listed = Settings.load({"MODELRIG_API_KEY_ENVS": "GATEWAY_WORD"}, session.home)
    wire = session.target("https://h/v1").with_key_from("GATEWAY_WORD", listed).connect()
    assert wire.headers == {"Authorization": "Bearer open-sesame"}


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "aws_session_token", "AZURE_CLIENT_SECRET", "GOOGLE_TOKEN"])
def test_a_clouds_own_credential_is_not_sent_even_when_a_project_lists_it(
    session: Session, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "open-sesame")
    listed = Settings.load({"MODELRIG_API_KEY_ENVS": name}, session.home)
    with pytest.raises(InvalidInput, match="may not be sent to a URL"):
        session.target("https://h/v1").with_key_from(name, listed)


def test_what_is_no_endpoint_is_blamed_on_the_argument_that_held_it(session: Session) -> None:
    for text in ("file:///etc/passwd", "a:b:c"):
        with pytest.raises(InvalidInput, match=r"^`endpoint`: ") as told:
            session.target(text, "endpoint")
        assert told.value.field == "endpoint"
