"""Connections to the database that a test's threads leave open.

On SQLite the next test finds the file in use; PostgreSQL does not drop a database with one.
"""

from __future__ import annotations

from threading import current_thread, main_thread
from typing import Any
from weakref import WeakKeyDictionary

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

_threads: WeakKeyDictionary[BaseDatabaseWrapper, str] = WeakKeyDictionary()


def watch_connections() -> None:
    """From now on note who opens one."""
    connection_created.connect(note_connection)


def note_connection(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    if current_thread() is not main_thread():
        _threads[connection] = current_thread().name


def close_connections_of_threads() -> list[str]:
    """Close those to the tests' database; return the names of the threads that opened them."""
    database = connection.settings_dict["NAME"]
    opened = {one: name for one, name in _threads.items() if one.connection is not None}
    found = {one: name for one, name in opened.items() if one.settings_dict["NAME"] == database}
    for one in found:
        one.inc_thread_sharing()
        one.close()
    _threads.clear()
    return sorted(set(found.values()))
