"""Hide the card of the first steps."""

from __future__ import annotations

from django.utils import timezone

from dashboard.models import Membership


def hide_getting_started(reader: Membership) -> None:
    """Hide it for this member alone. It is a preference, so it is not in the audit log."""
    shown = Membership.objects.filter(pk=reader.pk, getting_started_hidden_at=None)
    shown.update(getting_started_hidden_at=timezone.now())
