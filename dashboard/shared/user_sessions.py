"""End the sessions of a person. Open event streams of them end within seconds
(dashboard/shared/live/stream_sessions.py)."""

from __future__ import annotations

from allauth.usersessions.models import UserSession
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session

from dashboard.models import User


def delete_sessions(user: User, *, keep: str = "") -> int:
    """Sign the user out everywhere but in the session with the key `keep`; return how many sessions
    ended."""
    sessions = Session.objects.exclude(pk=keep).iterator()
    session_keys = [
        session.pk for session in sessions if session.get_decoded().get(SESSION_KEY) == str(user.pk)
    ]
    Session.objects.filter(pk__in=session_keys).delete()
    UserSession.objects.filter(user=user).exclude(session_key=keep).delete()
    return len(session_keys)
