"""Low balance: the available credits of an account are below a threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import OuterRef, Subquery
from django.utils import timezone

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    ThresholdRange,
    account_page_url,
    accounts_to_spend_from,
)
from dashboard.models import AlertEvent, AlertKind, AlertRule, Team
from dashboard.shared.formatting import clock, credits
from proxyapi.models import (
    Account,
    LedgerEntry,
)
from proxyapi.models.account import quantize_credits
from proxyapi.models.charge import MAX_CLOCK_SKEW
from proxyapi.models.held_credits import held_credits_annotation

ZERO = Decimal(0)


MAX_CLOCK_ERROR = timedelta(hours=1)  # a balance is read every ten minutes


ENDED_PERIOD_PREFIX = "until "  # start of the period of an ended shortage


MIN_SHORTAGE_DURATION = timedelta(days=1)  # so that each hold does not cause a new alert


def find_low_balances(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Available credits below the threshold, unless they were below it when the account was added
    and ever since: whoever added it knows. A period lasts from one incoming credit to the next,
    or until the available credits reach the threshold again."""
    incoming = LedgerEntry.objects.filter(account=OuterRef("pk"), charge=None, amount__gt=0)
    accounts = accounts_to_spend_from(team).exclude(balance_as_of=None)
    accounts = accounts.annotate(
        held_now=held_credits_annotation(),
        came_at=Subquery(incoming.order_by("-happened_at", "-position").values("position")[:1]),
        came_on=Subquery(incoming.order_by("-happened_at", "-position").values("happened_at")[:1]),
    )
    for account in accounts:
        if is_balance_outdated(account, now):
            continue
        available = account.balance - quantize_credits(account.held_now)
        current_period = (
            "no credit yet" if account.came_at is None else f"since row {account.came_at}"
        )
        for rule in rules:
            period = alerted_period(rule, account, now) or current_period
            close_ended_shortage(
                rule,
                account,
                period,
                available,
                now if period != current_period else now - MIN_SHORTAGE_DURATION,
            )
            was_above = account.peak_balance is None or account.peak_balance >= rule.threshold
            if available < rule.threshold and was_above:
                yield low_balance_finding(rule, account, account.held_now, period)


def low_balance_finding(
    rule: AlertRule, account: Account, held: Decimal, period: str
) -> AlertFinding:
    available = account.balance - quantize_credits(held)
    return AlertFinding(
        rule,
        str(account.pk),
        f"{credits(max(available, ZERO))} cr are free, less than {credits(rule.threshold)}",
        f"On {account.label}: {credits(account.balance)} cr as of "
        f"{clock(account.balance_as_of)}, {credits(held)} held.",
        "failed" if available <= 0 else "late",
        account_page_url("top-up", account.pk),
        period,
    )


def alerted_period(rule: AlertRule, account: Any, now: datetime) -> str | None:
    """The period of an alert that already reported this shortage, or None.

    While older history is still being mirrored, credits appear that precede the alert; they must
    not start a new period.
    """
    if account.came_on is None:
        return None
    events = AlertEvent.objects.filter(
        rule=rule,
        subject=str(account.pk),
        threshold=rule.threshold,
        happened_at__range=(account.came_on + MAX_CLOCK_SKEW, now),
    )
    open_events = events.exclude(period__startswith=ENDED_PERIOD_PREFIX).order_by("-happened_at")
    return open_events.values_list("period", flat=True).first()


def is_balance_outdated(account: Any, now: datetime) -> bool:
    """True if the balance is older than credits already in the ledger; a low-balance alert would
    then be false. Ignored after an hour, because the ledger's clock may be off."""
    came_on = account.came_on
    if came_on is None or abs(now - came_on) > MAX_CLOCK_ERROR:
        return False
    return bool(account.balance_as_of <= came_on + MAX_CLOCK_SKEW)


def close_ended_shortage(
    rule: AlertRule, account: Account, period: str, available: Decimal, until: datetime
) -> None:
    """Close the period of a shortage that was reported until `until` and has ended: a plan may
    renew without a ledger row. If credits were mirrored after the alert, they end the period
    instead."""
    ended = AlertEvent.objects.filter(
        rule=rule,
        subject=str(account.pk),
        period=period,
        threshold__lte=available,
        happened_at__lte=until,
    )
    if ended.exists():  # an update without rows would still take SQLite's only write lock
        ended.update(period=f"{ENDED_PERIOD_PREFIX}{timezone.now():%Y-%m-%d %H:%M}")


SPEC = AlertKindSpec(
    kind=AlertKind.BALANCE,
    sentence="Free credits below",
    find=find_low_balances,
    threshold=ThresholdRange(1, 9_999_999, "cr"),
    is_worse_below=True,
    default_thresholds=(1000, 200),
)
