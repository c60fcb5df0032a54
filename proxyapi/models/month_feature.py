"""What went out of an account and what came in in one month, by feature.

Of years a page adds up a few hundred of these instead of tens of thousands of days.
"""

from __future__ import annotations

from django.db import models

from proxyapi.models.account import CREDITS, Account

COLUMNS = ("operation", "is_credit", "is_matched")


class MonthFeature(models.Model):
    """What the rows of `DayFeature` of that month add up to (proxyapi/day_sums.py); while all sums
    wait to be made anew in another zone, those of a day that was made anew may be ahead of it."""

    # No index of its own: those of the table begin with it.
    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    month = models.DateField(help_text="Its first day; months are of the vault's time zone.")
    operation = models.CharField(max_length=60, blank=True)
    is_credit = models.BooleanField()
    is_matched = models.BooleanField()
    amount = models.DecimalField(**CREDITS, help_text="Credits, signed.")
    entries = models.PositiveIntegerField()

    class Meta:
        indexes = [
            models.Index(
                fields=["account", "month", *COLUMNS, "amount", "entries"],
                name="month_feature_whole",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["account", "month", *COLUMNS], name="month_feature_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.operation} {self.amount}"
