"""Failed top-ups: payments of the automatic top-up that failed in a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    ThresholdRange,
    account_page_url,
    accounts_to_spend_from,
    weekly_period,
)
from dashboard.models import AlertKind, AlertRule, Team
from proxyapi.models import (
    AutoTopUp,
)
from proxyapi.top_up import is_stopped_by_failures


def find_failed_top_ups(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Each failure is reported once, by the rule with the highest threshold that it reaches."""
    rows = AutoTopUp.objects.filter(
        account__in=accounts_to_spend_from(team), consecutive_failures__gt=0
    )
    for row in rows.select_related("account"):
        if not row.enabled and not is_stopped_by_failures(row):
            continue  # switched off here; the service keeps the count until a top-up succeeds
        count = row.consecutive_failures
        for rule in [rule for rule in rules if count >= rule.threshold][:1]:
            yield failed_top_up_finding(
                rule, row, f"{weekly_period(team, now)}, {top_up_failure_key(row)}"
            )


def failed_top_up_finding(rule: AlertRule, row: AutoTopUp, period: str) -> AlertFinding:
    count = row.consecutive_failures
    return AlertFinding(
        rule,
        str(row.pk),
        "A top-up failed" if count == 1 else f"{count} top-ups failed in a row",
        f"On {row.account.label}. After the third the service switches automatic top-up "
        "off. It gives no reason. Check the payment method there.",
        "failed",
        account_page_url("top-up", row.account_id),
        period,
    )


def top_up_failure_key(row: AutoTopUp) -> str:
    """The count and the time of the failure: the count alone repeats after a success in between."""
    seen_text = f" by {row.failure_seen_at:%d %H:%M}" if row.failure_seen_at else ""
    return f"{row.consecutive_failures}{seen_text}"


SPEC = AlertKindSpec(
    kind=AlertKind.TOP_UP_FAILED,
    sentence="Automatic top-ups fail in a row",
    find=find_failed_top_ups,
    threshold=ThresholdRange(1, 3, "of 3"),
    threshold_label="Failed top-ups in a row",
    default_thresholds=(1,),
)
