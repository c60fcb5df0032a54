"""Unknown charges: a response was lost, so it is unknown whether credits were spent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Q

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    ThresholdRange,
    age_period,
)
from dashboard.models import AlertKind, AlertRule, Team
from dashboard.shared.formatting import clock, credits
from dashboard.shared.job_pages import job_page_url
from proxyapi.models import (
    Charge,
    ChargeState,
)
from proxyapi.models.charge import CHARGED_LATE_CODE
from proxyapi.operations import get_operation

LATE_CHARGE_MAX_AGE = timedelta(days=1)  # older late charges are not reported


MAX_TITLE_LENGTH = 100  # characters of a title in an alert


def find_unknown_charges(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Charges that are unknown for longer than the threshold in minutes, and charges that were
    reported as not charged and then appeared in the ledger."""
    late = Q(
        state=ChargeState.MATCHED, code=CHARGED_LATE_CODE, settled_at__gte=now - LATE_CHARGE_MAX_AGE
    )
    rows = Charge.objects.filter(late | Q(state=ChargeState.UNKNOWN), tenant=team.tenant_id)
    for charge in rows.select_related("job"):
        if charge.state == ChargeState.MATCHED:
            yield late_charge_finding(rules[0], charge)
            continue
        sent = charge.sent_at or charge.created_at
        price = credits(charge.price)
        for rule in rules:
            if now - sent >= timedelta(minutes=float(rule.threshold)):
                yield AlertFinding(
                    rule,
                    str(charge.pk),
                    f"We do not know whether {price} cr were spent",
                    f"The {describe_charge_operation(charge)} was sent at {clock(sent)} and the "
                    "response was lost. It will not be sent again. The ledger does not show yet "
                    "whether it was charged.",
                    "unknown",
                    job_page_url(charge.job),
                    age_period(sent, now),
                    member=charge.member_id,
                    for_money=True,
                )


def late_charge_finding(rule: AlertRule, charge: Charge) -> AlertFinding:
    """Reported once, whatever the threshold. After the report "not charged" the member may have
    sent the request again, and both were charged; the text then says that the portal sent each of
    them once."""
    text = (
        f"The {describe_charge_operation(charge)} was sent at {clock(charge.sent_at)}, its "
        "response was lost, and we reported it as not charged. The service charged it later. It "
        "is probably yours."
    )
    if repeat := Charge.objects.later_repeats(charge).order_by("sent_at").first():
        text += (
            f" It was sent again at {clock(repeat.sent_at)}, so it was charged twice. "
            "Reelroom sent each request once."
        )
    return AlertFinding(
        rule,
        str(charge.pk),
        f"{credits(charge.cost)} cr were charged after all",
        text,
        "late",
        job_page_url(charge.job),
        "charged late",
        Decimal(0),
        charge.member_id,
        for_money=True,
    )


def describe_charge_operation(charge: Charge) -> str:
    noun = get_operation(charge.operation).noun
    return f"{noun} of “{charge.job.title[:MAX_TITLE_LENGTH]}”" if charge.job else noun


SPEC = AlertKindSpec(
    kind=AlertKind.UNKNOWN_CHARGE,
    sentence="A charge is unknown for longer than",
    find=find_unknown_charges,
    threshold=ThresholdRange(1, 1440, "min"),
    threshold_label="Charge unknown for more than (minutes)",
    default_thresholds=(15,),
    open_subjects=lambda: Charge.objects.filter(state=ChargeState.UNKNOWN).values_list(
        "pk", flat=True
    ),
)
