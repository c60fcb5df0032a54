"""Where a person is signed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.usersessions.models import UserSession
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from dashboard.account.authentication_methods import authentication_method
from dashboard.account.queries.devices import Device, describe_device
from dashboard.models import User
from dashboard.shared.session_limits import SIGNED_IN_AT_KEY


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: int
    device: Device
    method: str
    client_ip: str
    signed_in_at: datetime
    used_at: datetime
    is_current: bool


def load_session_rows(
    user: User, current_key: str, passkey_names: dict[int, str]
) -> tuple[SessionRow, ...]:
    """Return the sessions that still sign the user in, the current one first, then by last use. Two
    queries."""
    details = {row.session_key: row for row in UserSession.objects.filter(user=user)}
    stored = Session.objects.filter(pk__in=details, expire_date__gt=timezone.now())
    rows = []
    for session in stored:
        data = session.get_decoded()
        if is_session_valid(data, user):
            rows.append(build_session_row(details[session.pk], data, current_key, passkey_names))
    rows.sort(key=lambda row: (row.is_current, row.used_at), reverse=True)
    return tuple(rows)


def is_session_valid(data: dict[str, Any], user: User) -> bool:
    """Return False for a session from before the password was changed."""
    return constant_time_compare(data.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())


def build_session_row(
    row: UserSession, data: dict[str, Any], current_key: str, passkey_names: dict[int, str]
) -> SessionRow:
    signed_in_at = data.get(SIGNED_IN_AT_KEY)
    records = data.get(AUTHENTICATION_METHODS_SESSION_KEY, [])
    return SessionRow(
        id=row.pk,
        device=describe_device(row.user_agent),
        method=authentication_method(records, passkey_names),
        client_ip=row.ip,
        signed_in_at=datetime.fromtimestamp(signed_in_at, UTC) if signed_in_at else row.created_at,
        used_at=row.last_seen_at,
        is_current=row.session_key == current_key,
    )
