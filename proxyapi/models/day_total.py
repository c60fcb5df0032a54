"""The sums of one day of an account's ledger without the members: few rows, however many people.

With hundreds of members a day of `DaySum` has nearly as many rows as the ledger; what a page asks
of the whole team is answered from here.
"""

from __future__ import annotations

from django.db import models

from proxyapi.models.account import CREDITS, Account


class DayTotal(models.Model):
    """Made anew together with the `DaySum` rows of its day."""

    account = models.ForeignKey(Account, models.CASCADE, related_name="day_totals")
    day = models.DateField()
    operation = models.CharField(max_length=60, blank=True)
    label = models.CharField(max_length=200, blank=True)
    is_credit = models.BooleanField()
    via_api = models.BooleanField(null=True, blank=True)
    is_matched = models.BooleanField()
    amount = models.DecimalField(**CREDITS, help_text="Credits, signed.")
    entries = models.PositiveIntegerField()

    class Meta:
        # Everything that sums ask for: years are added up without a look at the table.
        indexes = [
            models.Index(
                fields=[
                    *("account", "day", "is_credit", "is_matched", "operation", "label"),
                    *("via_api", "amount", "entries"),
                ],
                name="day_total_whole",
            )
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.amount}"
