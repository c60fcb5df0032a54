"""Forms of decisions that are saved with a reason."""

from __future__ import annotations

from django import forms

from dashboard.reconciliation.actions import (
    MAX_REASON_LENGTH,
    REBASE_REASON_REQUIRED,
    WRITE_OFF_REASON_REQUIRED,
)
from dashboard.shared.forms import PortalForm


class WriteOffForm(PortalForm):
    reason = forms.CharField(
        label="Why",
        max_length=MAX_REASON_LENGTH,
        help_text="Saved with the charge and in the audit log.",
        error_messages={"required": WRITE_OFF_REASON_REQUIRED},
    )


class RebaseForm(PortalForm):
    reason = forms.CharField(
        label="Why",
        max_length=MAX_REASON_LENGTH,
        help_text="Saved with the difference and in the audit log.",
        error_messages={"required": REBASE_REASON_REQUIRED},
    )
