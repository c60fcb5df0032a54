"""Refunds that the service owes and that do not appear in the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    ThresholdRange,
    account_page_url,
    age_period,
)
from dashboard.models import AlertKind, AlertRule, Team
from dashboard.shared.formatting import clock, credits
from proxyapi.models import Charge
from proxyapi.operations import get_operation

MAX_TITLE_LENGTH = 100  # characters of a title in an alert


def find_owed_refunds(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Refunds that are owed for longer than the threshold in minutes; each week again."""
    owed = Charge.objects.with_refund_owed().filter(tenant=team.tenant_id)
    for charge in owed.select_related("job", "account"):
        since = charge.refund_owed_at or now
        for rule in rules:
            if now - since >= timedelta(minutes=float(rule.threshold)):
                yield AlertFinding(
                    rule,
                    str(charge.pk),
                    f"The service owes {credits(charge.cost)} cr back",
                    f"The {describe_failed_charge(charge)} failed at {clock(since)}. The service "
                    f"refunds it by itself, but the ledger of {charge.account.label} does not show "
                    "the refund yet. If it does not come, write to the service’s support.",
                    url=account_page_url("reconciliation", charge.account_id) + "#refunds",
                    period=age_period(since, now),
                    for_money=True,
                )


def describe_failed_charge(charge: Charge) -> str:
    noun = get_operation(charge.operation).noun
    return f"{noun} “{charge.job.title[:MAX_TITLE_LENGTH]}”" if charge.job else noun


SPEC = AlertKindSpec(
    kind=AlertKind.REFUND_OWED,
    sentence="A refund is not in the ledger after",
    find=find_owed_refunds,
    threshold=ThresholdRange(1, 10_080, "min"),
    threshold_label="Refund missing for more than (minutes)",
    default_thresholds=(30,),
    open_subjects=lambda: Charge.objects.with_refund_owed().values_list("pk", flat=True),
)
