"""`manage.py prepare`: what a start needs. Migrates, collects static files, makes the demo once.

Each part does nothing when there is nothing to do, so it runs before every start.
"""

from __future__ import annotations

import hashlib
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from dashboard.queries import health


class Command(BaseCommand):
    help = "Migrates, collects static files and, with the sandbox, makes the demo team."
    requires_system_checks: list[str] = []

    def handle(self, *_: Any, **__: Any) -> None:
        self.migrate()
        # A missing sealing key stops the start here, instead of failing for each token later.
        call_command("check", databases=["default"], stdout=StringIO())
        self.collect()
        if health.broker():
            raise CommandError("Redis does not answer. Check REDIS_URL.")
        if settings.VIDEO_API_IS_SANDBOX:
            call_command("seed_demo", stdout=self.stdout)

    def migrate(self) -> None:
        try:
            if not health.is_migrated():
                self.stdout.write("Migrating the database.")
                call_command("migrate", interactive=False, verbosity=0)
        except OperationalError as error:
            raise CommandError(
                f"The database does not answer. Check DATABASE_URL: {error}"
            ) from None

    def collect(self) -> None:
        """Collect again only when a source is new, gone or different."""
        stamp: Path = settings.VAR / "static.stamp"
        now = fingerprint()
        if stamp.is_file() and stamp.read_text() == now and settings.STATIC_ROOT.is_dir():
            return
        self.stdout.write("Collecting static files.")
        call_command("collectstatic", interactive=False, clear=True, verbosity=0)
        stamp.write_text(now)


def fingerprint() -> str:
    """Of every source file: its place, its size, its time."""
    seen = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            status = Path(storage.path(name)).stat()
            seen.update(f"{storage.path(name)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return seen.hexdigest()
