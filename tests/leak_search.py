"""Where a token may get out to, as far as a test sees without leaving its process.

Rows, Redis, the log at DEBUG and those of processes beside it, mails, and every error that a call
raised, told as a report of errors tells it: with the variables of each frame of ours.
"""

from __future__ import annotations

import logging
import subprocess
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings
from django.core import mail
from django.db import connection

from proxyapi import calls
from proxyapi.credentials import token_vault
from proxyapi.models import Token
from proxyapi.rate_limiter import Permit
from proxyapi.upstream.reply import Reply
from proxyapi.upstream.secret import Secret
from tests.leaks import Canaries
from tests.proxyapi.money import in_process_sandbox
from tests.settings import TEST_DIR, WORKER

# What processes beside a test say, a file for each of them. A search empties them, so no other
# process of the run shares them.
LOGS = TEST_DIR / f"logs-{WORKER}"
PRODUCT_PATHS = ("/proxyapi/", "/dashboard/")
EXCLUDED_PATHS = ("/tests/", "/proxyapi/sandbox/")
READ = {
    b"string": lambda store, key: [store.get(key)],
    b"list": lambda store, key: store.lrange(key, 0, -1),
    b"set": lambda store, key: list(store.smembers(key)),
    b"hash": lambda store, key: [part for pair in store.hgetall(key).items() for part in pair],
    b"zset": lambda store, key: store.zrange(key, 0, -1),
    b"stream": lambda store, key: [repr(store.xrange(key)).encode()],
    b"none": lambda _, __: [],  # it expired since it was listed
}


class LogListener(logging.Handler):
    """Hears every line of the log before anything is struck out of it."""

    def __init__(self, canaries: Canaries) -> None:
        super().__init__(logging.DEBUG)
        self._canaries = canaries

    def emit(self, record: logging.LogRecord) -> None:
        said = f"{record.getMessage()} {vars(record)!r}"
        if record.exc_info and record.exc_info[1]:
            said += render_error_report(record.exc_info[1])
        self._canaries.scan(f"the log of {record.name.partition('.')[0]}", said)


def render_error_report(error: BaseException) -> str:
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    told.stack[:] = [frame for frame in told.stack if is_product_file(frame.filename)]
    return f"{error!r} {vars(error)!r}" + "".join(told.format())


def is_product_file(file: str) -> bool:
    return any(part in file for part in PRODUCT_PATHS) and not any(
        part in file for part in EXCLUDED_PATHS
    )


@contextmanager
def watch_tokens(patch: pytest.MonkeyPatch) -> Iterator[Canaries]:
    """Every token encrypted from now on in this process is a canary that is searched for."""
    canaries = Canaries()
    seal_in, send, root = token_vault.encrypt_token_into, calls.send_request, logging.getLogger()
    told = set[tuple[str, str, str]]()  # one error of a kind is told with its variables

    def planted(token: Token, secret: Secret) -> None:
        canaries.plant(secret.reveal())
        seal_in(token, secret)

    def heard(token: Token, name: str, grant: Permit, **parts: Any) -> Reply:
        try:
            reply = send(token, name, grant, **parts)
        except Exception as error:
            kind = (token.last_four, name, repr(error))
            if kind not in told:
                told.add(kind)
                canaries.scan("an error of a call and its variables", render_error_report(error))
            raise
        canaries.scan("an answer as the client gives it", repr(reply))
        return reply

    patch.setattr(token_vault, "encrypt_token_into", planted)
    patch.setattr(calls, "send_request", heard)
    listener, level = LogListener(canaries), root.level
    root.addHandler(listener)
    root.setLevel(logging.DEBUG)
    logging.getLogger("factory").setLevel(logging.INFO)  # the tests' own, and at length
    try:
        yield canaries
    finally:
        root.setLevel(level)
        root.removeHandler(listener)


@contextmanager
def searched_for_leaks(request: pytest.FixtureRequest) -> Iterator[Canaries]:
    """For a fixture of every test: what it leaves behind is heard while its rows are there.

    Where lives follow each other, so is what each of them leaves.
    """
    names = request.node.fixturenames
    request.getfixturevalue("transactional_db" if "transactional_db" in names else "db")
    emptied = in_process_sandbox.empty_tables
    with pytest.MonkeyPatch.context() as patch, watch_tokens(patch) as canaries:

        def heard_and_emptied() -> None:
            scan_all_stores(canaries)
            canaries.leaked_tokens()
            emptied()

        patch.setattr(in_process_sandbox, "empty_tables", heard_and_emptied)
        yield canaries
        scan_all_stores(canaries)


def scan_all_stores(canaries: Canaries) -> None:
    """Hear all that lies about now: tables, the file they are in, Redis, mails."""
    if not canaries.planted:
        return
    scan_tables(canaries)
    for path in LOGS.glob("*"):
        canaries.scan("the log of a process", path.read_bytes())
        path.write_bytes(b"")
    with redis.Redis.from_url(settings.REDIS_URL) as store:
        for key in store.scan_iter(count=1000):
            values = READ[store.type(key)](store, key)
            canaries.scan("a key of Redis", key)
            canaries.scan("a value in Redis", *(value for value in values if value is not None))
    for letter in getattr(mail, "outbox", []):
        canaries.scan("a mail", letter.message().as_bytes(), letter.subject, letter.body)


def scan_tables(canaries: Canaries) -> None:
    """Every column of every row, and on SQLite the bytes of the file, with what was deleted."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            for row in cursor.fetchall():
                canaries.scan(f"the table {table}", *map(as_bytes, row))
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        for path in map(Path, (name, f"{name}-wal")):
            if path.is_file():
                # Not by this process: closing the file would let go of SQLite's own locks on it.
                read = subprocess.run(["cat", path], capture_output=True, check=True)
                canaries.scan("the file of the database", read.stdout)


def as_bytes(value: Any) -> bytes:
    return bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
