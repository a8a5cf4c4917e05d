from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from clouds.base import Cloud, Missing
from clouds.errors import InvalidInput, NotOffered, Unreachable
from clouds.models import Capacity, Quota, Read, Scope
from tools.context import Clouds
from tools.quota import check_capacity, check_quota

QUOTA = Quota(name="vCPUs of F", code="f", scope="eastus", limit=48.0, used=24.0, unit="vCPU", offered=True)
OFFERED = Capacity(accelerator="T4", scope="eastus", answer="offered", evidence="e", as_of="2026-11-29")


class Reader:
    """A cloud's reader that knows some places, and refuses or fails for the others."""

    def __init__(self, *places: str, answer: object = QUOTA, error: Exception | None = None) -> None:
        self.places, self.answer, self.error = places, answer, error

    def read(self, accelerator: str | None, types: Sequence[str], scopes: Sequence[Scope]) -> Read[object]:
        if self.error is not None:
            raise self.error
        for scope in scopes:
            if scope.location not in self.places:
                raise InvalidInput("region", f"{scope.location!r} is no place of ours", fix="Name one of ours.")
        return Read(found=(self.answer,))


def clouds(tmp_path: Path, **readers: Reader | Missing) -> Clouds:
    def connect(name: str, home: Path) -> Cloud:
        reader = readers[name]
        return Cloud(
            name=name,
            identity=None,
            endpoints={},
            quotas=reader,
            capacity=reader,
            prices=Missing("x"),
            api=Missing("x"),
        )

    return Clouds((), tuple(readers), tmp_path, connect)


def test_a_region_of_one_cloud_does_not_stop_the_question_to_the_others(tmp_path: Path) -> None:
    two = clouds(tmp_path, one=Reader("us-east-2"), two=Reader("eastus"))
    view = check_quota(two, accelerator="T4", regions=("eastus",))
    assert (view.count, view.complete) == (1, True)
    assert view.notes == ("one: `region`: 'eastus' is no place of ours.",)


@pytest.mark.parametrize(
    ("limit", "used", "headline", "then"),
    [
        (64.0, None, "Quota left for T4 in 0 of 1 scope; what is left in eastus is unknown.", "`check_capacity`"),
        (None, 2.0, "Quota left for T4 in 0 of 1 scope; what is left in eastus is unknown.", "`check_capacity`"),
        (0.0, None, "Quota left for T4 in 0 of 1 scope.", "ask for more quota"),
        (24.0, 24.0, "Quota left for T4 in 0 of 1 scope.", "ask for more quota"),
    ],
)
def test_what_is_not_known_to_be_used_up_is_not_said_to_be(
    tmp_path: Path, limit: float | None, used: float | None, headline: str, then: str
) -> None:
    row = QUOTA.model_copy(update={"limit": limit, "used": used})
    view = check_quota(clouds(tmp_path, one=Reader("eastus", answer=row)), accelerator="T4")
    assert view.headline == headline
    assert view.next.startswith(then)


def test_a_region_that_no_cloud_knows_is_refused(tmp_path: Path) -> None:
    two = clouds(tmp_path, one=Reader("us-east-2"), two=Reader("eastus"))
    with pytest.raises(InvalidInput, match="is no place of ours"):
        check_quota(two, accelerator="T4", regions=("nowhere",))


def test_where_one_cloud_is_named_its_refusal_is_the_answer(tmp_path: Path) -> None:
    two = clouds(tmp_path, one=Reader("us-east-2"), two=Reader("eastus"))
    with pytest.raises(InvalidInput, match="is no place of ours"):
        check_quota(two, accelerator="T4", regions=("eastus",), cloud="one")


def test_a_cloud_that_fails_is_unread_and_the_question_is_not_refused(tmp_path: Path) -> None:
    gone = Unreachable("asking", fix="Try again.")
    two = clouds(tmp_path, one=Reader(error=gone), two=Reader("eastus"))
    view = check_quota(two, accelerator="T4", regions=("nowhere",))
    assert (view.count, view.complete, [each.call for each in view.unread]) == (0, False, ["one: quotas"])


def test_capacity_is_asked_of_every_cloud_that_knows_the_place(tmp_path: Path) -> None:
    two = clouds(tmp_path, one=Reader("us-east-2", answer=OFFERED), two=Reader("eastus", answer=OFFERED))
    view = check_capacity(two, accelerator="T4", regions=("eastus",))
    assert (view.count, view.by_answer) == (1, {"offered": 1})
    assert view.headline == "T4: offered in eastus."


def test_what_is_known_of_few_places_names_them_and_of_many_counts_them(tmp_path: Path) -> None:
    every = {f"c{number}": OFFERED.model_copy(update={"scope": f"place-{number}"}) for number in range(6)}
    few = {name: every[name] for name in ("c0", "c1")}
    for rows, words in ((few, "place-0, place-1"), (every, "6 places")):
        readers = {name: Reader(answer=row) for name, row in rows.items()}
        view = check_capacity(clouds(tmp_path, **readers), accelerator="T4")
        assert view.headline == f"T4: offered in {words}."


NO_L4 = NotOffered("L4 on Two", answered="Two has T4, A10", fix="Use one of these, or another cloud.", sent=False)


def test_a_cloud_without_the_accelerator_says_so_first_and_what_it_has(tmp_path: Path) -> None:
    one = clouds(tmp_path, two=Reader(error=NO_L4))
    quota, capacity = check_quota(one, accelerator="L4"), check_capacity(one, accelerator="L4")
    assert quota.headline == "There is no L4 on Two: Two has T4, A10."
    assert capacity.headline == "There is no L4 on Two: Two has T4, A10."
    for view in (quota, capacity):
        assert (view.complete, view.unread, view.next) == (True, (), "Use one of these, or another cloud.")


def test_a_cloud_without_the_accelerator_is_a_note_beside_those_that_have_it(tmp_path: Path) -> None:
    view = check_quota(clouds(tmp_path, one=Reader(), two=Reader(error=NO_L4)), accelerator="L4")
    assert (view.count, view.complete, view.notes) == (1, True, ("There is no L4 on Two: Two has T4, A10.",))
    gone = Reader(error=Unreachable("asking", fix="Try again."))
    view = check_quota(clouds(tmp_path, one=gone, two=Reader(error=NO_L4)), accelerator="L4")
    assert view.headline == "Quota for L4 is unknown: nothing could be read."
    assert view.notes == ("There is no L4 on Two: Two has T4, A10.",)


def test_a_place_that_offers_one_form_and_not_another_names_the_form(tmp_path: Path) -> None:
    forms = {"a": ("T4", "score High"), "b": ("T4 (GPU-T4)", "offered"), "c": ("T4 (NC4)", "not offered")}
    rows = {
        key: OFFERED.model_copy(update={"accelerator": subject, "answer": answer})
        for key, (subject, answer) in forms.items()
    }
    view = check_capacity(clouds(tmp_path, **{key: Reader(answer=row) for key, row in rows.items()}), accelerator="T4")
    assert view.headline == ("T4: score High in eastus; offered in eastus (GPU-T4); not offered in eastus (NC4).")


def test_what_is_known_of_free_machines_is_shown_before_what_is_not(tmp_path: Path) -> None:
    unknown = OFFERED.model_copy(update={"answer": "unknown", "scope": "westus"})
    readers = {f"u{number}": Reader(answer=unknown) for number in range(12)}
    view = check_capacity(clouds(tmp_path, **readers, z=Reader(answer=OFFERED)), accelerator="T4")
    assert (view.rows[0].answer, view.showing) == ("offered", "10 of 13")


@pytest.mark.parametrize(
    ("count", "named"), [(6, "r0, r1, r2, r3, r4, r5."), (8, "r0, r1, r2, r3, r4, r5 and 2 more.")]
)
def test_the_headline_says_how_many_places_it_does_not_name(count: int, named: str, tmp_path: Path) -> None:
    readers = {f"c{at}": Reader(answer=QUOTA.model_copy(update={"scope": f"r{at}"})) for at in range(count)}
    view = check_quota(clouds(tmp_path, **readers), accelerator="T4")
    assert view.headline == f"Quota left for T4 in {count} of {count} scopes: {named}"
