"""`manage.py restore FILE`: replace the database by a backup (docs/backup.md)."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from dashboard.maintenance import backups, migration_executor


class Command(BaseCommand):
    help = (
        "Restores the database from a backup, migrates it, and recovers the charges sent since the "
        "backup, so that none is sent twice. Stop Reelroom first."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="file written by `manage.py backup`")
        parser.add_argument(
            "--replace", action="store_true", help="replace a database that contains teams"
        )

    def handle(self, *_: Any, file: Path, replace: bool, **__: Any) -> None:
        try:
            manifest = backups.read_manifest(file.absolute())
            backups.check_not_in_use()
            if not backups.is_database_empty() and not replace:
                raise CommandError(
                    "The database contains teams. Add --replace to replace it with the backup."
                )
            previous_file = backups.restore_backup(file.absolute())
        except backups.BackupError as error:
            raise CommandError(f"Nothing was restored. {error}") from None
        self.stdout.write(f"Restored the database as of {manifest.taken_at}.")
        if previous_file:
            self.stdout.write(f"The previous file is kept as {previous_file}.")
        migration_executor.migrate_with_retries()
        call_command("recover_charges", stdout=self.stdout)
