"""Require a second factor of every member, and remind those who lack one."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, Membership, User
from dashboard.security.actions.row import lock_team_security, save_team_security
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last
from dashboard.shared.notices import notify_users
from dashboard.shared.roles import Permission
from dashboard.shared.second_factor import SecondFactor, has_second_factor, load_second_factors
from dashboard.shared.team_security import TWO_FACTOR_NOTICE_TITLE, TWO_FACTOR_SETUP_URL
from proxyapi.refusals import Refusal

OWN_FACTOR_FIRST = (
    "Not changed. Set up two-factor for yourself first: you would be locked out as well."
)
HAS_SECOND_FACTOR = "{name} has set up two-factor already."
REMINDER_TEXT = (
    "{name} asks you to set up two-factor for {team}: an authenticator app or a passkey."
)
REQUIRED_TEXT = (
    "{name} requires two-factor for {team}. Set up an authenticator app or a passkey; until then "
    "the team’s pages are closed to you."
)


@transaction.atomic
@append_audit_rows_last()
def set_two_factor_requirement(*, by: Membership, is_required: bool) -> bool:
    """Require a second factor of every member, or stop to; return False if nothing changed.

    Members without one are led to its set-up at their next request, and are notified. Raises
    PermissionDenied, and `Refusal` if `by` lacks one.
    """
    row = lock_team_security(by)
    if is_required and not has_second_factor(by.user):
        raise Refusal(OWN_FACTOR_FIRST)
    if row.require_two_factor == is_required:
        return False
    row.require_two_factor = is_required
    row.two_factor_required_at = timezone.now() if is_required else None
    save_team_security(by, row, AuditAction.TEAM_TWO_FACTOR)
    if is_required:
        text = REQUIRED_TEXT.format(name=by.user, team=by.team)
        notify_of_two_factor(by, users_without_second_factor(by), text)
    return True


@transaction.atomic
def remind_of_two_factor(*, by: Membership, member: Membership) -> None:
    """Notify the member, in the portal and by e-mail. Raises PermissionDenied, and `Refusal` if
    they have a second factor."""
    check_permission(by, Permission.MANAGE_SECURITY)
    if has_second_factor(member.user):
        raise Refusal(HAS_SECOND_FACTOR.format(name=member.user))
    text = REMINDER_TEXT.format(name=by.user, team=by.team)
    notify_of_two_factor(by, [member.user], text)


def users_without_second_factor(by: Membership) -> list[User]:
    users = [row.user for row in by.team.memberships.select_related("user")]
    factors = load_second_factors(user.pk for user in users)
    return [user for user in users if factors[user.pk] == SecondFactor.OFF]


def notify_of_two_factor(by: Membership, users: list[User], text: str) -> None:
    notify_users(by.team, users, title=TWO_FACTOR_NOTICE_TITLE, text=text, url=TWO_FACTOR_SETUP_URL)
