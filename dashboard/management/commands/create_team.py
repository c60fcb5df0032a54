"""`manage.py create_team`: create a team and its owner on an installation without the demo.

The first user of an installation becomes its operator, as at /setup/.
"""

from __future__ import annotations

import secrets
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from dashboard.instance.teams import create_team
from dashboard.management.commands.add_member import create_person
from dashboard.models import Membership, Role, User
from dashboard.models.email_address import address_key
from proxyapi.refusals import Refusal


class Command(BaseCommand):
    help = "Creates a team and its owner. The owner's password is printed once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("team", help="name of the team")
        parser.add_argument("email", help="e-mail address of the owner, to sign in with")
        parser.add_argument("name", help="name of the owner")

    @transaction.atomic
    def handle(self, *_: Any, team: str, email: str, name: str, **__: Any) -> None:
        try:
            new_team = create_team(team, settings.TIME_ZONE)
        except Refusal as refusal:
            raise CommandError(f"{team!a}: {refusal.sentence}") from None
        if User.objects.filter(email=address_key(email)).exists():
            raise CommandError(f"{email} already has a user account.")
        password, is_first = secrets.token_urlsafe(15), not User.objects.exists()
        owner = create_person(email, password, name)
        Membership.objects.create(team=new_team, user=owner, role=Role.OWNER)
        if is_first:
            owner.is_superuser = True
            owner.save(update_fields=["is_superuser"])
        self.stdout.write(
            f"{name} owns {team} and signs in with {owner.email} and the password {password}"
        )
