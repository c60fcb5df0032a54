"""An SQLite database with every migration applied, made once and copied: 3.5 processor seconds less
for each process that needs one.

It lies in pytest's cache, under a name by what makes its tables. Who copies it migrates all the
same, which finds nothing to do.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".pytest_cache/v/reelroom"
# Beside the migrations: their operations, the apps and options, the packages' own migrations.
MADE_OF = ("proxyapi/migration_operations.py", "dashboard/settings.py", "requirements.lock")


def copy_migrated_database(path: Path) -> None:
    """Make a database with all tables and no team at `path`."""
    sources = [*(ROOT / name for name in MADE_OF), *sorted(ROOT.glob("*/migrations/*.py"))]
    text = b"\0".join(source.read_bytes() for source in sources)
    kept = CACHE / f"migrated-{hashlib.sha256(text).hexdigest()[:16]}.sqlite3"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process makes it, the others need it
        if not kept.exists():
            for outdated in CACHE.glob("migrated-*"):
                outdated.unlink()
            make_migrated_database(kept)
    shutil.copyfile(kept, path)
    path.chmod(0o600)


def make_migrated_database(path: Path) -> None:
    with TemporaryDirectory(dir=path.parent) as folder:
        settings = {"DJANGO_SETTINGS_MODULE": "tests.settings", "REELROOM_TEST_DIR": folder}
        environ = {**os.environ, **settings, "TEST_DATABASE": "", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "django", "migrate", "--verbosity=0"]
        subprocess.run(command, cwd=ROOT, env=environ, check=True)
        made = Path(folder, "site.sqlite3")
        with closing(sqlite3.connect(made)) as database:  # else a part of it is in its WAL
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        made.replace(path)
