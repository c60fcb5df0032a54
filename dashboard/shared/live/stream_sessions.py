"""The session, user and membership of a stream, and whether they are still valid."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from dashboard.models import Membership
from dashboard.shared.openid.session_teams import is_open_membership, single_sign_on_team_id
from dashboard.shared.second_factor import SecondFactor, load_second_factors
from dashboard.shared.team_security import find_team_security


class StreamSession(NamedTuple):
    tenant_id: UUID
    team_id: UUID
    user_id: int
    session_key: str


class StreamTicket(NamedTuple):
    """What is kept of the request that opened a stream."""

    session: StreamSession
    job_ids: frozenset[UUID]  # the videos whose pages the browser shows
    since: float  # from when on changes are wanted, in seconds since 1970
    watches_instance: bool = False  # for the operator's page of all teams


def expired_sessions(
    candidates: Collection[StreamSession], *, end_suspended: bool = False
) -> frozenset[StreamSession]:
    """Return the sessions that ended or do not open the team any more, and those of disabled users,
    removed members and members who lack a second factor that the team requires; two queries, and
    one for such a team.

    With `end_suspended` those of suspended teams too. A push leaves them, because it is what tells
    open pages of the suspension.
    """
    memberships = Membership.objects.filter(
        user_id__in={candidate.user_id for candidate in candidates}, user__is_active=True
    ).select_related("user", "team__security_settings", "team__single_sign_on")
    if end_suspended:
        memberships = memberships.filter(team__tenant__suspended_at=None)
    sessions = Session.objects.filter(
        session_key__in={candidate.session_key for candidate in candidates},
        expire_date__gt=timezone.now(),
    )
    contents = {row.session_key: row.get_decoded() for row in sessions}
    locked = locked_memberships(memberships)
    members = {(member.team_id, member.user_id): member for member in memberships}
    return frozenset(
        candidate
        for candidate in candidates
        if (member := members.get((candidate.team_id, candidate.user_id))) is None
        or not is_valid_session(
            contents.get(candidate.session_key, {}), member, is_locked=member.pk in locked
        )
    )


def is_valid_session(session: dict[str, Any], member: Membership, *, is_locked: bool) -> bool:
    """The hash changes with the password, which ends the user's other sessions. `is_locked`: the
    member lacks a second factor, for which only a provider can answer."""
    if is_locked and single_sign_on_team_id(session, member.user_id) is None:
        return False
    auth_hash = session.get(HASH_SESSION_KEY, "")
    is_same_password = constant_time_compare(auth_hash, member.user.get_session_auth_hash())
    return is_same_password and is_open_membership(session, member)


def locked_memberships(memberships: Iterable[Membership]) -> frozenset[int]:
    """Return the ids of those that lack a second factor which their team requires."""
    required = [row for row in memberships if find_team_security(row.team).require_two_factor]
    factors = load_second_factors({row.user_id for row in required}) if required else {}
    return frozenset(row.pk for row in required if factors[row.user_id] == SecondFactor.OFF)
