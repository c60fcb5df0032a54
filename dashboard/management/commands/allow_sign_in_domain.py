"""`manage.py allow_sign_in_domain TEAM DOMAIN`: let addresses of a domain lead from the sign-in
page to the single sign-on of a team."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from dashboard.management.commands.add_member import find_team_by_name
from dashboard.models import AuditAction, SignInDomain
from dashboard.shared.audit_log import record_audit_event, system_actor
from dashboard.shared.email_domains import parse_domain
from proxyapi.refusals import Refusal


class Command(BaseCommand):
    help = "Lets addresses of a domain lead from the sign-in page to a team's single sign-on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("team", help="name of the team")
        parser.add_argument("domain", help="check first that it is the team's")
        parser.add_argument("--revoke", action="store_true", help="end it")

    @transaction.atomic
    def handle(self, *_: Any, team: str, domain: str, revoke: bool, **__: Any) -> None:
        owner = find_team_by_name(team)
        try:
            name = parse_domain(domain)
        except Refusal as refusal:
            raise CommandError(f"{domain!a}: {refusal.sentence}") from None
        row = SignInDomain.objects.select_for_update().filter(domain=name).first()
        if row is not None and row.team_id != owner.pk:
            raise CommandError(f"{name} leads to {row.team}. Revoke that first, with --revoke.")
        if revoke == (row is None):
            self.stdout.write(f"{name} {'leads' if row else 'does not lead'} to {team} already.")
            return
        row.delete() if row else SignInDomain.objects.create(domain=name, team=owner)
        change = {"before" if revoke else "after": {"sign_in_domain": name}}
        actor = system_actor(owner, "manage.py allow_sign_in_domain")
        record_audit_event(actor, AuditAction.SINGLE_SIGN_ON_CHANGE, owner.pk, **change)
        verb = "no longer lead" if revoke else "lead"
        self.stdout.write(f"Addresses at {name} {verb} to the single sign-on of {team}.")
