"""`manage.py backup FILE`: back up the database while the portal runs (docs/backup.md)."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.maintenance import backups


class Command(BaseCommand):
    help = "Writes a backup of the database to a file. The sealing keys are not in it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="where to write it, such as monday.zip")
        parser.add_argument("--replace", action="store_true", help="write over a file of that name")

    def handle(self, *_: Any, file: Path, replace: bool, **__: Any) -> None:
        if file.exists() and not replace:
            raise CommandError(f"{file} exists. Choose another name, or add --replace.")
        try:
            manifest = backups.create_backup(file.absolute())
        except backups.BackupError as error:
            raise CommandError(f"No backup was made. {error}") from None
        size = file.stat().st_size / 1024**2
        self.stdout.write(f"{file}: {size:.1f} MiB, as of {manifest.taken_at}.")
        if manifest.keys:
            names = ", ".join(manifest.keys)
            self.stdout.write(
                f"Its tokens open only with the sealing keys {names}. They are not in the file: "
                "keep ENCRYPTION_KEYS in another place."
            )
