"""An approval request: a charge over a budget, or above what one person may charge, that waits for
a treasurer's or an owner's decision. The requester never decides it.

The charge is a draft with the price that was shown; it holds nothing and is not sent before it is
approved.
"""

from __future__ import annotations

import uuid
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.models.membership import Team
from proxyapi.models import Charge

MAX_APPROVAL_COMMENT_CHARS = 1000


class ApprovalDecision(models.TextChoices):
    APPROVED = "approved"
    DECLINED = "declined"
    STALE = "stale", "outdated"
    WITHDRAWN = "withdrawn"


class ApprovalRequestQuerySet(models.QuerySet["ApprovalRequest"]):
    def pending(self) -> Self:
        return self.filter(decision="").order_by("requested_at")


class ApprovalRequest(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="approval_requests")
    charge = models.OneToOneField(Charge, models.CASCADE, related_name="approval_request")
    member = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="approval_requests"
    )
    note = models.CharField(max_length=300, blank=True)
    second_person_above = models.DecimalField(
        max_digits=14,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="The team's rule that the charge exceeded when it was requested.",
    )
    requested_at = models.DateTimeField(default=timezone.now)
    decision = models.CharField(max_length=9, choices=ApprovalDecision, blank=True)
    answer = models.CharField(max_length=300, blank=True, help_text="Note of the approver.")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = ApprovalRequestQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(decision__in=["", *ApprovalDecision.values]),
                name="approval_request_decision_known",
            ),
            models.CheckConstraint(
                condition=Q(decision="", decided_by__isnull=True, decided_at__isnull=True)
                | (~Q(decision="") & Q(decided_by__isnull=False, decided_at__isnull=False)),
                name="approval_request_decided_by_a_person",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "requested_at"],
                condition=Q(decision=""),
                name="approval_request_waiting",
            ),
            models.Index(fields=["team", "-decided_at"], name="approval_request_decided"),
        ]

    def __str__(self) -> str:
        return f"{self.member} requests {self.charge_id}"

    @property
    def is_pending(self) -> bool:
        return not self.decision


class ApprovalComment(models.Model):
    """A comment of the requester or of an approver; written only while the request is pending."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    approval = models.ForeignKey(ApprovalRequest, models.CASCADE, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    text = models.CharField(max_length=MAX_APPROVAL_COMMENT_CHARS)
    written_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("written_at", "pk")
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="approval_comment_not_empty"),
        ]
        indexes = [models.Index(fields=["approval", "written_at"], name="approval_comment_order")]

    def __str__(self) -> str:
        return f"{self.author} on {self.approval_id}"
