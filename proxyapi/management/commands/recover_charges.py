"""`manage.py recover_charges`: settle what was sent since a backup that was restored by hand."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from proxyapi.charges import recovery
from proxyapi.rate_limiter import RateLimiterUnavailable


class Command(BaseCommand):
    help = (
        "Compares the database with the charge log and restores the charges that it lost. Each "
        "start does the same by itself; it may run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--doubt-all",
            action="store_true",
            help="the charge log went back in time, too (a snapshot of the whole machine): "
            "read back all that waits to be sent before anything is sent",
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
                "Redis does not answer. What was sent since the backup is looked up at the next "
                "start."
            )
            return
        sentences = report.sentences() if report else ["The database has every charge of the log."]
        for sentence in sentences:
            self.stdout.write(sentence)
