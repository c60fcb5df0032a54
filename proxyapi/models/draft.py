"""A draft: the settings a person chose for a job, the part of them that the upstream has, and the
price.

A job that was not composed in the portal, such as one that a script creates, has none: the portal
never overwrites settings that a script sent.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from proxyapi.models.account import CREDIT_FIELD_OPTIONS
from proxyapi.models.job import Job

# In `sent_settings`, replaces a value whose request had no answer.
UNCONFIRMED_SETTING = {"in doubt": True}


class Draft(models.Model):
    job = models.OneToOneField(Job, models.CASCADE, primary_key=True, related_name="draft")
    # In the upstream's field names: what a person chose, and the part of it the upstream has.
    settings = models.JSONField(default=dict, blank=True)
    sent_settings = models.JSONField(default=dict, blank=True)
    estimate = models.DecimalField(**CREDIT_FIELD_OPTIONS, null=True, blank=True)
    estimate_as_of = models.DateTimeField(null=True, blank=True)
    quote_due_at = models.DateTimeField(
        null=True, blank=True, help_text="When to request the price again; null if none is pending."
    )
    quote_error = models.TextField(blank=True, help_text="Why there is no price; shown to users.")
    quote_fields = models.JSONField(
        null=True, blank=True, help_text="Errors of single settings in that response."
    )
    unanswered_creates = models.PositiveSmallIntegerField(
        default=0, help_text="Attempts to create it upstream that got no answer."
    )
    create_retry_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Earliest next attempt; each lost answer may have created a draft.",
    )
    edited_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(
                fields=["quote_due_at"],
                condition=Q(quote_due_at__isnull=False),
                name="draft_quote_due",
            ),
        ]

    def __str__(self) -> str:
        return f"draft of {self.job_id}"

    def unsent_settings(self) -> dict[str, Any]:
        """The settings the upstream does not have yet; never a whole form (pitfall 120)."""
        sent = self.sent_settings
        return {name: value for name, value in self.settings.items() if sent.get(name) != value}

    @property
    def has_current_estimate(self) -> bool:
        """Whether the stored estimate is for the current settings."""
        return self.estimate is not None and not self.unsent_settings()


def lock_draft(job: Job) -> Draft | None:
    """Lock and return the current draft of a job that the caller has locked; None without one.

    A query of its own, because a join with a row lock returns the draft from before the wait. The
    job is always locked before its draft, which prevents deadlocks.
    """
    draft = Draft.objects.select_for_update().filter(pk=job.pk).first()
    if draft is not None:
        draft.job = job
    return draft
