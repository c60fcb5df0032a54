"""What an account's ledger adds up to for one day of the vault's time zone, split as pages ask."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from proxyapi.models.account import CREDITS, Account


class DaySum(models.Model):
    """Made anew from the entries of its day whenever one of them comes or changes."""

    account = models.ForeignKey(Account, models.CASCADE, related_name="day_sums")
    day = models.DateField()
    member = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    operation = models.CharField(max_length=60, blank=True)
    label = models.CharField(max_length=200, blank=True)
    is_credit = models.BooleanField()
    via_api = models.BooleanField(null=True, blank=True)
    is_matched = models.BooleanField()
    amount = models.DecimalField(**CREDITS, help_text="Credits, signed.")
    entries = models.PositiveIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["account", "day"], name="day_sum_by_day"),
            models.Index(
                fields=[
                    *("account", "member", "day", "is_credit", "is_matched", "operation"),
                    *("label", "via_api", "amount", "entries"),
                ],
                name="day_sum_by_member",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.amount}"
