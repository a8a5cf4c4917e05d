"""The tables, as forward migrations. A migration that has been released is never edited: add one at the end."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

APPLICATION_ID = 0x6D726967
"""Written into the file's header, so that a database of something else is recognised ("mrig")."""

Migration = Sequence[str]

_FIRST: Migration = (
    """CREATE TABLE deployments (
        id TEXT PRIMARY KEY, ref TEXT NOT NULL, cloud TEXT NOT NULL, service TEXT NOT NULL, name TEXT NOT NULL,
        model TEXT NOT NULL, account TEXT NOT NULL, operation TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('creating', 'active', 'deleting', 'ended', 'failed')),
        reason TEXT NOT NULL DEFAULT '', spec TEXT NOT NULL, plan TEXT NOT NULL, facts TEXT NOT NULL DEFAULT '{}',
        created TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX deployments_by_state ON deployments (state, created)",
    """CREATE TABLE steps (
        id INTEGER PRIMARY KEY AUTOINCREMENT, deployment TEXT NOT NULL REFERENCES deployments (id),
        service TEXT NOT NULL, operation TEXT NOT NULL, parameters TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('intent', 'done', 'failed', 'undone')),
        at TEXT NOT NULL, changed TEXT NOT NULL, result TEXT NOT NULL DEFAULT '{}', error TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX steps_by_deployment ON steps (deployment, id)",
    "CREATE INDEX steps_by_state ON steps (state)",
    """CREATE TABLE operations (
        id TEXT PRIMARY KEY, tool TEXT NOT NULL, arguments TEXT NOT NULL, flags TEXT NOT NULL, cwd TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
        message TEXT NOT NULL DEFAULT '', done REAL, total REAL, pid INTEGER, process_created REAL,
        heartbeat TEXT NOT NULL, attempt INTEGER NOT NULL DEFAULT 0, cancel_requested TEXT NOT NULL DEFAULT '',
        result TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '',
        created TEXT NOT NULL, started TEXT NOT NULL DEFAULT '', ended TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX operations_by_state ON operations (state, created)",
    """CREATE TABLE plans (
        id TEXT PRIMARY KEY, salt BLOB NOT NULL, digest BLOB NOT NULL, tool TEXT NOT NULL, arguments TEXT NOT NULL,
        steps TEXT NOT NULL, read_from TEXT NOT NULL, created TEXT NOT NULL, expires TEXT NOT NULL,
        used TEXT NOT NULL DEFAULT '', misses INTEGER NOT NULL DEFAULT 0)""",
    """CREATE TABLE spend (
        id INTEGER PRIMARY KEY AUTOINCREMENT, deployment TEXT NOT NULL REFERENCES deployments (id),
        usd_per_hour REAL, instance_type TEXT NOT NULL DEFAULT '', as_of TEXT NOT NULL DEFAULT '',
        source TEXT NOT NULL DEFAULT '',
        from_earliest TEXT NOT NULL, from_latest TEXT, to_earliest TEXT, to_latest TEXT)""",
    "CREATE INDEX spend_by_deployment ON spend (deployment)",
    "CREATE UNIQUE INDEX spend_open ON spend (deployment) WHERE to_latest IS NULL",
    """CREATE TABLE phases (
        deployment TEXT NOT NULL REFERENCES deployments (id), position INTEGER NOT NULL, phase TEXT NOT NULL,
        seconds REAL NOT NULL, service TEXT NOT NULL, model TEXT NOT NULL, instance_type TEXT NOT NULL,
        at TEXT NOT NULL, PRIMARY KEY (deployment, phase))""",
    "CREATE INDEX phases_by_key ON phases (service, model, instance_type)",
    """CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL,
        deployment TEXT NOT NULL DEFAULT '', operation TEXT NOT NULL DEFAULT '', detail TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX events_by_deployment ON events (deployment, id)",
    """CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
    """CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
)

_SECOND: Migration = (
    """CREATE TABLE cleanup_steps (
        plan TEXT NOT NULL, finding TEXT NOT NULL, step TEXT NOT NULL, call TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('intent', 'sent', 'done', 'failed')),
        at TEXT NOT NULL, changed TEXT NOT NULL, answer TEXT NOT NULL DEFAULT '{}', error TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (plan, finding, step))""",
)

_THIRD: Migration = (
    "CREATE TABLE holds (what TEXT PRIMARY KEY, operation TEXT NOT NULL, detail TEXT NOT NULL, since TEXT NOT NULL)",
)

MIGRATIONS: Sequence[Migration] = (_FIRST, _SECOND, _THIRD)
"""`user_version` n means that the first n of these were applied."""


class Foreign(Exception):
    """The file is a database, and not one of ours."""


class Newer(Exception):
    """The file was written by a later modelrig; its version and ours are the arguments."""


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a database up to date, all or nothing. Raises Newer or Foreign and changes nothing then."""
    if _version(connection, migrations) == len(migrations):
        return
    if not _is_ours(connection):
        connection.execute("PRAGMA journal_mode = WAL")  # not possible inside a transaction
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number in range(_version(connection, migrations), len(migrations)):
            for statement in migrations[number]:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite ends it by itself when the disk is full
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> int:
    """How many migrations were applied. Raises Newer or Foreign."""
    if not connection.in_transaction:
        # One state for all three readings: another process may make the file between two of them.
        connection.execute("BEGIN")
        try:
            return _version(connection, migrations)
        finally:
            if connection.in_transaction:  # a full disk has ended it, and its own error must be the one that is heard
                connection.execute("COMMIT")
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if not _is_ours(connection) and (version or connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()):
        raise Foreign
    if version > len(migrations):
        raise Newer(version, len(migrations))
    return version


def _is_ours(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)
