"""One accepted difference: a person reset the opening balance, with the reason."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from proxyapi.models.account import CREDIT_FIELD_OPTIONS, Account


class BalanceRebase(models.Model):
    account = models.ForeignKey(Account, models.CASCADE, related_name="rebases")
    member = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    difference = models.DecimalField(**CREDIT_FIELD_OPTIONS)
    reason = models.CharField(max_length=300)
    happened_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["account", "-happened_at"], name="balance_rebase_newest")]

    def __str__(self) -> str:
        return f"{self.difference} cr of {self.account_id} accepted"
