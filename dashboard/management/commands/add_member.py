"""`manage.py add_member`: add a person to a team."""

from __future__ import annotations

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from dashboard.models import Membership, Role, Team, User
from dashboard.models.email_address import address_key
from dashboard.shared.new_members import give_new_member_budget
from dashboard.shared.text_validation import validate_line


class Command(BaseCommand):
    help = "Adds a person to a team. A new person's password is printed once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("team", help="name of the team")
        parser.add_argument("email", help="e-mail address to sign in with")
        parser.add_argument("name", help="name of the person")
        parser.add_argument(
            "--role", choices=Role.values, default=Role.PRODUCER, help="default: producer"
        )

    @transaction.atomic
    def handle(self, *_: Any, team: str, email: str, name: str, role: str, **__: Any) -> None:
        joined_team, existing_user = (
            find_team_by_name(team),
            User.objects.filter(email=address_key(email)).first(),
        )
        memberships = Membership.with_deactivated.filter(team=joined_team, user=existing_user)
        if existing_user and (existing := memberships.first()):
            state = "deactivated in" if existing.deactivated_at else "already a member of"
            raise CommandError(f"{email} is {state} {team}.")
        password = secrets.token_urlsafe(15)
        user = existing_user or create_person(email, password, name)
        if not user.is_active:  # deactivated when removed from their last team
            user.is_active = True
            user.save(update_fields=["is_active"])
        member = Membership.objects.create(team=joined_team, user=user, role=role)
        give_new_member_budget(member)
        sign_in_text = (
            "as before" if existing_user else f"with {user.email} and the password {password}"
        )
        self.stdout.write(
            f"{user.name} is now a member of {team} with the role {role} "
            f"and signs in {sign_in_text}"
        )


def find_team_by_name(name: str) -> Team:
    teams = list(Team.objects.filter(name=name))
    if len(teams) != 1:
        raise CommandError(f"Found {len(teams)} teams named {name}; exactly one is needed.")
    return teams[0]


def create_person(email: str, password: str, name: str) -> User:
    if not name.strip():
        raise CommandError(f"{email} needs a name.")
    try:
        User(email=address_key(email), name=name).clean_fields(exclude=["password"])
        validate_line(name)
    except ValidationError as error:
        reason = " ".join(error.messages)
        raise CommandError(f"{name!a}, {email}: {reason}") from error
    return User.objects.create_user(email, password, name=name)
