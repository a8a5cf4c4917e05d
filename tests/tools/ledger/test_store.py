"""The file: made once by whoever comes first, carried forward, never overwritten, and named in every error."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from clouds.errors import CloudError, Conflict, InvalidInput, Unexpected, Unreachable
from clouds.models import Call
from tools.ledger import Book, schema

Begin = Callable[..., str]
ROOT = Path(__file__).resolve().parents[3]
OLD = Path(__file__).with_name("version_1.sql")
FILE = "ledger.sqlite3"


def test_the_file_is_made_for_its_owner_alone(home: Path, book: Book) -> None:
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / FILE).stat().st_mode) == 0o600
    book.journal.add("looked")
    assert {stat.S_IMODE(each.stat().st_mode) for each in home.glob(f"{FILE}*")} == {0o600}


def test_what_was_written_is_there_for_the_next_process(home: Path, book: Book, begun: Begin) -> None:
    found = begun()
    book.close()
    with Book(home) as again:
        assert [each.id for each in again.deployments.live()] == [found]


def test_a_closed_book_opens_again_when_it_is_used(book: Book, begun: Begin) -> None:
    found = begun()
    book.close()
    assert [each.id for each in book.deployments.live()] == [found]


def test_a_file_of_version_1_is_read_and_carried_forward(home: Path) -> None:
    home.mkdir()
    with closing(sqlite3.connect(home / FILE)) as old:
        old.executescript(OLD.read_text(encoding="utf-8"))
    with Book(home) as book:
        [found] = book.deployments.live()
        assert (found.id, found.ref, found.state) == ("d-20261129-7f3a", "local:llama:this-machine:smollm2", "active")
        assert found.spec.settings == {"context": 2048}
        assert [(str(each.call), each.state) for each in book.steps(found.id)] == [("llama.Start", "done")]
        assert book.deployments.plan(found.id).deployment == found.id
        assert [(each.id, each.state) for each in book.operations.recent()] == [("op-7f3a", "done")]
        with book.store.read() as database:
            assert database.execute("PRAGMA user_version").fetchone()[0] == len(schema.MIGRATIONS)


def test_a_migration_keeps_every_row(home: Path, book: Book, begun: Begin) -> None:
    found = begun()
    later = (*schema.MIGRATIONS, ("ALTER TABLE deployments ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'",))
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as database:
        schema.migrate(database, later)
        schema.migrate(database, later)
        assert database.execute("SELECT id, colour FROM deployments").fetchall() == [(found, "red")]
        assert database.execute("PRAGMA user_version").fetchone()[0] == len(later)


def test_a_migration_that_fails_half_way_changes_nothing(home: Path, book: Book, begun: Begin) -> None:
    found = begun()
    broken = (*schema.MIGRATIONS, ("ALTER TABLE deployments ADD COLUMN colour TEXT", "NOT SQL"))
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as database:
        with pytest.raises(sqlite3.OperationalError):
            schema.migrate(database, broken)
        assert "colour" not in [each[1] for each in database.execute("PRAGMA table_info(deployments)")]
    assert [each.id for each in book.deployments.live()] == [found]


def test_a_file_of_a_later_version_is_refused_and_left_alone(home: Path) -> None:
    Book(home).close()
    with closing(sqlite3.connect(home / FILE)) as later:
        later.execute("PRAGMA user_version = 99")
    before = (home / FILE).read_bytes()
    with pytest.raises(Conflict) as refused:
        Book(home)
    assert (
        refused.value.answered == f"it has version 99, and this modelrig knows versions up to {len(schema.MIGRATIONS)}"
    )
    assert str(home / FILE) in refused.value.tried
    assert (home / FILE).read_bytes() == before


def test_a_database_of_something_else_is_refused_and_left_alone(home: Path) -> None:
    home.mkdir()
    with closing(sqlite3.connect(home / FILE)) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    before = (home / FILE).read_bytes()
    with pytest.raises(Conflict, match="a database of something else"):
        Book(home)
    assert (home / FILE).read_bytes() == before


def test_a_file_that_is_not_a_database_is_refused_by_name_and_left_alone(home: Path) -> None:
    home.mkdir()
    (home / FILE).write_bytes(b"my notes " * 200)
    with pytest.raises(Unexpected) as refused:
        Book(home)
    assert (refused.value.code, refused.value.sent) == ("SQLITE_NOTADB", False)
    assert str(home / FILE) in str(refused.value)
    assert (home / FILE).read_bytes() == b"my notes " * 200


def test_a_damaged_page_is_an_error_by_name_and_is_left_alone(home: Path, book: Book, begun: Begin) -> None:
    begun()
    book.close()
    content = bytearray((home / FILE).read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    (home / FILE).write_bytes(content)
    with pytest.raises(Unexpected, match="SQLITE_CORRUPT") as refused:
        Book(home).deployments.live()
    assert str(home / FILE) in str(refused.value)
    assert (home / FILE).read_bytes() == content


@pytest.fixture
def unwritable() -> Iterator[Path]:
    """A folder that this process may read and not write, also when it runs as root."""
    place = Path(tempfile.mkdtemp(prefix="unwritable-"))
    inner = place / "home"
    Book(inner).close()
    for path, mode in ((place, 0o755), (inner, 0o555), *((each, 0o444) for each in inner.iterdir())):
        path.chmod(mode)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield inner
    finally:
        os.seteuid(user)
        inner.chmod(0o700)
        shutil.rmtree(place)


@pytest.mark.skipif(os.name == "nt", reason="folders have no mode bits there")
def test_a_home_that_cannot_be_written_is_said_to_be_so(unwritable: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be written") as refused:
        Book(unwritable)
    assert (refused.value.field, refused.value.fix) == (
        "MODELRIG_HOME",
        "Set MODELRIG_HOME to a folder that you can write to.",
    )


def test_a_home_that_is_a_file_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("here", encoding="utf-8")
    with pytest.raises(InvalidInput, match="cannot be made or used as a folder"):
        Book(tmp_path / "home")


def test_a_ledger_that_is_a_folder_is_said_to_be_so(home: Path) -> None:
    (home / FILE).mkdir(parents=True)
    with pytest.raises(CloudError, match=FILE):
        Book(home)


@pytest.mark.parametrize("named", [FILE, "."])
def test_a_file_that_was_deleted_under_a_running_process_is_made_again(
    home: Path, book: Book, begun: Begin, named: str
) -> None:
    begun()
    for each in home.glob(f"{FILE}*"):
        each.unlink()
    if named == ".":
        home.rmdir()
    assert book.deployments.live() == ()
    found = begun()
    with Book(home) as another:
        assert [each.id for each in another.deployments.live()] == [found]


def test_a_reader_never_waits_for_a_writer_and_sees_what_was_committed(home: Path, book: Book, begun: Begin) -> None:
    found = begun()
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE deployments SET state = 'ended'")
        with Book(home, busy_seconds=0.0) as reader:
            assert [(each.id, each.state) for each in reader.deployments.live()] == [(found, "creating")]
        other.execute("COMMIT")
    assert book.deployments.live() == ()


def test_a_reading_thread_is_not_held_up_by_a_waiting_one(home: Path, book: Book, begun: Begin) -> None:
    found = begun()
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer = threading.Thread(target=book.intent, args=(found, Call("x", "Create")))
        writer.start()
        assert [each.id for each in book.deployments.live()] == [found]
        assert writer.is_alive()
        other.execute("COMMIT")
    writer.join()
    assert [str(each.call) for each in book.unresolved(found)] == ["x.Create"]


def test_a_writer_that_waits_too_long_says_what_it_waited_for(home: Path, book: Book, begun: Begin) -> None:
    found = begun()
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as other, Book(home, busy_seconds=0.05) as hasty:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unreachable, match="database is locked") as refused:
            hasty.intent(found, Call("x", "Create"))
        assert "held it for over 0.05 s" in refused.value.fix
        other.execute("COMMIT")
        hasty.intent(found, Call("x", "Create"))
    assert len(book.unresolved(found)) == 1


def together(commands: Sequence[tuple[str, ...]]) -> list[int]:
    """Their exit statuses, where each waited with its work until all were ready for it."""
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for command in commands]
    for each in started:
        assert each.stdout is not None
        assert each.stdout.readline() == b"ready\n"
    for each in started:
        assert each.stdin is not None
        each.stdin.write(b"go\n")
        each.stdin.flush()
    for each in started:
        each.communicate(timeout=40)
    return [each.returncode for each in started]


WRITER = """
import sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from clouds.models import Call
from tools.ledger import Book
home, deployment, each = Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
print("ready", flush=True)
sys.stdin.readline()
book = Book(home)
def write(thread):
    for number in range(each):
        step = book.intent(deployment, Call("x", "Create", {"by": f"{sys.argv[5]}-{thread}-{number}"}))
        book.done(step, {"made": f"{sys.argv[5]}-{thread}-{number}"})
threads = [threading.Thread(target=write, args=(thread,)) for thread in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
book.close()
"""


def test_eight_threads_in_each_of_two_processes_lose_nothing(home: Path, book: Book, begun: Begin) -> None:
    found = begun()
    command = (sys.executable, "-c", WRITER, str(ROOT), str(home), found, "2")
    assert together([(*command, str(number)) for number in range(2)]) == [0, 0]
    everything = sorted(
        f"{process}-{thread}-{number}" for process in range(2) for thread in range(8) for number in range(2)
    )
    steps = book.steps(found)
    assert sorted(each.call.parameters["by"] for each in steps) == everything
    assert sorted(each.result["made"] for each in steps) == everything
    assert len({each.id for each in steps}) == 32


MAKER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tools.ledger import Book
print("ready", flush=True)
sys.stdin.readline()
with Book(Path(sys.argv[2])) as book:
    book.journal.add("made")
"""


def test_processes_that_make_the_file_at_once_all_get_the_same(home: Path) -> None:
    assert together([(sys.executable, "-c", MAKER, str(ROOT), str(home))] * 2) == [0, 0]
    with Book(home) as book:
        assert book.journal.recent().total == 2
