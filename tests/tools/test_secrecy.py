"""What looks like a secret is refused before it is written, and withheld where it came from outside."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.errors import InvalidInput
from tools.secrecy import WITHHELD, clean, found, names_a_secret, refuse, withhold

SECRET_NAMES = [
    "api_key", "apiKey", "API-KEY", "--api-key", "HF_TOKEN", "token", "clientSecret", "AWS_SECRET_ACCESS_KEY",
    "password", "Authorization", "aws_session_token", "private_key", "storageAccountKey", "OPENAI_API_KEY",
]  # fmt: skip
PLAIN_NAMES = [
    "api_key_env", "max_tokens", "kv_cache_tokens", "ClientToken", "NextToken", "eos_token", "key", "KeyName",
    "key_file", "tokenizer", "token_count", "secretName", "", "PWD", "idempotency_token",
    "public_key", "tokens_per_second",
]  # fmt: skip


def test_a_name_that_announces_a_secret_is_recognised() -> None:
    assert [name for name in SECRET_NAMES if not names_a_secret(name)] == []


def test_a_name_that_only_resembles_one_is_not() -> None:
    assert [name for name in PLAIN_NAMES if names_a_secret(name)] == []


SECRETS: list[tuple[Any, str]] = [
    ({"api_key": "opensesame"}, "x.api_key"),
    ({"deep": [{"HF_TOKEN": "opensesame"}]}, "x.deep[0].HF_TOKEN"),
    ({"Environment": [{"Name": "HF_TOKEN", "Value": "opensesame"}]}, "x.Environment[0].HF_TOKEN"),
    ({"argv": ["llama-server", "--api-key", "opensesame"]}, "x.argv[2]"),
    ({"argv": ["llama-server", "--api-key=opensesame"]}, "x.argv[1]"),
    ({"note": "use hf_abcdefghijklmnopqrstuvwxyz"}, "x.note"),
    ({"url": "https://me:opensesame@example.com/"}, "x.url"),
    ({"url": "https://a.blob.core.windows.net/x?se=1&sig=abcdefgh1234%3D"}, "x.url"),
    ({"header": "Bearer abcdefgh12345678"}, "x.header"),
    ("AKIAIOSFODNN7EXAMPLE", "x"),
    ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "x"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2ln", "x"),
]


FORMS = [
    *(f"{mark}{'a1' * 15}" for mark in ("sk-", "hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "ya29.")),
    *(f"{mark}{'A1' * 8}" for mark in ("AKIA", "ASIA")),
    f"AIza{'x' * 35}", f"eyJ{'x' * 12}.eyJ{'x' * 12}", f"bEaReR {'x' * 12}", "-----BEGIN PRIVATE KEY-----", "s3://u:p@h",
    *(f"https://h/?{mark}={'x' * 12}" for mark in ("sig", "SIG", "x-amz-signature", "X-Amz-Security-Token")),
]  # fmt: skip


def test_every_form_of_a_secret_is_seen_in_ascii_and_beside_other_letters() -> None:
    assert [form for form in FORMS if list(found(f"a {form}", "x")) != ["x"]] == []
    assert [form for form in FORMS if list(found(f"é {form}", "x")) != ["x"]] == []
    assert [form for form in FORMS if WITHHELD not in clean(f"a {form}")] == []


@pytest.mark.parametrize(("value", "where"), SECRETS, ids=lambda each: each if isinstance(each, str) else "")
def test_a_secret_is_refused_by_where_it_is_and_withheld(value: Any, where: str) -> None:
    with pytest.raises(InvalidInput, match="looks like a secret") as refused:
        refuse(value, "x")
    assert refused.value.field == where
    assert "opensesame" not in str(refused.value)
    hidden = withhold(value)
    assert "opensesame" not in str(hidden)
    assert WITHHELD in str(hidden)
    assert list(found(hidden)) == []


HARMLESS: list[Any] = [
    {"api_key": "env:HF_TOKEN", "password": "", "token": None, "secret": "file:/home/me/key"},
    {"HF_TOKEN": "${{keyvault:https://team.vault.azure.net/secrets/hf}}"},
    {"api_key": "***", "HF_TOKEN": "${HF_TOKEN}", "client_secret": "arn:aws:secretsmanager:us-east-2:1:secret:x"},
    {"argv": ["llama-server", "--api-key-file", "/home/me/key", "--max-tokens", "12", "-c", "2048"]},
    {"Environment": [{"Name": "MODEL", "Value": "google/gemma-4-E2B-it"}]},
    {"max_tokens": 12, "token": 7, "usage": {"completion_tokens": 9}},
    "https://example.com/v1?x=1",
    "a sentence about a bearer of news, risk-management and desk-top",
]


@pytest.mark.parametrize("value", HARMLESS, ids=str)
def test_what_only_names_a_secret_or_counts_tokens_is_left_as_it_is(value: Any) -> None:
    refuse(value, "x")
    assert withhold(value) == value


def test_only_the_secret_is_taken_out_of_a_text() -> None:
    text = "GET https://me:pw@example.com/x with Bearer abcdefgh12345678 failed"
    assert clean(text) == f"GET https://{WITHHELD}@example.com/x with {WITHHELD} failed"
