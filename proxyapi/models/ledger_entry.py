"""One row of the mirrored credit ledger, identified by (account, position) (rule 4).

The upstream's raw values are stored unchanged, beside the charge that the row is matched to, a
confidence and a reason. The member, job and operation are copied from the charge, so that pages
filter a million rows by them without a join. A debit without a charge that names an imported job
has that job and its member (`ledger/imported_debits.py`).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, ExpressionWrapper, OuterRef, Q, Subquery, Value
from django.db.models.functions import Greatest
from django.db.models.lookups import LessThanOrEqual

from proxyapi.models.account import CREDIT_FIELD_OPTIONS, Account, is_shared_with_another_team
from proxyapi.models.charge import Charge
from proxyapi.models.job import Job


class MatchConfidence(models.TextChoices):
    CERTAIN = "certain"  # exact amount, one possible charge
    LIKELY = "likely"  # exact amount, but one of several equal charges, or outside its time
    WEAK = "weak"  # similar amount


# Neither a charge nor an imported job explains it; of debits: spent outside the portal.
IS_UNEXPLAINED = Q(charge__isnull=True, job__isnull=True)


class LedgerEntryQuerySet(models.QuerySet["LedgerEntry"]):
    def without_charge(self) -> Self:
        """Rows that are not matched to a charge of any team."""
        return self.filter(~is_charged_by_another_team(), charge__isnull=True)

    def outside_spend(self, accounts: models.QuerySet[Account], since: datetime) -> Self:
        """Debits of the accounts from `since` on (UTC) that neither a charge of any team nor an
        imported job explains, since the account was added.

        Rows are compared with other teams' mirrors only for accounts that several teams use: such
        accounts are few, but the rows may be tens of thousands.
        """
        shared = accounts.filter(is_shared_with_another_team())
        begin = Value(since, output_field=models.DateTimeField())
        return self.filter(
            ~(Q(account__in=shared.values("pk")) & Q(is_charged_by_another_team())),
            IS_UNEXPLAINED,
            account__in=accounts.values("pk"),
            amount__lt=0,
            # Implied by the next condition; it lets the query use the index.
            happened_at__gt=since - timedelta(microseconds=1),
            happened_at__gte=Greatest("account__created_at", begin),
        )


def is_charged_by_another_team() -> ExpressionWrapper[Q]:
    """Whether the same row in the mirror of another team on the upstream account has a charge.

    Rows of one second may have another order in each mirror, and a conflict moves positions, so
    rows of the same time, amount and content type are counted: as many of them as other teams have
    charges for are theirs. Which of equal rows that are is the same to everybody.
    """
    equal = LedgerEntry.objects.order_by().filter(
        happened_at=OuterRef("happened_at"),
        amount=OuterRef("amount"),
        content_type=OuterRef("content_type"),
    )
    charged_elsewhere = equal.filter(
        account__environment=OuterRef("account__environment"),
        account__upstream_id=OuterRef("account__upstream_id"),
        charge__isnull=False,
    ).exclude(account=OuterRef("account"))
    up_to_this = equal.filter(
        account=OuterRef("account"), charge__isnull=True, position__lte=OuterRef("position")
    )
    is_one_of_them = LessThanOrEqual(count_rows(up_to_this), count_rows(charged_elsewhere))
    return ExpressionWrapper(
        Q(charge__isnull=True) & Q(Exists(charged_elsewhere)) & Q(is_one_of_them),
        models.BooleanField(),
    )


def count_rows(rows: models.QuerySet[LedgerEntry]) -> Subquery:
    """A subquery for rows of one amount; null without any."""
    return Subquery(rows.values("amount").annotate(rows=Count("pk")).values("rows"))


class LedgerEntry(models.Model):
    account = models.ForeignKey(Account, models.CASCADE, related_name="entries")
    position = models.PositiveIntegerField(
        help_text="Position in the ledger in ascending order, from 0."
    )
    label = models.CharField(max_length=200, blank=True)
    content_type = models.CharField(max_length=100, blank=True)
    credit_spend = models.CharField(max_length=40, help_text="Signed string from the upstream.")
    amount = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, help_text="Credits, signed: debits are negative."
    )
    transaction_type = models.CharField(max_length=40, blank=True)
    booked_at = models.CharField(
        max_length=40, blank=True, help_text="`created_at` as sent by the upstream."
    )
    happened_at = models.DateTimeField(help_text="`booked_at` in UTC.")
    trouble = models.CharField(
        max_length=200,
        blank=True,
        help_text="Which of its values cannot be parsed; shown to users.",
    )
    via_api = models.BooleanField(
        null=True, blank=True, help_text="Whether source=api lists it; null if not read yet."
    )
    charge = models.ForeignKey(
        Charge, models.SET_NULL, null=True, blank=True, related_name="entries"
    )
    confidence = models.CharField(max_length=7, choices=MatchConfidence, blank=True)
    reason = models.CharField(
        max_length=200, blank=True, help_text="Why it was matched; shown to users."
    )
    cost_difference = models.DecimalField(
        **CREDIT_FIELD_OPTIONS,
        null=True,
        blank=True,
        help_text="Cost in the charge's answer minus the booked amount, if they differ.",
    )
    # Copied from the charge or the imported job, for filters and sums.
    member = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="entries")
    operation = models.CharField(max_length=60, blank=True)

    objects = LedgerEntryQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "position"], name="entry_once_per_position"),
            models.CheckConstraint(
                condition=Q(confidence="", charge__isnull=True)
                | Q(confidence__in=MatchConfidence.values),
                name="entry_matched_has_confidence",
            ),
            # A charge has one debit and at most one refund.
            # Partial: SQLite would otherwise use it for rows without a charge and scan them all.
            models.UniqueConstraint(
                fields=["charge"],
                condition=Q(amount__lt=0, charge__isnull=False),
                name="entry_one_debit_a_charge",
            ),
            models.UniqueConstraint(
                fields=["charge"],
                condition=Q(amount__gt=0, charge__isnull=False),
                name="entry_one_refund_a_charge",
            ),
        ]
        indexes = [
            models.Index(fields=["account", "-happened_at", "-position"], name="entry_newest"),
            # Includes the position: a page of one member's rows is read from the index, in order.
            models.Index(
                fields=["account", "member", "-happened_at", "-position"], name="entry_by_member"
            ),
            models.Index(
                fields=["account", "operation", "-happened_at", "-position"],
                name="entry_by_feature",
            ),
            models.Index(
                fields=["account", "label", "-happened_at", "-position"], name="entry_by_label"
            ),
            models.Index(
                fields=["account", "content_type", "-happened_at", "-position"],
                name="entry_by_content_type",
            ),
            # Few of the rows: without these indexes a page of them scans thousands.
            models.Index(
                fields=["account", "-happened_at", "-position", "amount"],
                condition=Q(charge__isnull=True),
                name="entry_outside",
            ),
            models.Index(
                fields=["account", "-happened_at", "-position"],
                condition=Q(amount__gt=0),
                name="entry_credits",
            ),
            models.Index(
                fields=["account", "-happened_at", "-position"],
                condition=Q(via_api=False),
                name="entry_not_by_api",
            ),
            # Few rows each, queried at every read.
            models.Index(
                fields=["account", "via_api", "position"],
                condition=Q(via_api__isnull=True),
                name="entry_view_unknown",
            ),
            models.Index(
                fields=["account", "cost_difference"],
                condition=Q(cost_difference__isnull=False),
                name="entry_cost_difference",
            ),
            models.Index(
                fields=["account", "trouble"], condition=Q(trouble__gt=""), name="entry_troubled"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.credit_spend} {self.label}"

    @property
    def is_explained(self) -> bool:
        """As not `IS_UNEXPLAINED`."""
        return self.charge_id is not None or self.job_id is not None

    @property
    def number(self) -> int:
        """The row number on pages, from 1."""
        return self.position + 1
