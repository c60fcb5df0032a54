"""Low balance: the free credits of an account fall under a threshold."""

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
    accounts_with_token,
)
from dashboard.models import AlertEvent, AlertKind, AlertRule, Team
from dashboard.shared.formatting import clock, credits
from proxyapi.models import (
    Account,
    LedgerEntry,
)
from proxyapi.models.account import quantize_credits
from proxyapi.models.charge import MAX_CLOCK_SKEW, held_credits_annotation

ZERO = Decimal(0)


MAX_CLOCK_ERROR = timedelta(hours=1)  # a balance is read every ten minutes


ENDED_PERIOD_PREFIX = "until "  # begins the period of a lack that is over


MIN_SHORTAGE_DURATION = timedelta(
    days=1
)  # the shortest; holds come and go, and each is not told anew


def find_low_balances(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Free credits under the threshold; its period goes from one credit to the next, or until so
    much was free again."""
    came = LedgerEntry.objects.filter(account=OuterRef("pk"), charge=None, amount__gt=0)
    accounts = accounts_with_token(team).exclude(balance_as_of=None)
    accounts = accounts.annotate(
        held_now=held_credits_annotation(),
        came_at=Subquery(came.order_by("-happened_at", "-position").values("position")[:1]),
        came_on=Subquery(came.order_by("-happened_at", "-position").values("happened_at")[:1]),
    )
    for account in accounts:
        if is_balance_outdated(account, now):
            continue
        free = account.balance - quantize_credits(account.held_now)
        since = "no credit yet" if account.came_at is None else f"since row {account.came_at}"
        for rule in rules:
            period = alerted_period(rule, account, now) or since
            close_ended_shortage(
                rule, account, period, free, now if period != since else now - MIN_SHORTAGE_DURATION
            )
            if free < rule.threshold:
                yield AlertFinding(
                    rule,
                    str(account.pk),
                    f"{credits(max(free, ZERO))} cr are free, less than {credits(rule.threshold)}",
                    f"On {account.label}: {credits(account.balance)} cr as of "
                    f"{clock(account.balance_as_of)}, {credits(account.held_now)} held.",
                    "failed" if free <= 0 else "late",
                    account_page_url("top-up", account.pk),
                    period,
                )


def alerted_period(rule: AlertRule, account: Any, now: datetime) -> str | None:
    """The period in which this lack was told already: a history that is still being mirrored shows
    credits that came before that, and they are no news."""
    if account.came_on is None:
        return None
    lately = AlertEvent.objects.filter(
        rule=rule,
        subject=str(account.pk),
        threshold=rule.threshold,
        happened_at__range=(account.came_on + MAX_CLOCK_SKEW, now),
    )
    lack = lately.exclude(period__startswith=ENDED_PERIOD_PREFIX).order_by("-happened_at")
    return lack.values_list("period", flat=True).first()


def is_balance_outdated(account: Any, now: datetime) -> bool:
    """Whether the balance was read before credits came that the ledger shows already: of those it
    would be told that they are missing. For an hour at most: the ledger's clock may be wrong."""
    came_on = account.came_on
    if came_on is None or abs(now - came_on) > MAX_CLOCK_ERROR:
        return False
    return bool(account.balance_as_of <= came_on + MAX_CLOCK_SKEW)


def close_ended_shortage(
    rule: AlertRule, account: Account, period: str, free: Decimal, until: datetime
) -> None:
    """Close the period of a lack that was told until then and is over: a plan may renew without a
    row. Where credits were mirrored after it was told, that is what ended it."""
    over = AlertEvent.objects.filter(
        rule=rule,
        subject=str(account.pk),
        period=period,
        threshold__lte=free,
        happened_at__lte=until,
    )
    if over.exists():  # an update of nothing would still take SQLite's one lock for writing
        over.update(period=f"{ENDED_PERIOD_PREFIX}{timezone.now():%Y-%m-%d %H:%M}")


SPEC = AlertKindSpec(
    kind=AlertKind.BALANCE,
    sentence="Free credits below",
    find=find_low_balances,
    threshold=ThresholdRange(1, 9_999_999, "cr"),
    default_thresholds=(1000, 200),
)
