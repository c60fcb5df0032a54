"""Days of a ledger whose sums are older than its entries."""

from __future__ import annotations

from django.db import models

from proxyapi.models.account import Account


class StaleLedgerDay(models.Model):
    """Written in the transaction that changes entries of the day, deleted in the one that
    recomputes its sums: a worker that dies between the two loses nothing."""

    # No index of its own: that of the constraint begins with it.
    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    day = models.DateField(help_text="In the tenant's time zone when it was written.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "day"], name="stale_ledger_day_once")
        ]

    def __str__(self) -> str:
        return f"{self.day} of {self.account_id}"
