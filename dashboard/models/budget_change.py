"""One change of a budget's limits: who made it, and both limits before and after it.

Both null before: the budget was added. Both null after: it was ended.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from dashboard.models.budget import Budget
from proxyapi.models.account import CREDIT_FIELD_OPTIONS


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
