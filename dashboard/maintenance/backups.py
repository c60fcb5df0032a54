"""Backup and restore of the database, with the database's own tools.

A backup is a zip file with `manifest.json`, the heads of the audit log, and the database, as an
SQLite file or as the SQL that `pg_dump` writes. It never contains encryption keys, only their
names: a backup alone does not reveal a token.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from django.conf import settings
from django.db import connection

from dashboard.maintenance.audit_chain import HEADS_MEMBER, load_heads
from dashboard.up.install_paths import try_lock
from proxyapi.checks import stored_key_ids
from proxyapi.credentials import encryption
from proxyapi.credentials.key_rotation import sealed_models

BACKUP_FORMAT = 1
MANIFEST_NAME = "manifest.json"
DATABASE_MEMBERS = {"sqlite": "database.sqlite3", "postgresql": "database.sql"}


class BackupError(Exception):
    """The reason why a backup was not made or not restored, as a sentence."""


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """The description of a backup; `keys` are the names of the encryption keys that it needs."""

    format: int
    vendor: str
    taken_at: str
    keys: list[str]


def create_backup(path: Path) -> BackupManifest:
    """Write a consistent backup atomically while the portal runs. Raises `BackupError`."""
    manifest = BackupManifest(
        BACKUP_FORMAT, connection.vendor, datetime.now(UTC).isoformat(), used_encryption_keys()
    )
    heads = load_heads()  # before the database: each of these rows is then in it
    with temporary_folder(path.parent) as folder:
        database, new_archive = folder / DATABASE_MEMBERS[connection.vendor], folder / "backup.zip"
        dump_sqlite(database) if connection.vendor == "sqlite" else dump_postgresql(database)
        with zipfile.ZipFile(new_archive, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(MANIFEST_NAME, json.dumps(asdict(manifest), indent=2))
            archive.write(database, database.name)
            archive.writestr(HEADS_MEMBER, "".join(f"{head}\n" for head in heads))
        new_archive.chmod(0o600)
        with new_archive.open("rb") as written:
            os.fsync(written.fileno())
        new_archive.replace(path)
    return manifest


def read_manifest(path: Path) -> BackupManifest:
    """Raises `BackupError` if the file is not a backup, or cannot be restored here."""
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
            manifest = BackupManifest(**json.loads(archive.read(MANIFEST_NAME)))
    except FileNotFoundError:
        raise BackupError(f"There is no file {path}.") from None
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, OSError):
        raise BackupError(f"{path} is not a backup, or is damaged.") from None
    if damaged:
        raise BackupError(f"{path} is damaged: {damaged} cannot be read.")
    if manifest.format != BACKUP_FORMAT:
        raise BackupError(
            f"{path} was made by another release of Reelroom. Restore it with that release."
        )
    if manifest.vendor != connection.vendor:
        raise BackupError(
            f"{path} is a backup of {manifest.vendor}, but DATABASE_URL is {connection.vendor}."
        )
    if missing := sorted(set(manifest.keys) - set(encryption.load_key_ring().keys)):
        names = ", ".join(missing)
        raise BackupError(f"The tokens in {path} need {names}, missing in ENCRYPTION_KEYS.")
    return manifest


def restore_backup(path: Path) -> Path | None:
    """Replace the database by the backup; return the path of the previous SQLite file.

    Raises `BackupError`; the database is then unchanged.
    """
    manifest = read_manifest(path)
    with temporary_folder(path.parent) as folder, zipfile.ZipFile(path) as archive:
        database = Path(archive.extract(DATABASE_MEMBERS[manifest.vendor], folder))
        if manifest.vendor == "sqlite":
            return restore_sqlite(database)
        restore_postgresql(database)
    return None


def is_database_empty() -> bool:
    """True if the database has no team."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        if "dashboard_team" not in tables:
            return True
        cursor.execute("SELECT count(*) FROM dashboard_team")
        return not cursor.fetchone()[0]


def check_not_in_use() -> None:
    """Raise `BackupError` while `make run` runs here, or while PostgreSQL has other connections."""
    lock = settings.VAR / "lock"
    if lock.exists():
        with lock.open() as file:
            if not try_lock(file):
                raise BackupError(f"Reelroom is running in {settings.VAR}. Stop it first.")
    if others := count_other_connections():
        raise BackupError(
            f"{others} other connections to the database are open. Stop the web servers, workers "
            "and beats first."
        )


def count_other_connections() -> int:
    """Other connections to PostgreSQL; 0 for SQLite, which has no such count."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])


def used_encryption_keys() -> list[str]:
    """The names of the keys that encrypted any value in this database."""
    names = (stored_key_ids(model, "default") for model in sealed_models())
    return sorted(set(chain.from_iterable(names)))


def dump_sqlite(database: Path) -> None:
    connection.ensure_connection()
    with closing(sqlite3.connect(database)) as copy:
        connection.connection.backup(copy)
    check_sqlite(database)


def restore_sqlite(database: Path) -> Path | None:
    """Raises `BackupError` while another process writes."""
    check_sqlite(database)
    current = Path(str(connection.settings_dict["NAME"]))
    previous = current.with_name(f"{current.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    connection.close()
    # Copied first: a full disk must not leave the portal without a database.
    restored = current.with_name(f"{current.name}.restored")
    try:
        shutil.copyfile(database, restored)
        restored.chmod(0o600)
        if current.exists() and checkpoint_sqlite(current):
            current.replace(previous)
        restored.replace(current)
    finally:
        restored.unlink(missing_ok=True)
    return previous if previous.exists() else None


def checkpoint_sqlite(database: Path) -> bool:
    """Write the WAL into the file, so that the file is complete; return whether it has any table.
    Raises `BackupError` if the database is in use."""
    with closing(sqlite3.connect(database, timeout=1)) as sqlite:
        try:
            sqlite.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            sqlite.execute("PRAGMA journal_mode=DELETE")
            return bool(sqlite.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
        except sqlite3.OperationalError:
            raise BackupError("The database is in use. Stop Reelroom first.") from None


def check_sqlite(database: Path) -> None:
    with closing(sqlite3.connect(database)) as copy:
        try:
            result = copy.execute("PRAGMA quick_check").fetchone()[0]
        except sqlite3.DatabaseError as error:
            result = str(error)
    if result != "ok":
        raise BackupError(f"The SQLite file is damaged: {result}.")


def dump_postgresql(database: Path) -> None:
    run_tool("pg_dump", "--no-owner", "--no-privileges", "--file", str(database))


def restore_postgresql(database: Path) -> None:
    """One transaction drops the previous schema and loads the backup."""
    command = ["--quiet", "--single-transaction", "--set", "ON_ERROR_STOP=1", "--no-psqlrc"]
    command += ["--command", "DROP SCHEMA public CASCADE; CREATE SCHEMA public"]
    connection.close()
    run_tool("psql", *command, "--file", str(database))


def run_tool(program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL, with the password only in its environment. Raises
    `BackupError`."""
    settings_dict = connection.settings_dict
    (_, *to_database), env = connection.client.settings_to_cmd_args_env(settings_dict, [])
    *options, name = to_database
    command = [program, *options, *arguments, f"--dbname={name}"]
    try:
        completed = subprocess.run(  # noqa: S603 - constants and settings only
            command, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise BackupError(
            f"{program} is not installed here. It comes with PostgreSQL's client; docs/backup.md "
            "has the commands for containers."
        ) from None
    if completed.returncode != 0:
        reason = "; ".join(completed.stderr.strip().splitlines()[:2]) or "no reason was given"
        raise BackupError(f"{program} failed: {reason}")


@contextmanager
def temporary_folder(beside: Path) -> Iterator[Path]:
    """A folder next to the backup, because a copy of the database must not fill another disk.
    Raises `BackupError`."""
    try:
        with tempfile.TemporaryDirectory(dir=beside, prefix=".reelroom-") as folder:
            yield Path(folder)
    except OSError as error:
        raise BackupError(f"{beside} cannot be written: {error.strerror}.") from None
