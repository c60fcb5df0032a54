"""Sessions that end some time after their last use, and some time after sign-in
(dashboard/shared/session_limits.py).

`expire_date` of the row is that time. A use extends it by one UPDATE, at most every five minutes; a
cookie that lives longer is not accepted. What a person sees of their sessions is in allauth's
`UserSession`, which is written at sign-in and at a use, also at most every five minutes.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, cast

from allauth.usersessions.models import UserSession
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from dashboard.shared.session_limits import (
    SIGNED_IN_AT_KEY,
    SessionLimits,
    default_session_limits,
    load_session_limits,
    session_end,
)
from proxyapi.pruning import delete_in_batches

USE_UPDATE_INTERVAL = timedelta(minutes=5)


class SessionStore(DatabaseStore):
    """`SESSION_ENGINE`. Django requires this class name."""

    expires_at: datetime | None = None  # as last read from the row
    used_at: datetime | None = None  # as last read from the row of allauth

    def load(self) -> dict[str, Any]:
        details = UserSession.objects.filter(session_key=OuterRef("pk")).values("last_seen_at")
        current = Session.objects.filter(pk=self.session_key, expire_date__gt=timezone.now())
        row = current.annotate(used_at=Subquery(details)).first()
        if row is None:
            self._session_key = None
            return {}
        self.expires_at, self.used_at = row.expire_date, row.used_at
        return self.decode(row.session_data)

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = cast(Session, super().create_model_instance(data))
        limits = default_session_limits()
        if user_id := data.get(SESSION_KEY):
            limits = load_session_limits([int(user_id)])[int(user_id)]
        row.expire_date = session_end(data.get(SIGNED_IN_AT_KEY), timezone.now(), limits)
        return row

    def record_use(self, limits: SessionLimits) -> None:
        """Let the session end as long after this use as the limits say: later, or sooner if the
        user's limits became shorter. A session without `SIGNED_IN_AT_KEY` stays as it is."""
        if SIGNED_IN_AT_KEY not in self or self.expires_at is None:
            return
        now = timezone.now()
        end = session_end(self[SIGNED_IN_AT_KEY], now, limits)
        if end < self.expires_at or end - self.expires_at >= USE_UPDATE_INTERVAL:
            Session.objects.filter(pk=self.session_key).update(expire_date=end)
        if self.used_at and now - self.used_at >= USE_UPDATE_INTERVAL:
            details = UserSession.objects.filter(session_key=self.session_key)
            details.update(last_seen_at=now)


def prune_sessions() -> None:
    """Delete sessions that ended, and their details."""
    delete_in_batches(Session.objects.filter(expire_date__lt=timezone.now()))
    delete_in_batches(UserSession.objects.exclude(session_key__in=Session.objects.values("pk")))
