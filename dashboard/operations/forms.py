"""The form of the operations page."""

from __future__ import annotations

from dashboard.operations.actions import REASON_MISSING
from dashboard.shared.forms import PortalForm, ReasonField


class StopForm(PortalForm):
    reason = ReasonField(
        required=REASON_MISSING,
        help_text="Everyone in the team reads it, with your name. It is in the audit log.",
    )
