"""`manage.py write_docs`: write docs/reference from the code; `--check` only compares."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dashboard.management.reference_docs import build_reference_pages


class Command(BaseCommand):
    help = "Writes the pages of docs/reference, which are generated from the code."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="write nothing; fail if a page is out of date"
        )

    def handle(self, *_: Any, check: bool, **__: Any) -> None:
        for name, text in build_reference_pages().items():
            path = settings.BASE_DIR / name
            if path.is_file() and path.read_text() == text:
                continue
            if check:
                raise CommandError(f"{name} is out of date. Run: make fix")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            self.stdout.write(f"{name} written")
