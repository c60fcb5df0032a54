"""What a stream was opened with, and whether it still holds: session, person, membership."""

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
    """All that is kept of the request that opened a stream."""

    session: StreamSession
    job_id: UUID | None  # the video whose page it is
    since: float  # from when on the page wants to know, in seconds since 1970


def expired_sessions(tickets: Collection[StreamSession]) -> frozenset[StreamSession]:
    """Those of signed-out, disabled or removed people, and of sessions that ended; two queries."""
    memberships = Membership.objects.filter(
        user_id__in={ticket.user_id for ticket in tickets}, user__is_active=True
    ).select_related("user")
    sessions = Session.objects.filter(
        session_key__in={ticket.session_key for ticket in tickets}, expire_date__gt=timezone.now()
    )
    hashes = {row.session_key: row.get_decoded().get(HASH_SESSION_KEY, "") for row in sessions}
    members = {(one.team_id, one.user_id): one.user for one in memberships}
    return frozenset(
        ticket
        for ticket in tickets
        if (user := members.get((ticket.team_id, ticket.user_id))) is None
        # The hash changes with the password: that ends the other sessions of a person.
        or not constant_time_compare(
            hashes.get(ticket.session_key, ""), user.get_session_auth_hash()
        )
    )
