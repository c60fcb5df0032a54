"""The domains that a team accepts, and who is in the team with another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.email_domains import display_domain, is_address_allowed
from dashboard.shared.formatting import join_names
from dashboard.shared.team_security import find_team_security

ANY_DOMAIN = "Without a domain any address can be invited."
ONLY_THESE = (
    "Only addresses of these domains can be invited, or become the new address of a member."
)
MAX_SHOWN_ADDRESSES = 5


@dataclass(frozen=True, slots=True)
class AllowedDomain:
    stored: str
    shown: str


@dataclass(frozen=True, slots=True)
class JoiningCard:
    """`others`: what is said of members and invitations with another domain; "" without any."""

    domains: tuple[AllowedDomain, ...]
    rule: str
    others: str


def load_joining_card(reader: Membership) -> JoiningCard:
    """Two queries if there are domains, else none."""
    domains = find_team_security(reader.team).allowed_domains
    return JoiningCard(
        domains=tuple(AllowedDomain(domain, display_domain(domain)) for domain in domains),
        rule=ONLY_THESE if domains else ANY_DOMAIN,
        others=load_others_sentence(reader, domains) if domains else "",
    )


def load_others_sentence(reader: Membership, domains: Sequence[str]) -> str:
    emails = reader.team.memberships.values_list("user__email", flat=True)
    open_invitations = reader.team.invitations.pending().filter(expires_at__gt=timezone.now())
    invited = open_invitations.values_list("address", flat=True)
    members, invitations = (
        [address for address in addresses if not is_address_allowed(address, domains)]
        for addresses in (emails, invited)
    )
    parts = []
    if members:
        verb = "is a member and stays one" if len(members) == 1 else "are members and stay so"
        parts.append(f"{join_names(members, most=MAX_SHOWN_ADDRESSES)} {verb}.")
    if invitations:
        verb = "was invited before and can still join"
        if len(invitations) > 1:
            verb = "were invited before and can still join"
        parts.append(f"{join_names(invitations, most=MAX_SHOWN_ADDRESSES)} {verb}.")
    return " ".join(parts)
