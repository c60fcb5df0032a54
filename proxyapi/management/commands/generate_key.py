"""`manage.py generate_key`: a new key for ENCRYPTION_KEYS."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from proxyapi.credentials import encryption


class Command(BaseCommand):
    help = (
        "Prints a new encryption key as `name:key`. Put it first in ENCRYPTION_KEYS and keep the "
        "old ones."
    )
    requires_system_checks: list[str] = []  # it is the remedy for the check that fails

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", default="k1", help="name of the key, default k1")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{options['name']}:{encryption.generate_encryption_key()}")
