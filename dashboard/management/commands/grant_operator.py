"""`manage.py grant_operator`: let a person operate the installation: the page of all teams."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.models import User
from dashboard.models.email_address import address_key


class Command(BaseCommand):
    help = "Lets a person see all teams of the installation, create and suspend teams."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="e-mail address of the person")
        parser.add_argument("--revoke", action="store_true", help="end it")

    def handle(self, *_: Any, email: str, revoke: bool, **__: Any) -> None:
        users = User.objects.filter(email=address_key(email))
        if not users.update(is_superuser=not revoke):
            raise CommandError(f"Nobody has the address {email}.")
        verb = "is no longer an operator" if revoke else "is an operator"
        self.stdout.write(f"{users.get()} {verb} of this installation.")
