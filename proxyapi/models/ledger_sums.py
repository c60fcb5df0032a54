"""Sums of an account's ledger by day and month, in tables with more and more group columns.

`proxyapi/rollups/daily_totals.py` recomputes them when an entry of a day is added or changed. The
fewer group columns a table has, the fewer rows it has: with hundreds of members the finest one has
nearly as many rows a day as the ledger. All indexes begin with the account, whose foreign key
therefore has none of its own, and most cover the whole table, so that years are summed from the
index alone.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from proxyapi.models.account import CREDIT_FIELD_OPTIONS, Account

# `is_matched`: a charge or an imported job explains the entries.
COMMON_COLUMNS = ("account", "day", "is_credit", "is_matched", "via_api")
SUMMED_COLUMNS = ("amount", "entries")
MONTHLY_GROUP_COLUMNS = ("operation", "is_credit", "is_matched")


class DailyRollup(models.Model):
    """The sum of some of an account's ledger entries of one day in the tenant's time zone."""

    GROUP_COLUMNS: ClassVar[tuple[str, ...]] = ()

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
    other_columns = (name for name in COMMON_COLUMNS if name not in ("account", *first))
    return models.Index(fields=["account", *first, *other_columns, *SUMMED_COLUMNS], name=name)


class DailyTotal(DailyRollup):
    """A few rows a day, however many entries it has."""

    class Meta:
        indexes = [covering_index("day_flow_whole", "day")]


class DailyTotalByOperation(DailyRollup):
    GROUP_COLUMNS: ClassVar[tuple[str, ...]] = ("operation",)

    operation = models.CharField(max_length=60, blank=True)

    class Meta:
        indexes = [
            covering_index("day_feature_whole", "day", "operation"),
            covering_index("day_feature_by_name", "operation", "day"),
        ]


class DailyTotalByMember(DailyRollup):
    """Rows without a member are spend that is not matched to a charge."""

    GROUP_COLUMNS: ClassVar[tuple[str, ...]] = ("member",)

    member = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        indexes = [
            covering_index("day_member_whole", "day", "member"),
            covering_index("day_member_by_member", "member", "day"),
        ]


class DailyTotalByLabel(DailyRollup):
    GROUP_COLUMNS: ClassVar[tuple[str, ...]] = ("operation", "label")

    operation = models.CharField(max_length=60, blank=True)
    label = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [
            covering_index("day_total_by_day", "day", "operation", "label"),
            covering_index("day_total_by_label", "label", "day", "operation"),
        ]


class DailyTotalByContentType(DailyRollup):
    """A few rows a day, also where the service writes another label into each entry."""

    GROUP_COLUMNS: ClassVar[tuple[str, ...]] = ("operation", "content_type")

    operation = models.CharField(max_length=60, blank=True)
    content_type = models.CharField(max_length=100, blank=True)

    class Meta:
        indexes = [
            covering_index("day_type_whole", "day", "operation", "content_type"),
            covering_index("day_type_by_name", "content_type", "day", "operation"),
        ]


class DailyBreakdown(DailyRollup):
    """Grouped by every column that pages filter by."""

    GROUP_COLUMNS: ClassVar[tuple[str, ...]] = ("member", "operation", "label", "content_type")

    member = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    operation = models.CharField(max_length=60, blank=True)
    label = models.CharField(max_length=200, blank=True)
    content_type = models.CharField(max_length=100, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["account", "day"], name="day_sum_by_day"),
            # The day follows the member: otherwise SQLite uses another index and scans every row.
            covering_index(
                *("day_sum_of_member", "member", "day", "operation", "label", "content_type")
            ),
        ]


class MonthlyTotalByOperation(models.Model):
    """The sum of a month's rows of `DailyTotalByOperation`: five years are 2,400 rows instead of
    73,000.

    While all sums are recomputed in another time zone, those of a day may be newer.
    """

    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    month = models.DateField(help_text="First day of the month, in the tenant's time zone.")
    operation = models.CharField(max_length=60, blank=True)
    is_credit = models.BooleanField()
    is_matched = models.BooleanField()
    amount = models.DecimalField(**CREDIT_FIELD_OPTIONS, help_text="Credits, signed.")
    entries = models.PositiveIntegerField()

    class Meta:
        indexes = [
            models.Index(
                fields=["account", "month", *MONTHLY_GROUP_COLUMNS, *SUMMED_COLUMNS],
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


class StaleLedgerDay(models.Model):
    """A day whose sums are older than its entries. Written in the transaction that changes the
    day's entries, deleted in the one that recomputes its sums, so that no change is lost if a
    worker dies between the two."""

    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    day = models.DateField(help_text="In the tenant's time zone at the time of writing.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "day"], name="stale_ledger_day_once")
        ]

    def __str__(self) -> str:
        return f"{self.day} of {self.account_id}"
