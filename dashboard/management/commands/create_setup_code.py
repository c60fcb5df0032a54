"""`manage.py create_setup_code`: print a new code for the set-up of an installation."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dashboard.setup.actions import create_setup_code
from proxyapi.refusals import Refusal


class Command(BaseCommand):
    help = "Prints a new one-time code for /setup/. The code before it ends."

    def handle(self, *_: Any, **__: Any) -> None:
        try:
            code = create_setup_code()
        except Refusal as refusal:
            raise CommandError(refusal.sentence) from None
        self.stdout.write(
            f"There is no user yet. Open {settings.PORTAL_URL}/setup/ and enter the set-up code "
            f"{code}. It works once, for a day, until the next start."
        )
