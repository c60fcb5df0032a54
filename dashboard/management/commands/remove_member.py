"""`manage.py remove_member`: remove a person from a team."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.management.commands.add_member import find_team_by_name
from dashboard.members.actions.removal import MemberRemoval, remove_member
from dashboard.models.email_address import address_key
from proxyapi.charges.recovery import recover_if_restored
from proxyapi.rate_limiter import RateLimiterUnavailable
from proxyapi.refusals import Refusal

MAX_TITLES_SHOWN = 5


class Command(BaseCommand):
    help = "Removes a person from a team, and their tokens in that team."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("team", help="name of the team")
        parser.add_argument("email", help="e-mail address of the person")

    def handle(self, *_: Any, team: str, email: str, **__: Any) -> None:
        memberships = find_team_by_name(team).memberships.select_related("user", "team")
        member = memberships.filter(user__email=address_key(email)).first()
        if member is None:
            self.stdout.write(f"{email} is not a member of {team}. Nothing was changed.")
            return
        try:
            # In a restored database, held charges may have been sent already.
            recover_if_restored()
            removal = remove_member(member)
        except RateLimiterUnavailable:
            raise CommandError("Redis does not answer. Nothing was changed.") from None
        except Refusal as refusal:
            raise CommandError(refusal.sentence) from None
        for sentence in member_removal_report(
            f"{member.user.name} ({member.user.email})", team, removal
        ):
            self.stdout.write(sentence)


def member_removal_report(who: str, team: str, removal: MemberRemoval) -> list[str]:
    """Sentences on what was ended and what continues."""
    access = "stays in their other teams" if removal.has_other_team else "can no longer sign in"
    sentences = [f"{who} is no longer a member of {team} and {access}."]
    counts = {
        "tokens removed": removal.tokens,
        "API keys revoked": removal.keys,
        "approval requests withdrawn": removal.requests,
        "unsent charges cancelled, nothing charged": removal.cancelled,
        "drafts moved to a colleague's token": removal.moved_drafts,
    }
    sentences += [
        f"{label[0].upper()}{label[1:]}: {count}." for label, count in counts.items() if count
    ]
    if removal.unsettled:
        sentences.append(
            "Charges sent whose outcome is still unknown: "
            f"{removal.unsettled}. They will be settled."
        )
    if removal.rendering:
        shown = ", ".join(f"“{title}”" for title in removal.rendering[:MAX_TITLES_SHOWN])
        hidden_count = len(removal.rendering) - MAX_TITLES_SHOWN
        more_text = f" and {hidden_count} more" if hidden_count > 0 else ""
        rendering_text = "Still rendering at the service, no longer polled without their token"
        sentences.append(f"{rendering_text}: {shown}{more_text}.")
    return sentences
