"""What an installer prints becomes one sentence and one thing to do, without an address or a secret in it."""

from __future__ import annotations

import pytest

from tools.environment import reasons

PIP_OFFLINE = """WARNING: Retrying after connection broken by 'NewConnectionError('<HTTPSConnection at 0x7f>: \
Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/mcp/
ERROR: Could not find a version that satisfies the requirement mcp==2.3.0 (from versions: none)
ERROR: No matching distribution found for mcp==2.3.0
"""
UV_OFFLINE = """error: Request failed after 3 retries
  cause: Failed to fetch: `https://person:s3cret@index.corp.example/simple/anyio/`
  cause: error sending request for url (https://index.corp.example/simple/anyio/)
  cause: dns error
"""
HASHES = """ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated
    anyio==4.16.0 from https://index.corp.example/anyio.whl:
        Expected sha256 aaaa
"""
CASES = [
    (
        "network",
        PIP_OFFLINE,
        "the package index could not be reached (Failed to establish a new connection: [Errno -3] Te",
    ),
    ("network", UV_OFFLINE, "the package index could not be reached (dns error)"),
    (
        "hashes",
        HASHES,
        "a downloaded file is not the one that this version was tested with (DO NOT MATCH THE HASHES FROM",
    ),
    ("disk", "OSError: [Errno 28] No space left on device: '/x'", "the disk is full (No space left on device: '/x')"),
    ("disk", "error: failed to write\n  cause: No space left on device (os error 28)", "the disk is full (No space"),
    (
        "ensurepip",
        "The virtual environment was not created: ensurepip is not available.",
        "this Python has no venv or pip",
    ),
    (
        "certificate",
        "SSLError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed')",
        "the package index's cert",
    ),
    (
        "credentials",
        "ERROR: 401 Client Error: Unauthorized for url: https://a:b@c.example/x",
        "the package index refused us",
    ),
    (
        "platform",
        "ERROR: No matching distribution found for rpds-py==1",
        "a package has no build for this Python or this",
    ),
    ("permission", "error: could not create '/x': Permission denied", "a folder cannot be written (Permission denied)"),
    ("unknown", "error: something new\n", "the installer failed: error: something new"),
    ("unknown", "", "the installer failed: it printed nothing"),
]


@pytest.mark.parametrize(
    ("kind", "output", "reason"), CASES, ids=[f"{kind}-{at}" for at, (kind, *_) in enumerate(CASES)]
)
def test_each_kind_of_failure_is_told_apart(kind: str, output: str, reason: str) -> None:
    problem = reasons.explain(output)
    assert problem.kind == kind
    assert problem.reason.startswith(reason)
    assert problem.fix.endswith(f"{reasons.AGAIN}.")


def test_a_network_that_is_down_is_not_taken_for_a_package_without_a_build() -> None:
    assert reasons.explain(PIP_OFFLINE.splitlines()[-1]).kind == "platform"
    assert reasons.explain(PIP_OFFLINE).kind == "network"


@pytest.mark.parametrize(
    "text",
    [
        "Looking in indexes: https://person:s3cret@index.corp.example/simple",
        "HTTPSConnectionPool(host='index.corp.example', port=443): Max retries exceeded with url: /s",
        "Failed to resolve 'index.corp.example' ([Errno -2])",
        "Could not connect to index.corp.example:8443",
        "see https://person:s3cret@index.corp.example/simple/mcp/ for more",
        "file:///home/person/s3cret/wheels",
    ],
)
def test_no_address_and_no_credential_gets_through(text: str) -> None:
    cleaned = reasons.clean(text)
    assert "corp.example" not in cleaned
    assert "s3cret" not in cleaned


def test_control_characters_of_an_installer_do_not_reach_a_terminal() -> None:
    assert reasons.clean("\x1b[31merror\x1b[0m\n") == " [31merror [0m\n"
