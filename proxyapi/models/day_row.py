"""What the tables of a ledger's days share: whose day, which way, whether it was ours, how much.

Each of them splits a day by some columns besides (`SPLIT`); the fewer, the fewer rows it has.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from proxyapi.models.account import CREDITS, Account

COMMON = ("account", "day", "is_credit", "is_matched", "via_api")
SUMMED = ("amount", "entries")


class DayRow(models.Model):
    """What some of an account's entries of one day add up to, in the vault's time zone.

    Made anew from the entries whenever one of that day comes or changes (proxyapi/day_sums.py).
    """

    SPLIT: ClassVar[tuple[str, ...]] = ()

    # No index of its own: those of the tables begin with it.
    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    is_credit = models.BooleanField()
    is_matched = models.BooleanField()
    via_api = models.BooleanField(null=True, blank=True)
    amount = models.DecimalField(**CREDITS, help_text="Credits, signed.")
    entries = models.PositiveIntegerField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.day} {self.amount}"


def whole(name: str, *first: str) -> models.Index:
    """An index that holds a table whole: years are added up without a look at the rows."""
    rest = (name for name in COMMON if name not in ("account", *first))
    return models.Index(fields=["account", *first, *rest, *SUMMED], name=name)
