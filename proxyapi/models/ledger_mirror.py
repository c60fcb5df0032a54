"""How far one account's ledger is mirrored, and its balance checkpoint (rule 4).

Rows are mirrored as one range `low <= position < high` that grows at both ends: new rows at the
top, older history at the bottom. `low == 0` means that no older row is missing.
"""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from proxyapi.models.account import CREDIT_FIELD_OPTIONS, Account


class LedgerMirror(models.Model):
    account = models.OneToOneField(Account, models.CASCADE, primary_key=True, related_name="ledger")
    low = models.PositiveIntegerField(default=0)
    high = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(
        default=0, help_text="Total rows reported by the service at `read_at`."
    )
    read_at = models.DateTimeField(
        null=True, blank=True, help_text="When the mirror last reached the ledger's end."
    )
    # The view `source=api` in its own positions; its rows are those entries with `via_api`.
    api_low = models.PositiveIntegerField(default=0)
    api_high = models.PositiveIntegerField(default=0)
    api_read_at = models.DateTimeField(null=True, blank=True)
    # The balance read while the ledger ended at a known position (`balance_exact`).
    anchor_balance = models.DecimalField(**CREDIT_FIELD_OPTIONS, null=True, blank=True)
    anchor_extra = models.DecimalField(**CREDIT_FIELD_OPTIONS, null=True, blank=True)
    anchor_high = models.PositiveIntegerField(null=True, blank=True)
    anchor_at = models.DateTimeField(null=True, blank=True)
    balance_exact = models.DecimalField(**CREDIT_FIELD_OPTIONS, null=True, blank=True)
    checkpoint_high = models.PositiveIntegerField(null=True, blank=True)
    checkpoint_at = models.DateTimeField(null=True, blank=True)
    checkpoint_sum = models.DecimalField(
        **CREDIT_FIELD_OPTIONS,
        null=True,
        blank=True,
        help_text="Sum of the rows from `anchor_high` to `checkpoint_high`.",
    )
    rollup_time_zone = models.CharField(
        max_length=64, default="UTC", help_text="Time zone of the daily sums."
    )
    problem = models.TextField(blank=True, help_text="Why mirroring stopped; shown to users.")
    api_problem = models.TextField(
        blank=True, help_text="Why source=api cannot be aligned with the rows; shown to users."
    )
    api_tried_at = models.DateTimeField(
        null=True, blank=True, help_text="When the alignment was last tried."
    )
    api_problem_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When `api_problem` began; retries become rarer with its age.",
    )
    # Older rows are compared page by page, from the newest down, then again from the newest.
    recheck_position = models.PositiveIntegerField(
        default=0, help_text="Lowest position compared in this round; 0 starts the next round."
    )
    rechecked_at = models.DateTimeField(null=True, blank=True)
    # A page that contradicts known rows is read again before it is believed.
    doubts = models.PositiveSmallIntegerField(
        default=0, help_text="Readings in a row that contradicted known rows."
    )
    doubted_position = models.PositiveIntegerField(default=0)
    doubted_at = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(
        null=True, blank=True, help_text="Time of the next read; null if never read."
    )
    lease_expires_at = models.DateTimeField(
        null=True, blank=True, help_text="Until then a worker holds the lease to read it."
    )
    is_idle = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Nobody waited for the account's rows when it was read last.",
    )
    troubles = models.PositiveSmallIntegerField(
        default=0, help_text="Consecutive failed reads; the retry delay grows with it."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(low__lte=F("high")), name="ledger_segment_in_order"),
            models.CheckConstraint(
                condition=Q(api_low__lte=F("api_high")), name="ledger_api_segment_in_order"
            ),
        ]

    def __str__(self) -> str:
        return f"ledger of {self.account_id} from {self.low} to {self.high}"

    @property
    def is_complete(self) -> bool:
        """Whether every row up to `high` is mirrored."""
        return self.read_at is not None and self.low == 0
