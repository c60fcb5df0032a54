"""`manage.py prepare`: prepare a start. It migrates, collects static files, recovers charges after
the database was restored, and creates the demo once, or else a set-up code while there is no user.

Each step does nothing if nothing is to do, so it runs before every start.
"""

from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from io import StringIO
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection

from dashboard.demo.demo_team import DemoParts
from dashboard.maintenance import backups, migration_executor
from dashboard.management.commands import seed_demo
from dashboard.models import User
from dashboard.monitoring import readiness
from dashboard.static_files import releases
from proxyapi.charges import recovery


class Command(BaseCommand):
    help = "Migrates, collects static files and, with the sandbox, creates the demo team."
    requires_system_checks: list[str] = []

    def handle(self, *_: Any, **__: Any) -> None:
        with ThreadPoolExecutor(max_workers=1) as executor:
            demo_parts = self.make_missing_demo_parts(executor)
            self.migrate()
            # A missing encryption key stops the start here instead of failing for each token later.
            call_command("check", databases=["default"], stdout=StringIO())
            self.collect()
            if readiness.check_redis():
                raise CommandError("Redis does not answer. Check REDIS_URL.")
            self.recover()
            if self.wants_demo():
                call_command("seed_demo", parts=demo_parts, stdout=self.stdout)
            elif not User.objects.exists():
                call_command("create_setup_code", stdout=self.stdout)

    def wants_demo(self) -> bool:
        return bool(settings.VIDEO_API_IS_SANDBOX) and settings.DEMO != "none"

    def make_missing_demo_parts(self, executor: Executor) -> Future[DemoParts] | None:
        """What the demo needs of the sandbox, made while a new database is migrated: nearly all of
        the work is that of the sandbox's process."""
        try:
            is_missing = self.wants_demo() and backups.is_database_empty()
        except OperationalError:  # `migrate` reports it
            return None
        return executor.submit(seed_demo.make_parts) if is_missing else None

    def migrate(self) -> None:
        try:
            if not migration_executor.is_migrated():
                self.stdout.write("Migrating the database.")
            migration_executor.migrate_with_retries()
        except migration_executor.MigrationBlockedError:
            raise CommandError(
                "A table to be migrated stayed locked, by a backup for example. "
                "Completed migrations are kept. Start again when the table is free."
            ) from None
        except migration_executor.UnreleasedSchemaError:
            raise CommandError(
                f"The database {connection.settings_dict['NAME']} was made by a version of "
                "Reelroom before its first release, and cannot be migrated to this version. "
                "Nothing was changed. Move it away, or set DATABASE_URL to an empty database, and "
                "start again."
            ) from None
        except OperationalError as error:
            raise CommandError(
                f"The database does not answer. Check DATABASE_URL: {error}"
            ) from None

    def recover(self) -> None:
        if report := recovery.recover_at_startup():
            self.stdout.write("\n".join(report.sentences()))

    def collect(self) -> None:
        if not releases.is_static_collected():
            self.stdout.write("Collecting static files.")
            releases.collect_static_files()
