"""The form that pauses the charges of a member."""

from __future__ import annotations

from dashboard.members.actions.charge_pause import REASON_MISSING
from dashboard.shared.forms import PortalForm, ReasonField


class ChargePauseForm(PortalForm):
    reason = ReasonField(
        required=REASON_MISSING,
        help_text="The member reads it, with your name. It is in the audit log.",
    )
