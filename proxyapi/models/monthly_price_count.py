"""How often a use of an account took how many credits in one month, and what its estimate was."""

from __future__ import annotations

from django.db import models

from proxyapi.models.account import CREDIT_FIELD_OPTIONS, Account


class MonthlyPriceCount(models.Model):
    """Charges that took credits, or were free, and were not refunded; of one price a row.

    `proxyapi/rollups/price_counts.py` counts them as charges settle: a team has few prices, however
    many charges.
    """

    # No index of its own: those of the table begin with it.
    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    month = models.DateField(help_text="Its first day; months are of UTC, by the time of sending.")
    operation = models.CharField(max_length=60)
    type = models.CharField(
        max_length=60, blank=True, help_text="The video's, where the price hangs on it."
    )
    quote = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, help_text="0 where no price was told before."
    )
    cost = models.DecimalField(**CREDIT_FIELD_OPTIONS)
    times = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "month", "operation", "type", "quote", "cost"],
                name="month_cost_once",
            ),
        ]
        # Holds the table whole: it is added up without a look at the rows.
        indexes = [
            models.Index(
                fields=["account", "month", "operation", "type", "quote", "cost", "times"],
                name="month_cost_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.operation} {self.cost}"
