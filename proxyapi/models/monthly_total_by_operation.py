"""What went out of an account and what came in in one month, by feature.

Of years a page adds up a few hundred of these instead of tens of thousands of days.
"""

from __future__ import annotations

from django.db import models

from proxyapi.models.account import CREDIT_FIELD_OPTIONS, Account

MONTHLY_GROUP_COLUMNS = ("operation", "is_credit", "is_matched")


class MonthlyTotalByOperation(models.Model):
    """The sum of that month's rows of `DailyTotalByOperation` (`proxyapi/rollups/daily_totals.py`).

    While all sums wait to be recomputed in another time zone, those of a day may be ahead of it.
    """

    # No index of its own: those of the table begin with it.
    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    month = models.DateField(help_text="Its first day; months are of the tenant's time zone.")
    operation = models.CharField(max_length=60, blank=True)
    is_credit = models.BooleanField()
    is_matched = models.BooleanField()
    amount = models.DecimalField(**CREDIT_FIELD_OPTIONS, help_text="Credits, signed.")
    entries = models.PositiveIntegerField()

    class Meta:
        indexes = [
            models.Index(
                fields=["account", "month", *MONTHLY_GROUP_COLUMNS, "amount", "entries"],
                name="month_feature_whole",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["account", "month", *MONTHLY_GROUP_COLUMNS], name="month_feature_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.operation} {self.amount}"
