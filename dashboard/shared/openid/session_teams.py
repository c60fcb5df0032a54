"""Which teams a session opens.

Whoever controls the provider of a team can sign in as any of its members. So a session that began
with the single sign-on of a team opens that team alone: otherwise the provider of one team would
open the other teams of its members. A team that requires single sign-on is opened by such a session
only, except for its owners, who keep a way in if the provider is down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from dashboard.models import Membership, Role, SingleSignOn, User

OUTLIVES_SESSION = (
    "You signed in with your team’s single sign-on, which opens that team alone. To change your "
    "name or how you sign in everywhere, sign in with your password; “Forgot password?” on the "
    "sign-in page sets one."
)
# What such a session may still do of the routes of one's own account.
OPEN_ACCOUNT_VIEW_NAMES = frozenset(
    {
        "account",  # shows it
        "account-notifications",  # which mails come; those about the account itself always do
        "account_logout",
        "confirmations",  # that it is them, for an action of the team
        "passkey-options",
    }
)
ACCOUNT_PATHS = ("/accounts/", "/account/")
SINGLE_SIGN_ON_METHOD = "socialaccount"  # in allauth's records of an authentication
SINGLE_SIGN_ON_SESSION_KEY = "single_sign_on"  # the team's id and the user's, as text


def mark_single_sign_on_session(request: HttpRequest, membership: Membership) -> None:
    """Let the session open this team alone. Call it before the sign-in."""
    request.session[SINGLE_SIGN_ON_SESSION_KEY] = [
        str(membership.team_id),
        str(membership.user_id),
    ]


def single_sign_on_team_id(session: Mapping[str, Any], user_id: int) -> UUID | None:
    """Return the team whose single sign-on this user passed in the session."""
    team_id, marked_user_id = session.get(SINGLE_SIGN_ON_SESSION_KEY) or ("", "")
    return UUID(team_id) if team_id and marked_user_id == str(user_id) else None


def account_change_obstacle(session: Mapping[str, Any], user_id: int) -> str:
    """Return why nothing of the person may be changed in this session, else "".

    App, passkeys, address, password, name and sessions are the person's in all their teams and
    outlive the session, which may be that of whoever controls the provider: with an app of theirs
    they would lock the person out everywhere.
    """
    return OUTLIVES_SESSION if single_sign_on_team_id(session, user_id) else ""


def may_change_account(request: HttpRequest) -> bool:
    """The gate before every route of one's own account that needs a sign-in: a new one is closed to
    sessions of a single sign-on until it is named in `OPEN_ACCOUNT_VIEW_NAMES`."""
    match = request.resolver_match
    return (
        not request.path.startswith(ACCOUNT_PATHS)
        or (match is not None and match.url_name in OPEN_ACCOUNT_VIEW_NAMES)
        or not account_change_obstacle(request.session, request.user.pk or 0)
    )


def find_session_provider(session: Mapping[str, Any], user_id: int) -> SingleSignOn | None:
    """Return the single sign-on that the session of this user began with, if it is still there."""
    team_id = single_sign_on_team_id(session, user_id)
    if team_id is None:
        return None
    rows = SingleSignOn.objects.filter(team_id=team_id, secrets__is_current=True)
    return rows.select_related("team").first()


def open_memberships(session: Mapping[str, Any], user_id: int) -> QuerySet[Membership]:
    """Return the memberships of the user that the session opens."""
    memberships = Membership.objects.filter(user_id=user_id)
    if team_id := single_sign_on_team_id(session, user_id):
        return memberships.filter(team_id=team_id)
    return memberships.filter(
        Q(role=Role.OWNER)
        | Q(team__single_sign_on__isnull=True)
        | Q(team__single_sign_on__is_required=False)
    )


def is_open_membership(session: Mapping[str, Any], membership: Membership) -> bool:
    """The same for one membership, whose `team__single_sign_on` was read with it."""
    if team_id := single_sign_on_team_id(session, membership.user_id):
        return membership.team_id == team_id
    single_sign_on = getattr(membership.team, "single_sign_on", None)
    is_required = single_sign_on is not None and single_sign_on.is_required
    return membership.role == Role.OWNER or not is_required


def find_required_single_sign_on(session: Mapping[str, Any], user: User) -> SingleSignOn | None:
    """Return the single sign-on that the user has to pass first; None if the session opens a team
    of theirs, or they have none."""
    if open_memberships(session, user.pk).exists():
        return None
    required = SingleSignOn.objects.filter(is_required=True, team__memberships__user=user)
    return required.select_related("team").order_by("created_at").first()


def bypassed_memberships(session: Mapping[str, Any], user: User) -> list[Membership]:
    """Return the memberships of an owner in teams that require single sign-on of the others, if
    the session began in another way."""
    if single_sign_on_team_id(session, user.pk):
        return []
    owned = Membership.objects.filter(user=user, role=Role.OWNER)
    owned = owned.filter(team__single_sign_on__is_required=True)
    return list(owned.select_related("team", "user"))
