"""`manage.py backup FILE`: back up the database while the portal runs (docs/backup.md)."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.maintenance import backups


class Command(BaseCommand):
    help = "Writes a backup of the database to a file. It does not contain the encryption keys."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="file to write, such as monday.zip")
        parser.add_argument("--replace", action="store_true", help="overwrite an existing file")

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
                f"Its tokens can be decrypted only with the encryption keys {names}, "
                "which are not in the file. Keep ENCRYPTION_KEYS in another place."
            )
