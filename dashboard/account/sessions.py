"""Sessions that end SESSION_IDLE_MINUTES after their last use and SESSION_COOKIE_AGE after sign-in.

`expire_date` of the row is that time. A use extends it by one UPDATE, at most every five minutes; a
cookie that lives longer is not accepted. What a person sees of their sessions is in allauth's
`UserSession`, which is written at sign-in and at a use, also at most every five minutes.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db.models import OuterRef, Subquery
from django.utils import timezone

SIGNED_IN_AT_KEY = "signed_in_at"  # in the session, seconds since 1970
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
        row.expire_date = session_expiry(data.get(SIGNED_IN_AT_KEY))
        return row

    def record_use(self) -> None:
        """Extend the session after a use. A session without `SIGNED_IN_AT_KEY` is not extended."""
        if SIGNED_IN_AT_KEY not in self or self.expires_at is None:
            return
        now, end = timezone.now(), session_expiry(self[SIGNED_IN_AT_KEY])
        if end - self.expires_at >= USE_UPDATE_INTERVAL:
            Session.objects.filter(pk=self.session_key).update(expire_date=end)
        if self.used_at and now - self.used_at >= USE_UPDATE_INTERVAL:
            details = UserSession.objects.filter(session_key=self.session_key)
            details.update(last_seen_at=now)


def session_expiry(signed_in_at: int | None) -> datetime:
    """Return when a session that is used now ends if it is not used again."""
    now = timezone.now()
    signed_in = now if signed_in_at is None else datetime.fromtimestamp(signed_in_at, UTC)
    latest_end = signed_in + timedelta(seconds=settings.SESSION_COOKIE_AGE)
    return min(now + timedelta(minutes=settings.SESSION_IDLE_MINUTES), latest_end)


def prune_session_details() -> None:
    """Delete the details of sessions that ended."""
    UserSession.objects.exclude(session_key__in=Session.objects.values("pk")).delete()
