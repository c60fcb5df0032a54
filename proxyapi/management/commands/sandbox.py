"""`manage.py sandbox`: what `python -m proxyapi.sandbox` does, with the same options."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from proxyapi.sandbox import server


class Command(BaseCommand):
    help = "Serves the sandbox of the upstream API, by default on 127.0.0.1."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        server.add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            server.serve(
                port=options["port"],
                db=options["db"],
                media_dir=options["media_dir"],
                seed=options["seed"],
                clock_mode=options["clock"],
                host=options["host"],
                public_url=options["public_url"],
                dialect=options["dialect"],
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
