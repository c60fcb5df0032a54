"""`manage.py recover_charges`: settle what was sent since a backup that was restored by hand."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from proxyapi.charges import recovery
from proxyapi.rate_limiter import RateLimiterUnavailable


class Command(BaseCommand):
    help = (
        "Compares the database with the charge log and restores missing charges. Each "
        "start does the same; running it again is safe."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--doubt-all",
            action="store_true",
            help="the charge log was reset as well (a snapshot of the whole machine): "
            "check every pending charge with the service before anything is sent",
        )

    def handle(self, *_: Any, doubt_all: bool, **__: Any) -> None:
        try:
            report = (
                recovery.recover_charges(doubt_all=True)
                if doubt_all
                else recovery.recover_at_startup()
            )
        except RateLimiterUnavailable:
            self.stdout.write(
                "Redis does not answer. Charges sent since the backup are recovered at the next "
                "start."
            )
            return
        sentences = report.sentences() if report else ["The database has every charge in the log."]
        for sentence in sentences:
            self.stdout.write(sentence)
