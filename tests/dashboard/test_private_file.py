"""A file of secrets: for its owner alone from the first byte on, and never half of it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from dashboard import private_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that others may read, of before."""
    path = tmp_path / "env"
    path.write_text("old")
    path.chmod(0o644)
    return path


def test_nobody_else_may_read_it_even_while_it_is_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda number: modes.append(os.fstat(number).st_mode))
    private_file.write_private_file(path, "new")
    assert path.read_text() == "new"
    assert [stat.S_IMODE(it) for it in (*modes, path.stat().st_mode)] == [0o600, 0o600]


def test_a_full_disk_leaves_what_was_there_and_does_not_hinder_the_next(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as writing, pytest.raises(OSError, match="No space left"):
        writing.setattr(os, "fsync", full)
        private_file.write_private_file(path, "new")
    assert path.read_text() == "old"
    assert private_file.write_private_file(path, "newer").read_text() == "newer"
    assert list(path.parent.iterdir()) == [path]
