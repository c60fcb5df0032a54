"""Scripts of a draft that would otherwise be lost: each that was paid for, and texts of members
that another script replaced.

The draft holds the current script (`settings["script"]`); a version is never changed or deleted.
"""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from proxyapi.models.charge import Charge
from proxyapi.models.draft import Draft
from proxyapi.models.job import Job


class ScriptOrigin(models.TextChoices):
    SERVICE = "service"  # written by the service from a topic
    PAGE = "page"  # written by the service from a web page
    MEMBER = "member"  # the text of a member


class ScriptVersionQuerySet(models.QuerySet["ScriptVersion"]):
    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-pk")

    def keep_current_script(self, draft: Draft) -> None:
        """Keep the draft's script, which is about to be replaced, unless it is kept already. The
        caller has locked the draft."""
        text = draft.settings.get("script")
        job = draft.job
        if not isinstance(text, str) or not text.strip():
            return
        if not self.filter(job=job, text=text).exists():
            self.create(job=job, origin=ScriptOrigin.MEMBER, text=text)

    def keep_paid_script(self, job: Job, charge: Charge, text: str) -> None:
        """Keep a script that the service wrote, once for each charge."""
        is_from_page = charge.operation.endswith("scrape_script")
        origin = ScriptOrigin.PAGE if is_from_page else ScriptOrigin.SERVICE
        fields = {"job": job, "origin": origin, "text": text, "member_id": charge.member_id}
        self.get_or_create(charge=charge, defaults=fields)


class ScriptVersion(models.Model):
    job = models.ForeignKey(Job, models.CASCADE, related_name="script_versions")
    origin = models.CharField(max_length=7, choices=ScriptOrigin)
    text = models.TextField()
    charge = models.OneToOneField(
        Charge,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="script_version",
        help_text="The charge that paid for it; null for the text of a member.",
    )
    member = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Who requested it; unknown for the text of a member.",
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = ScriptVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(origin__in=ScriptOrigin.values), name="script_origin_known"
            ),
            models.CheckConstraint(
                condition=~Q(origin="member") | Q(charge=None), name="script_of_member_is_free"
            ),
            models.CheckConstraint(condition=~Q(text=""), name="script_not_empty"),
        ]

    def __str__(self) -> str:
        return f"script of {self.job_id} from {self.created_at:%Y-%m-%d %H:%M}"
