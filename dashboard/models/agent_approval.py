"""What an agent asks for once: so many items up to an amount of credits, for so many hours.

A person approves it. Then charges of the agent that its allowance, its most for one charge or the
second-person rule refuse are written under the approval: each has an `AgentApprovalItem`, and
counts there instead of in the allowance.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from decimal import Decimal
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Count, Q, Sum
from django.utils import timezone

from proxyapi.models import ApiKey, Charge
from proxyapi.models.account import CREDIT_FIELD_OPTIONS, quantize_credits
from proxyapi.models.charge import CHARGED_STATES, HOLDING_STATES


class AgentDecision(models.TextChoices):
    APPROVED = "approved"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    ENDED = "ended"


class AgentApprovalQuerySet(models.QuerySet["AgentApproval"]):
    def open(self, now: datetime) -> Self:
        """Those that wait for a person, and the approved ones whose time is not over."""
        in_force = Q(decision=AgentDecision.APPROVED, expires_at__gt=now)
        return self.filter(Q(decision="") | in_force)

    def waiting(self) -> Self:
        """Those that wait for a person, of agents that were not ended."""
        return self.filter(decision="", key__revoked_at=None)

    def with_usage(self) -> Self:
        """With the items that were charged or are held, and their credits."""
        held, paid = (Q(items__charge__state__in=of) for of in (HOLDING_STATES, CHARGED_STATES))
        kept = Q(items__charge__refunded_at=None)
        return self.annotate(
            used_items=Count("items", filter=(held | paid) & kept),
            spent=Sum("items__charge__cost", filter=paid & kept),
            held=Sum("items__charge__hold", filter=held & kept),
        )


class AgentApproval(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.ForeignKey(ApiKey, models.CASCADE, related_name="approvals")
    item_count = models.PositiveSmallIntegerField()
    credits = models.DecimalField(**CREDIT_FIELD_OPTIONS, help_text="At most, for all items.")
    hours = models.PositiveSmallIntegerField(help_text="It is in force from its approval on.")
    reason = models.CharField(max_length=300, blank=True, help_text="In the words of the agent.")
    requested_at = models.DateTimeField(default=timezone.now)
    decision = models.CharField(max_length=9, choices=AgentDecision, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    objects = AgentApprovalQuerySet.as_manager()

    used_items: int
    spent: Decimal | None
    held: Decimal | None

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(decision__in=["", *AgentDecision.values]),
                name="agent_approval_decision_known",
            ),
            models.CheckConstraint(
                condition=Q(item_count__gt=0, credits__gt=0, hours__gt=0),
                name="agent_approval_asks_for_something",
            ),
            models.CheckConstraint(
                condition=~Q(decision=AgentDecision.APPROVED)
                | Q(decided_by__isnull=False, decided_at__isnull=False, expires_at__isnull=False),
                name="agent_approval_by_a_person_until",
            ),
            models.UniqueConstraint(
                fields=["key"], condition=Q(decision=""), name="agent_approval_one_waiting"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_count} items of {self.key_id}"

    @property
    def used_credits(self) -> Decimal:
        return quantize_credits(self.spent) + quantize_credits(self.held)

    @property
    def items_left(self) -> int:
        return max(self.item_count - self.used_items, 0)

    @property
    def credits_left(self) -> Decimal:
        return max(self.credits - self.used_credits, Decimal(0))

    def covers(self, hold: Decimal) -> bool:
        """Whether one more item that holds so many credits fits."""
        return self.items_left > 0 and hold <= self.credits_left

    @property
    def is_in_force(self) -> bool:
        until = self.expires_at
        return (
            self.decision == AgentDecision.APPROVED and until is not None and until > timezone.now()
        )


class AgentApprovalItem(models.Model):
    approval = models.ForeignKey(AgentApproval, models.CASCADE, related_name="items")
    charge = models.OneToOneField(Charge, models.CASCADE, related_name="approval_item")

    def __str__(self) -> str:
        return f"{self.charge_id} under {self.approval_id}"
