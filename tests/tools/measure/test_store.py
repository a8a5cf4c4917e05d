from __future__ import annotations

import json
from pathlib import Path

import pytest

from clouds.errors import InvalidInput, NotFound
from tests.tools.measure.made import items, made
from tools.measure import store


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = made("qat", 105.1, {16: (1071.5, 1083.0)}, items({2: "655"}), [104.0, 106.0])
    path = store.claim(tmp_path, "qat")
    store.save(path, run)
    assert store.read(path) == run


def test_a_name_that_is_taken_gets_a_number_whatever_is_in_the_file(tmp_path: Path) -> None:
    first = store.claim(tmp_path, "a")
    store.save(first, made("a"))
    second, third = store.claim(tmp_path, "a"), store.claim(tmp_path, "a")
    assert [path.name for path in (first, second, third)] == ["a.json", "a-2.json", "a-3.json"]
    assert store.read(first).state == "complete"


@pytest.mark.parametrize("folder", ["../out", "/etc", "~nobody/x", "a\0b"])
def test_runs_are_never_written_outside_the_project_and_the_data_directory(tmp_path: Path, folder: str) -> None:
    with pytest.raises(InvalidInput, match="folder"):
        store.folder_of(folder, tmp_path / "home", tmp_path / "project")


def test_a_link_out_of_the_project_is_outside(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "link").symlink_to(tmp_path)
    with pytest.raises(InvalidInput, match="outside"):
        store.folder_of("link/x", tmp_path / "home", project)


def test_a_folder_inside_the_project_or_the_data_directory_is_taken(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    assert store.folder_of("", home, project) == home / "runs"
    assert store.folder_of("docs/runs", home, project) == project / "docs/runs"
    assert store.folder_of(str(home / "mine"), home, project) == home / "mine"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "is empty"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "schema_version"),
        ('{"schema_version": 99}', "schema_version '99'"),
        ('{"schema_version": 1}', "is not a run: id"),
    ],
)
def test_a_file_that_is_no_run_is_refused_with_its_reason(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match=problem):
        store.read(path)


def test_an_id_that_could_leave_the_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**made("x").model_dump(mode="json"), "id": "../../x"}), encoding="utf-8")
    with pytest.raises(InvalidInput, match="id"):
        store.read(path)


def shelve(folder: Path, *runs: tuple[str, str, str]) -> None:
    for id_, state, started in runs:
        store.save(store.claim(folder, id_), made(id_, state=state, started=started, name="m"))


def test_a_run_is_found_by_path_id_name_or_endpoint(tmp_path: Path) -> None:
    shelve(tmp_path, ("a", "complete", "2026-01-01"), ("b", "complete", "2026-01-02"))
    roots = (tmp_path,)
    found = [store.find(text, [tmp_path], roots)[1].id for text in ("a.json", "a", "m", "aws:sagemaker:us-east-2:a")]
    assert found == ["a", "a", "b", "a"]


def test_a_run_of_a_walk_is_found_by_its_name_and_variant(tmp_path: Path) -> None:
    for id_, variant in (("aba-base", "base"), ("aba-slots-2", "slots=2"), ("aba-base-again", "base again")):
        run = made(f"2026-11-30-{id_}", name="aba")
        kept = run.model_copy(update={"subject": run.subject.model_copy(update={"variant": variant})})
        store.save(store.claim(tmp_path, run.id), kept)
        again = kept.model_copy(update={"id": f"2026-12-01-{id_}", "started": "2026-12-01"})
        store.save(store.claim(tmp_path, again.id), again)
    found = [store.find(text, [tmp_path], ())[1].id for text in ("aba-base", "aba-slots-2", "aba-base-again")]
    assert found == ["2026-12-01-aba-base", "2026-12-01-aba-slots-2", "2026-12-01-aba-base-again"]
    assert store.find("2026-11-30-aba-base", [tmp_path], ())[1].id == "2026-11-30-aba-base"
    with pytest.raises(NotFound):
        store.find("aba-slots-3", [tmp_path], ())


def test_an_incomplete_run_never_stands_for_a_complete_one(tmp_path: Path) -> None:
    shelve(tmp_path, ("a", "complete", "2026-01-01"), ("b", "incomplete", "2026-01-02"), ("c", "failed", "2026-01-03"))
    assert store.find("m", [tmp_path], (tmp_path,))[1].id == "a"
    assert store.find("b", [tmp_path], (tmp_path,))[1].state == "incomplete"


def test_a_name_that_nothing_has_is_answered_with_what_there_is(tmp_path: Path) -> None:
    shelve(tmp_path, ("a", "complete", "2026-01-01"))
    with pytest.raises(NotFound) as caught:
        store.find("zzz", [tmp_path], (tmp_path,))
    assert caught.value.fix == "The newest are a."


def test_a_path_outside_is_not_read(tmp_path: Path) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    shelve(tmp_path, ("a", "complete", "2026-01-01"))
    with pytest.raises(InvalidInput, match="outside"):
        store.find("../a.json", [], (inside,))


def test_a_shelf_shows_what_cannot_be_read_with_its_reason(tmp_path: Path) -> None:
    shelve(tmp_path, ("b", "complete", "2026-01-02"), ("a", "complete", "2026-01-03"))
    (tmp_path / "junk.json").write_text("{", encoding="utf-8")
    assert [(each.path.stem, each.problem) for each in store.shelf(tmp_path)] == [
        ("junk", "junk.json is not JSON"),
        ("b", ""),
        ("a", ""),
    ]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_a_number_that_is_none_makes_a_file_unreadable(number: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    store.save(path, made("odd", 105.25))
    text = path.read_text("utf-8")
    assert store.read(path).figure("decode.tokens_per_second") is not None
    path.write_text(text.replace("105.25", number), "utf-8")
    with pytest.raises(InvalidInput, match="has a number that is not finite"):
        store.read(path)
