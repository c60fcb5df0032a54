"""One row of the mirrored credit ledger, identified by (account, position) (law 4)."""

from __future__ import annotations

from django.db import models

from proxyapi.models.account import CREDITS, Account
from proxyapi.models.charge import Charge


class Entry(models.Model):
    account = models.ForeignKey(Account, models.CASCADE, related_name="entries")
    position = models.PositiveIntegerField(
        help_text="Place in the ledger read in ascending order, from 0."
    )
    label = models.CharField(max_length=200, blank=True)
    content_type = models.CharField(max_length=100, blank=True)
    credit_spend = models.CharField(max_length=40, help_text="The upstream's own signed string.")
    amount = models.DecimalField(**CREDITS)
    transaction_type = models.CharField(max_length=40, blank=True)
    happened_at = models.DateTimeField()
    charge = models.ForeignKey(
        Charge, models.SET_NULL, null=True, blank=True, related_name="entries"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "position"], name="entry_once_per_position"),
        ]
        indexes = [models.Index(fields=["account", "-happened_at"])]

    def __str__(self) -> str:
        return f"{self.credit_spend} {self.label}"
