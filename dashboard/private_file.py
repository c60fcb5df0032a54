"""Files that hold secrets: only their owner can read them, from the first byte on."""

from __future__ import annotations

import os
from pathlib import Path


def write_private_file(path: Path, text: str) -> Path:
    """Write the file atomically and return its path. Raises `OSError`."""
    new_path = path.with_suffix(".new")
    new_path.unlink(missing_ok=True)
    with os.fdopen(os.open(new_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return new_path.replace(path)
