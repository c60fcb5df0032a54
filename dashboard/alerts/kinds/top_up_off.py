"""Automatic top-up that was switched off outside the portal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    account_page_url,
    accounts_to_spend_from,
)
from dashboard.models import AlertKind, AlertRule, Team
from proxyapi.models import (
    AutoTopUp,
)
from proxyapi.top_up import is_stopped_by_failures


def find_disabled_top_ups(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Top-ups that are off although no member switched them off: after three failed payments, or
    elsewhere."""
    rows = AutoTopUp.objects.filter(account__in=accounts_to_spend_from(team), enabled=False)
    for row in rows.select_related("account"):
        is_stopped = is_stopped_by_failures(row)
        if not (row.is_disabled_elsewhere or is_stopped):
            continue
        reason = (
            "after three failed payments. Turning it on again does not reset the count. Check the "
            "payment method first."
            if is_stopped
            else "or someone did on its website. No one did here."
        )
        for rule in rules:
            yield AlertFinding(
                rule,
                str(row.pk),
                "Automatic top-up is off",
                f"On {row.account.label}. The service switched it off {reason}",
                "failed",
                account_page_url("top-up", row.account_id),
                f"{row.found_off_at or row.enabled_at or ''}",
            )


SPEC = AlertKindSpec(
    kind=AlertKind.TOP_UP_OFF,
    sentence="Automatic top-up is switched off outside the portal",
    find=find_disabled_top_ups,
)
