"""The form of the operations page."""

from __future__ import annotations

from django import forms

from dashboard.operations.actions import MAX_STOP_REASON_CHARS, REASON_MISSING
from dashboard.shared.forms import PortalForm


class StopForm(PortalForm):
    reason = forms.CharField(
        label="Why",
        max_length=MAX_STOP_REASON_CHARS,
        help_text="Everyone in the team reads it, with your name. It is in the audit log.",
        error_messages={"required": REASON_MISSING},
    )
