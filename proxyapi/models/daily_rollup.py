"""What the tables of a ledger's days share: whose day, which way, whether it was ours, how much.

Each of them splits a day by some columns besides (`SPLIT`); the fewer, the fewer rows it has.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from proxyapi.models.account import CREDIT_FIELD_OPTIONS, Account

COMMON_COLUMNS = ("account", "day", "is_credit", "is_matched", "via_api")
SUMMED_COLUMNS = ("amount", "entries")


class DailyRollup(models.Model):
    """The sum of some of an account's ledger entries of one day in the tenant's time zone.

    `proxyapi/rollups/daily_totals.py` recomputes it when an entry of that day is added or changed.
    """

    GROUP_COLUMNS: ClassVar[tuple[str, ...]] = ()

    # No index of its own: those of the tables begin with it.
    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    is_credit = models.BooleanField()
    is_matched = models.BooleanField()
    via_api = models.BooleanField(null=True, blank=True)
    amount = models.DecimalField(**CREDIT_FIELD_OPTIONS, help_text="Credits, signed.")
    entries = models.PositiveIntegerField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.day} {self.amount}"


def covering_index(name: str, *first: str) -> models.Index:
    """An index that holds a table whole: years are added up without a look at the rows."""
    rest = (name for name in COMMON_COLUMNS if name not in ("account", *first))
    return models.Index(fields=["account", *first, *rest, *SUMMED_COLUMNS], name=name)
