"""A budget: the credits that a member, the videos of a label, or the whole team may spend in a day,
a week or a month.

Credits count as soon as they are held. `soft` warns, `hard` refuses; at least one is set. A `hard`
limit of 0 refuses every charge. A raise adds to `hard` until its end, also while no worker runs.
The days are those of the team's time zone (`Tenant.zone`).
"""

from __future__ import annotations

import uuid
from datetime import datetime
from decimal import Decimal
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from dashboard.models.label import Label, VideoLabel, label_key
from dashboard.models.membership import Team
from proxyapi.models.account import CREDIT_FIELD_OPTIONS

OF_WHOLE_TEAM = Q(member=None, label=None)


class BudgetPeriod(models.TextChoices):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class BudgetQuerySet(models.QuerySet["Budget"]):
    def applying_to(
        self,
        team_id: uuid.UUID,
        user_id: int,
        job_id: uuid.UUID | None = None,
        label_name: str = "",
    ) -> Self:
        """Return the budgets that apply when this member spends, for a job or without one, or for
        one that gets the label of this name, in the order in which they are locked."""
        is_applicable = Q(member=user_id) | OF_WHOLE_TEAM
        if job_id is not None:
            labels = VideoLabel.objects.filter(job=job_id).values("label")
            is_applicable |= Q(label__in=labels)
        if label_name:
            # Not a join: PostgreSQL locks no row of the nullable side of one.
            named = Label.objects.filter(team=team_id, key=label_key(label_name)).values("pk")
            is_applicable |= Q(label__in=named)
        return self.filter(is_applicable, team=team_id, active=True).order_by("pk")


class Budget(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="budgets")
    member = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="budgets",
        help_text="Null means the whole team, or the label.",
    )
    label = models.ForeignKey(
        Label,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="budgets",
        help_text="Charges for videos with this label count, whoever makes them.",
    )
    period = models.CharField(max_length=5, choices=BudgetPeriod, default=BudgetPeriod.MONTH)
    soft = models.DecimalField(
        **CREDIT_FIELD_OPTIONS,
        null=True,
        blank=True,
        help_text="A warning is shown from this amount.",
    )
    hard = models.DecimalField(
        **CREDIT_FIELD_OPTIONS,
        null=True,
        blank=True,
        help_text="Charges above this amount are refused.",
    )
    raise_amount = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, null=True, blank=True, help_text="Added to `hard` until its end."
    )
    raise_until = models.DateTimeField(null=True, blank=True)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BudgetQuerySet.as_manager()

    class Meta:
        constraints = [
            # Several constraints, because NULL never equals NULL.
            models.UniqueConstraint(
                fields=["team", "member", "period"],
                condition=Q(member__isnull=False),
                name="budget_once_per_member_period",
            ),
            models.UniqueConstraint(
                fields=["team", "period"],
                condition=OF_WHOLE_TEAM,
                name="budget_once_for_team_period",
            ),
            models.UniqueConstraint(
                fields=["label", "period"],
                condition=Q(label__isnull=False),
                name="budget_once_per_label_period",
            ),
            models.CheckConstraint(
                condition=Q(member=None) | Q(label=None), name="budget_of_member_or_label"
            ),
            models.CheckConstraint(
                condition=Q(raise_amount=None, raise_until=None)
                | Q(
                    raise_amount__isnull=False,  # said, because a check that is null passes
                    raise_amount__gt=0,
                    raise_until__isnull=False,
                    hard__isnull=False,
                ),
                name="budget_raise_has_end",
            ),
            models.CheckConstraint(
                condition=Q(period__in=BudgetPeriod.values), name="budget_period_known"
            ),
            models.CheckConstraint(
                condition=Q(soft__isnull=False) | Q(hard__isnull=False), name="budget_has_a_limit"
            ),
            models.CheckConstraint(
                condition=Q(soft__isnull=True) | Q(soft__gt=0), name="budget_soft_positive"
            ),
            models.CheckConstraint(
                condition=Q(hard__isnull=True) | Q(hard__gte=0), name="budget_hard_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(soft__isnull=True) | Q(hard__isnull=True) | Q(hard__gte=F("soft")),
                name="budget_hard_not_below_soft",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.period} budget of {self.subject}"

    @property
    def subject(self) -> str:
        """Whose budget it is: "Priya Raman", "the label Acme" or "the whole team"."""
        if self.label_id:
            return f"the label {self.label}"
        return str(self.member) if self.member_id else "the whole team"

    def raised_by(self, at: datetime) -> Decimal:
        """Return the credits that a raise adds to the hard limit at this time."""
        is_raised = self.raise_until is not None and at < self.raise_until
        return self.raise_amount or Decimal(0) if is_raised else Decimal(0)

    @property
    def limits_version(self) -> str:
        """Return both limits, such as "2000/2500", and a raise, for a form to detect that they
        changed."""
        limits = (self.soft, self.hard, *((self.raise_amount,) if self.raise_amount else ()))
        return "/".join("" if limit is None else f"{limit.normalize():f}" for limit in limits)


class BudgetChange(models.Model):
    budget = models.ForeignKey(Budget, models.CASCADE, related_name="changes")
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    soft_before = models.DecimalField(**CREDIT_FIELD_OPTIONS, null=True, blank=True)
    hard_before = models.DecimalField(**CREDIT_FIELD_OPTIONS, null=True, blank=True)
    soft_after = models.DecimalField(**CREDIT_FIELD_OPTIONS, null=True, blank=True)
    hard_after = models.DecimalField(**CREDIT_FIELD_OPTIONS, null=True, blank=True)
    happened_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(soft_before__isnull=False)
                | models.Q(hard_before__isnull=False)
                | models.Q(soft_after__isnull=False)
                | models.Q(hard_after__isnull=False),
                name="budget_change_has_a_limit",
            ),
        ]

    def __str__(self) -> str:
        return f"change of {self.budget_id}"

    @property
    def is_addition(self) -> bool:
        return self.soft_before is None and self.hard_before is None

    @property
    def is_end(self) -> bool:
        return self.soft_after is None and self.hard_after is None


class NewMemberBudget(models.Model):
    """The budget that each new member of a team starts with."""

    team = models.OneToOneField(
        Team, models.CASCADE, primary_key=True, related_name="new_member_budget"
    )
    period = models.CharField(max_length=5, choices=BudgetPeriod, default=BudgetPeriod.MONTH)
    soft = models.DecimalField(**CREDIT_FIELD_OPTIONS, null=True, blank=True)
    hard = models.DecimalField(**CREDIT_FIELD_OPTIONS, null=True, blank=True)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return f"{self.period} budget of new members of {self.team_id}"

    @property
    def limits_version(self) -> str:
        """As that of the budget that a new member gets."""
        return f"{self.period}/{Budget(soft=self.soft, hard=self.hard).limits_version}"
