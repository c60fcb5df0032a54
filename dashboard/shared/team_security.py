"""What a team demands of how its people sign in, and whether a member meets it."""

from __future__ import annotations

from django.core.exceptions import ObjectDoesNotExist

from dashboard.models import Membership, Team, TeamSecurity, User
from dashboard.shared.email_domains import display_domain, is_address_allowed
from dashboard.shared.formatting import join_names
from dashboard.shared.second_factor import has_second_factor
from proxyapi.refusals import Refusal

# Of the notice to a member without a second factor; the security page finds the last one by it.
TWO_FACTOR_NOTICE_TITLE = "Set up two-factor"
TWO_FACTOR_SETUP_URL = "/account/#two-factor"
DOMAIN_NOT_ALLOWED = "{address}: {team} only accepts addresses at {domains}."


def find_team_security(team: Team) -> TeamSecurity:
    """Return the team's row, or the defaults as one that is not saved."""
    try:
        return team.security_settings
    except ObjectDoesNotExist:
        return TeamSecurity(team=team)


def is_second_factor_missing(membership: Membership) -> bool:
    """Whether the team requires a second factor that the member has not set up. One query if it is
    required, else none when the membership was loaded with the row."""
    security = find_team_security(membership.team)
    return security.require_two_factor and not has_second_factor(membership.user)


def check_address_allowed(team: Team, address: str) -> None:
    """Raise `Refusal` if the team does not accept addresses of this domain."""
    domains = find_team_security(team).allowed_domains
    if not is_address_allowed(address, domains):
        names = join_names([display_domain(domain) for domain in domains], word="or")
        raise Refusal(DOMAIN_NOT_ALLOWED.format(address=address, team=team, domains=names))


def check_new_address_allowed(user: User, address: str) -> None:
    """Raise `Refusal` if one of the user's teams does not accept this new address of theirs."""
    teams = Team.objects.filter(memberships__user=user).select_related("security_settings")
    for team in teams.order_by("memberships__joined_at", "pk"):
        check_address_allowed(team, address)
