"""Files that hold secrets: for the owner of the machine's account alone, from the first byte on."""

from __future__ import annotations

import os
from pathlib import Path


def write_private_file(path: Path, text: str) -> Path:
    """As a whole or not at all; answers the path. Raises `OSError`."""
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return fresh.replace(path)
