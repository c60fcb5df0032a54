"""`manage.py create_key`: create an API key, and print it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management.base import BaseCommand, CommandError

from dashboard.api_keys.actions import check_name_is_free, create_api_key
from dashboard.models import Membership
from dashboard.models.email_address import address_key
from dashboard.shared.audit_log import system_actor
from dashboard.shared.text_validation import validate_line
from dashboard.tokens.actions import add_member_token
from proxyapi.models import ApiKey, KeyScope
from proxyapi.rate_limiter import RateLimiterUnavailable
from proxyapi.refusals import Refusal
from proxyapi.upstream.secret import Secret

ALL_SCOPES, FROM_INPUT = "all", "-"
MAX_NAME_CHARS = ApiKey._meta.get_field("name").max_length or 0


class Command(BaseCommand):
    help = "Creates an API key for a member and prints the key alone on standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="e-mail address of the member")
        parser.add_argument("--name", required=True, help="name of the key")
        parser.add_argument(
            "--scopes",
            required=True,
            help=f"{ALL_SCOPES}, or some of {', '.join(KeyScope.values)}, separated by commas",
        )
        parser.add_argument(
            "--upstream-token",
            choices=[FROM_INPUT],
            help="read a token of the service from standard input, add it, and run the key on it",
        )
        parser.add_argument("--team", help="name of the team, for a member of several")

    def handle(self, *_: Any, email: str, name: str, scopes: str, **options: Any) -> None:
        member = find_member(email, options["team"])
        actor = system_actor(member.team, "manage.py create_key")
        token = None
        try:
            chosen, name = parse_scopes(scopes), clean_name(name)
            check_name_is_free(member, name)
            if options["upstream_token"]:
                pasted = Secret(sys.stdin.read())
                token = add_member_token(by=member, pasted=pasted, name=name, recorded_as=actor)
            new = create_api_key(
                by=member, name=name, scopes=chosen, token=token, recorded_as=actor
            )
        except Refusal as refusal:
            raise CommandError(refusal.sentence) from None
        except PermissionDenied as denied:
            role = member.get_role_display().lower()
            raise CommandError(f"{member.user.email} is a {role} of the team. {denied}") from None
        except RateLimiterUnavailable:
            raise CommandError("Redis does not answer. Nothing was created.") from None
        self.stdout.write(new.value)


def find_member(email: str, team: str | None) -> Membership:
    members = Membership.objects.filter(user__email=address_key(email), user__is_active=True)
    if team is not None:
        members = members.filter(team__name=team)
    found = list(members.select_related("user", "team__tenant"))
    where = f"of a team named {team}" if team is not None else "of a team"
    if not found:
        raise CommandError(f"{email} is no member {where}.")
    if len(found) > 1:
        names = ", ".join(sorted(member.team.name for member in found))
        raise CommandError(f"{email} is a member of several teams. Give one by --team: {names}.")
    return found[0]


def parse_scopes(text: str) -> list[KeyScope]:
    if text.strip() == ALL_SCOPES:
        return list(KeyScope)
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in KeyScope.values]
    if unknown or not names:
        what = f"There is no scope named {unknown[0]}." if unknown else "A key needs a scope."
        raise CommandError(f"{what} Give {ALL_SCOPES}, or some of {', '.join(KeyScope.values)}.")
    return [KeyScope(name) for name in names]


def clean_name(text: str) -> str:
    name = " ".join(text.split())
    try:
        validate_line(name)
    except ValidationError as error:
        raise CommandError(f"The name cannot be used. {' '.join(error.messages)}") from None
    if not name or len(name) > MAX_NAME_CHARS:
        raise CommandError(f"A key needs a name of 1 to {MAX_NAME_CHARS} characters.")
    return name
