"""Forms of decisions that are saved with a reason."""

from __future__ import annotations

from dashboard.reconciliation.actions import (
    REBASE_REASON_REQUIRED,
    WRITE_OFF_REASON_REQUIRED,
)
from dashboard.shared.forms import PortalForm, ReasonField


class WriteOffForm(PortalForm):
    reason = ReasonField(
        required=WRITE_OFF_REASON_REQUIRED,
        help_text="Saved with the charge and in the audit log.",
    )


class RebaseForm(PortalForm):
    reason = ReasonField(
        required=REBASE_REASON_REQUIRED,
        help_text="Saved with the difference and in the audit log.",
    )
