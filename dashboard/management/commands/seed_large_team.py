"""`manage.py seed_large_team`: create a team with a million ledger rows, for measurements."""

from __future__ import annotations

import secrets
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dashboard.demo.large_team.build import ARCHIVE_TEAM_NAME, SeedSize, seed_team
from dashboard.models import User
from dashboard.models.email_address import address_key


class Command(BaseCommand):
    help = (
        "Adds a generated team with years of ledger rows, jobs and members. Only with the sandbox."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        for name, number in SeedSize()._asdict().items():
            parser.add_argument(f"--{name}", type=int, default=number, help=f"default {number:,}")
        parser.add_argument("--seed", type=int, default=7, help="random seed, default 7")
        parser.add_argument(
            "--owner", default="", help="e-mail address of an existing person who becomes the owner"
        )

    def handle(self, *_: Any, seed: int, owner: str, **options: Any) -> None:
        if not settings.VIDEO_API_IS_SANDBOX:
            raise CommandError("This writes generated ledger rows and runs only with the sandbox.")
        size = SeedSize(**{name: options[name] for name in SeedSize._fields})
        if min(size) < 1:
            raise CommandError("Every number must be at least 1.")
        self.stdout.write(
            f"Adding the team {ARCHIVE_TEAM_NAME} with {size.entries:,} ledger rows, "
            f"{size.jobs:,} jobs and "
            f"{size.members:,} members over {size.days:,} days. Other teams are not changed."
        )
        started = time.monotonic()
        seed_team(size, self.find_or_create_owner(owner), seed)
        self.stdout.write(f"Done in {time.monotonic() - started:.0f} s.")

    def find_or_create_owner(self, email: str) -> User:
        if email:
            existing_user = User.objects.filter(email=address_key(email)).first()
            if existing_user is None:
                raise CommandError(f"There is no person with the e-mail address {email}.")
            return existing_user
        password, number = secrets.token_urlsafe(12), secrets.token_hex(4)
        user = User.objects.create_user(
            f"ada.{number}@archive.example", password, name="Ada Archer"
        )
        self.stdout.write(
            f"{user.name} owns it and signs in with {user.email} and the password {password}"
        )
        return user
