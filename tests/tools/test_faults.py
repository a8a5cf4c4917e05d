"""Any exception as a record, and as the sentence a person reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clouds import errors
from clouds.errors import (
    Cancelled,
    CloudError,
    InvalidInput,
    NoCapacity,
    NotSignedIn,
    PermissionMissing,
    Throttled,
    Unexpected,
)
from clouds.readonly import Forbidden
from clouds.replay.player import NotRecorded
from tools.faults import _LEADS, fault, sentence
from tools.home import write_atomically

WORDED: list[tuple[BaseException, dict[str, object], str]] = [
    (
        NotSignedIn(
            "the login in profile `work` expired 2 h ago",
            fix="Run `aws login --profile work`, then repeat this call.",
            sent=False,
        ),
        {
            "kind": "not_signed_in",
            "what": "the login in profile `work` expired 2 h ago",
            "next": "Run `aws login --profile work`, then repeat this call.",
            "sent": False,
        },
        (
            "**Not signed in: the login in profile `work` expired 2 h ago.** Run `aws login --profile work`, then "
            "repeat this call. (Nothing was sent.)"
        ),
    ),
    (
        NoCapacity(
            "creating `gemma` in us-east-1",
            code="InsufficientInstanceCapacity",
            answered="Unable to provision",
            fix="Try us-east-2",
        ),
        {
            "kind": "no_capacity",
            "what": "creating `gemma` in us-east-1",
            "next": "Try us-east-2",
            "sent": True,
            "answered": "Unable to provision",
            "code": "InsufficientInstanceCapacity",
        },
        (
            "**No capacity: creating `gemma` in us-east-1.** The answer was `InsufficientInstanceCapacity`: "
            '"Unable to provision". Try us-east-2.'
        ),
    ),
    (
        InvalidInput("accelerator", '"L40" is not known', fix="Did you mean L40S?", allowed=("T4", "L4", "L40S")),
        {
            "kind": "invalid_input",
            "what": '`accelerator`: "L40" is not known',
            "next": "Did you mean L40S?",
            "sent": False,
            "field": "accelerator",
            "allowed": ["T4", "L4", "L40S"],
        },
        '**`accelerator`: "L40" is not known.** Did you mean L40S? Allowed: T4, L4, L40S. (Nothing was sent.)',
    ),
    (
        Throttled("reading quotas", code="TooManyRequests", fix="Wait", retry_after=30.0),
        {
            "kind": "throttled",
            "what": "reading quotas",
            "next": "Wait",
            "sent": True,
            "code": "TooManyRequests",
            "retry_after": 30.0,
        },
        "**Asked too often: reading quotas.** The answer was `TooManyRequests`. Wait. Ask again in 30 s.",
    ),
    (
        Cancelled(),
        {
            "kind": "cancelled",
            "what": "",
            "next": "Nothing half-made was left; call it again to start over.",
            "sent": True,
        },
        "**Stopped as asked.** Nothing half-made was left; call it again to start over.",
    ),
]


@pytest.mark.parametrize(("error", "record", "words"), WORDED, ids=lambda each: type(each).__name__)
def test_an_error_says_what_was_tried_what_was_answered_and_what_to_do(
    error: BaseException, record: dict[str, object], words: str
) -> None:
    assert fault(error) == record
    assert sentence(fault(error)) == words
    assert json.loads(json.dumps(record)) == record


def test_every_kind_of_cloud_error_has_its_own_words() -> None:
    kinds = {
        each("x", fix="y").kind if each is not InvalidInput else "invalid_input"
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, CloudError) and each is not CloudError
    }
    beside_the_tree = {NotRecorded.__name__, Forbidden.__name__}
    assert beside_the_tree == {"NotRecorded", "Forbidden"}
    assert kinds | {"cancelled", "bug", "not_recorded", "forbidden"} == set(_LEADS)


def test_a_bug_is_told_by_type_and_by_our_own_line_and_never_by_its_text(tmp_path: Path) -> None:
    with pytest.raises(TypeError) as raised:
        write_atomically(tmp_path / "x", 7)  # type: ignore[arg-type]
    told = fault(raised.value)
    assert re.fullmatch(r"TypeError at tools/home\.py:\d+", told["what"])
    assert told["kind"] == "bug"
    secret = ValueError("the key is opensesame")
    assert fault(secret)["what"] == "ValueError at an unknown place"
    assert "opensesame" not in sentence(fault(secret))


def test_what_a_cloud_answered_is_one_bounded_line_without_secrets() -> None:
    answered = "denied\n\x1b[31mfor Bearer abcdefgh12345678 " + "x" * 5000
    told = fault(PermissionMissing("reading", answered=answered, fix="ask"))["answered"]
    assert told.startswith("denied \\x1b[31mfor (withheld: looks like a secret) xxx")
    assert told.endswith("… (5,040 characters)")
    assert len(told) < 650
    assert told.isprintable()


def test_a_huge_answer_does_not_make_a_huge_sentence() -> None:
    error = Unexpected("reading", answered="x" * 10**6, code="y" * 10**5, fix="z" * 10**5)
    assert len(sentence(fault(error))) < 2_500


def test_a_package_that_is_missing_is_told_as_that_with_the_command_that_brings_it() -> None:
    told = fault(ModuleNotFoundError("No module named 'httptools'", name="httptools"))
    assert (told["kind"], told["sent"]) == ("not_installed", False)
    assert "requirements-measure.txt" in told["next"]


def test_when_to_ask_again_is_said_once() -> None:
    error = Throttled("asking", retry_after=7, fix="Ask again after 7 s.")
    assert sentence(fault(error)) == "**Asked too often: asking.** Ask again after 7 s."


def test_a_module_that_no_set_of_packages_brings_is_a_bug() -> None:
    assert fault(ModuleNotFoundError("No module named 'nothing'", name="nothing"))["kind"] == "bug"
