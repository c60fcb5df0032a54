"""The sessions of some users: count them, end them, make them shorter. Open event streams of ended
ones end within seconds (dashboard/shared/live/stream_sessions.py)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from typing import NamedTuple

from allauth.usersessions.models import UserSession
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone

from dashboard.models import User
from dashboard.shared.session_limits import (
    SIGNED_IN_AT_KEY,
    SessionLimits,
    load_session_limits,
    session_end,
)


class OpenSession(NamedTuple):
    user_id: int
    row: Session
    signed_in_at: int | None  # seconds since 1970


def iter_user_sessions(user_ids: Collection[int]) -> Iterator[OpenSession]:
    """Yield the open sessions of these users. All sessions are decoded: rows name no user."""
    for row in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        data = row.get_decoded()
        user_id = int(data.get(SESSION_KEY, 0))
        if user_id in user_ids:
            yield OpenSession(user_id, row, data.get(SIGNED_IN_AT_KEY))


def delete_sessions(user: User, *, keep: str = "") -> int:
    """Sign the user out everywhere but in the session with the key `keep`; return how many sessions
    ended."""
    return delete_user_sessions({user.pk}, keep=keep)


def delete_user_sessions(user_ids: Collection[int], *, keep: str = "") -> int:
    """Sign these users out, but for the session with the key `keep`; return how many ended."""
    keys = [session.row.pk for session in iter_user_sessions(user_ids) if session.row.pk != keep]
    Session.objects.filter(pk__in=keys).delete()
    UserSession.objects.filter(user__in=user_ids).exclude(session_key=keep).delete()
    return len(keys)


def shorten_sessions(before: Mapping[int, SessionLimits]) -> None:
    """Let the present limits of these users count for their open sessions. `before`: their limits
    until now, from which the last use is known.

    None gets longer here: the next use does that.
    """
    present = load_session_limits(before)
    for user_id, row, signed_in_at in list(iter_user_sessions(before)):
        used_at = row.expire_date - timedelta(minutes=before[user_id].idle_minutes)
        end = session_end(signed_in_at, used_at, present[user_id])
        if end < row.expire_date:
            Session.objects.filter(pk=row.pk, expire_date__gt=end).update(expire_date=end)
