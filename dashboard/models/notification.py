"""What a person is told of, and where: a preference of theirs in all their teams."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class NotificationKind(models.TextChoices):
    VIDEO_DONE = "video_done", "My video is done"
    VIDEO_FAILED = "video_failed", "My video failed"
    RENDER_NOT_SENT = "render_not_sent", "A planned render of mine was not sent"
    BATCH_ENDED = "batch_ended", "A batch of mine ended or stopped"
    SERIES_PAUSED = "series_paused", "A series of mine paused by itself"
    REQUEST_ANSWERED = "request_answered", "My request was answered"
    TOKEN_STOPPED = "token_stopped", "A token of mine stopped working"
    MONTHLY_REPORT = "monthly_report", "The monthly report of a team"


class NotificationPreference(models.Model):
    """A choice that a person made for one kind; without a row the kind's default applies."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="notification_preferences"
    )
    kind = models.CharField(max_length=16, choices=NotificationKind)
    in_portal = models.BooleanField()
    by_email = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "kind"], name="notification_preference_once"),
            models.CheckConstraint(
                condition=Q(kind__in=NotificationKind.values),
                name="notification_preference_kind_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.kind}"
