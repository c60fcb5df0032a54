"""The session, user and membership of a stream, and whether they are still valid."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from dashboard.models import Membership


class StreamSession(NamedTuple):
    tenant_id: UUID
    team_id: UUID
    user_id: int
    session_key: str


class StreamTicket(NamedTuple):
    """What is kept of the request that opened a stream."""

    session: StreamSession
    job_id: UUID | None  # the video whose page it is
    since: float  # from when on changes are wanted, in seconds since 1970


def expired_sessions(
    candidates: Collection[StreamSession], *, end_suspended: bool = False
) -> frozenset[StreamSession]:
    """Return the sessions that ended, and those of disabled users or removed members; two queries.

    With `end_suspended` those of suspended teams too. A push leaves them, because it is what tells
    open pages of the suspension.
    """
    memberships = Membership.objects.filter(
        user_id__in={candidate.user_id for candidate in candidates}, user__is_active=True
    ).select_related("user")
    if end_suspended:
        memberships = memberships.filter(team__tenant__suspended_at=None)
    sessions = Session.objects.filter(
        session_key__in={candidate.session_key for candidate in candidates},
        expire_date__gt=timezone.now(),
    )
    hashes = {row.session_key: row.get_decoded().get(HASH_SESSION_KEY, "") for row in sessions}
    members = {(member.team_id, member.user_id): member.user for member in memberships}
    return frozenset(
        candidate
        for candidate in candidates
        if (user := members.get((candidate.team_id, candidate.user_id))) is None
        # The hash changes with the password, which ends the user's other sessions.
        or not constant_time_compare(
            hashes.get(candidate.session_key, ""), user.get_session_auth_hash()
        )
    )
