"""`manage.py reset_second_factor`: remove the second factors of a person who lost them."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.members.actions.second_factor import reset_second_factor_by_command
from dashboard.models import User
from dashboard.models.email_address import address_key
from proxyapi.refusals import Refusal


class Command(BaseCommand):
    help = (
        "Removes the authenticator app, passkeys and recovery codes of a person and signs them out "
        "everywhere. Owners and admins do it on the members page for people of their team alone."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="e-mail address of the person")

    def handle(self, *_: Any, email: str, **__: Any) -> None:
        user = User.objects.filter(email=address_key(email)).first()
        if user is None:
            raise CommandError(f"Nobody has the address {email}. Nothing was changed.")
        try:
            reset_second_factor_by_command(user)
        except Refusal as refusal:
            raise CommandError(refusal.sentence) from None
        self.stdout.write(f"{user.name} ({user.email}) signs in with the password alone now.")
