"""A mirrored row that the upstream shows differently now: both versions, until a person decides."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from proxyapi.models.account import Account


class LedgerConflict(models.Model):
    account = models.ForeignKey(Account, models.CASCADE, related_name="ledger_conflicts")
    position = models.PositiveIntegerField()
    before = models.JSONField(help_text="The row as mirrored, with the upstream's values.")
    after = models.JSONField(null=True, help_text="The row as it reads now; null if it is gone.")
    noticed_at = models.DateTimeField(auto_now_add=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "position"],
                condition=models.Q(accepted_at__isnull=True),
                name="ledger_conflict_once_until_accepted",
            ),
        ]

    def __str__(self) -> str:
        return f"row {self.number} of {self.account_id} rewritten"

    @property
    def number(self) -> int:
        """The row number on pages, from 1."""
        return self.position + 1
