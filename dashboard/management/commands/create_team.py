"""`manage.py create_team`: create a team and its owner on an installation without the demo."""

from __future__ import annotations

import secrets
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from dashboard.alerts import default_rules
from dashboard.management.commands.add_member import create_person
from dashboard.models import Membership, Role, Team, User
from dashboard.shared.text_validation import validate_line
from proxyapi.models import Tenant

MAX_TEAM_NAME_LENGTH = Team._meta.get_field("name").max_length or 0


class Command(BaseCommand):
    help = "Creates a team and its owner. The owner's password is printed once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("team", help="name of the team")
        parser.add_argument("email", help="e-mail address of the owner, to sign in with")
        parser.add_argument("name", help="name of the owner")

    @transaction.atomic
    def handle(self, *_: Any, team: str, email: str, name: str, **__: Any) -> None:
        is_taken = Team.objects.filter(name=team).exists()
        if not team.strip() or len(team) > MAX_TEAM_NAME_LENGTH or is_taken:
            raise CommandError(
                f"The team needs a unique name of at most {MAX_TEAM_NAME_LENGTH} characters."
            )
        try:
            validate_line(team)
        except ValidationError as error:
            raise CommandError(f"{team!a}: {error.messages[0]}") from error
        if User.objects.filter(email__iexact=email).exists():
            raise CommandError(f"{email} already has a user account.")
        password = secrets.token_urlsafe(15)
        owner = create_person(email, password, name)
        new_team = Team.objects.create(
            name=team, tenant=Tenant.objects.create(time_zone=settings.TIME_ZONE)
        )
        default_rules.create_default_rules(new_team)
        Membership.objects.create(team=new_team, user=owner, role=Role.OWNER)
        self.stdout.write(
            f"{name} owns {team} and signs in with {owner.email} and the password {password}"
        )
