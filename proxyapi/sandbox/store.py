"""The world on disk: one SQLite table of rows as JSON, in WAL mode.

Every commit is one transaction that is in the operating system's hands before the request is
answered, so `kill -9` loses nothing that was answered. (A power cut may lose the last commits.)
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

Address = tuple[str, str]


class Store:
    def __init__(self, path: Path | str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS rows (kind TEXT, key TEXT, body TEXT NOT NULL,"
            " PRIMARY KEY (kind, key)) WITHOUT ROWID"
        )

    def read(self) -> dict[str, str]:
        """Every kind with a JSON array of its rows."""
        found: dict[str, list[str]] = defaultdict(list)
        for kind, body in self._db.execute("SELECT kind, body FROM rows"):
            found[kind].append(body)
        return {kind: f"[{','.join(bodies)}]" for kind, bodies in found.items()}

    def write(self, changes: Mapping[Address, str | None], *, clear: bool = False) -> None:
        """Save changed rows, and remove those whose body is None, in one transaction.

        With `clear` all other rows go in the same transaction.
        """
        gone = [address for address, body in changes.items() if body is None]
        kept = [(*address, body) for address, body in changes.items() if body is not None]
        self._db.execute("BEGIN IMMEDIATE")
        try:
            if clear:
                self._db.execute("DELETE FROM rows")
            self._db.executemany("DELETE FROM rows WHERE kind = ? AND key = ?", gone)
            self._db.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", kept)
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()
