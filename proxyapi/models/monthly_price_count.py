"""How often an operation of an account cost how many credits in one month, and its estimate."""

from __future__ import annotations

from django.db import models

from proxyapi.models.account import CREDIT_FIELD_OPTIONS, Account


class MonthlyPriceCount(models.Model):
    """Settled charges that were not refunded, including free ones; one row for each price.

    `proxyapi/rollups/price_counts.py` counts them as charges settle: a team has few prices, however
    many charges.
    """

    # No index of its own: those of the table begin with this column.
    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    month = models.DateField(help_text="First day of the UTC month in which the charges were sent.")
    operation = models.CharField(max_length=60)
    type = models.CharField(
        max_length=60, blank=True, help_text="Type of the video, if the price depends on it."
    )
    quote = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, help_text="0 if no price was known before sending."
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
        # Covers the whole table: sums are computed without reading the rows.
        indexes = [
            models.Index(
                fields=["account", "month", "operation", "type", "quote", "cost", "times"],
                name="month_cost_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.operation} {self.cost}"
