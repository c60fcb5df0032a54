"""Sessions that end some time after their last use, and some time after sign-in
(dashboard/shared/session_limits.py).

`expire_date` of the row is that time. A use extends it by one UPDATE, at most every five minutes; a
cookie that lives longer is not accepted.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, cast

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from dashboard.shared.session_limits import (
    SIGNED_IN_AT_KEY,
    SessionLimits,
    default_session_limits,
    load_session_limits,
    session_end,
)

EXPIRY_UPDATE_INTERVAL = timedelta(minutes=5)


class SessionStore(DatabaseStore):
    """`SESSION_ENGINE`. Django requires this class name."""

    expires_at: datetime | None = None  # as last read from the row

    def load(self) -> dict[str, Any]:
        row = self._get_session_from_db()  # type: ignore[attr-defined]  # not in the stubs
        self.expires_at = row.expire_date if row else None
        return self.decode(row.session_data) if row else {}

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = cast(Session, super().create_model_instance(data))
        limits = default_session_limits()
        if user_id := data.get(SESSION_KEY):
            limits = load_session_limits([int(user_id)])[int(user_id)]
        row.expire_date = session_end(data.get(SIGNED_IN_AT_KEY), timezone.now(), limits)
        return row

    def extend_expiry(self, limits: SessionLimits) -> None:
        """Let the session end as long after this use as the limits say: later, or sooner if the
        user's limits became shorter. A session without `SIGNED_IN_AT_KEY` stays as it is."""
        if SIGNED_IN_AT_KEY not in self or self.expires_at is None:
            return
        end = session_end(self[SIGNED_IN_AT_KEY], timezone.now(), limits)
        if end < self.expires_at or end - self.expires_at >= EXPIRY_UPDATE_INTERVAL:
            Session.objects.filter(pk=self.session_key).update(expire_date=end)
