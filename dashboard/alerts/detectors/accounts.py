"""What is found about accounts: low balance, top-ups, unknown charges, a ledger in trouble."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from dashboard.alerts.detectors.finding import (
    AlertFinding,
    age_period,
    page_url_or_empty,
    weekly_period,
)
from dashboard.models import AlertEvent, AlertRule, Team
from dashboard.shared.formatting import clock, credits
from proxyapi.models import (
    Account,
    AutoTopUp,
    Charge,
    ChargeState,
    LedgerEntry,
    LedgerMirror,
    Token,
)
from proxyapi.models.account import quantize_credits
from proxyapi.models.charge import CHARGED_LATE_CODE, MAX_CLOCK_SKEW, held_credits_annotation
from proxyapi.top_up import is_stopped_by_failures

ZERO = Decimal(0)
MAX_CLOCK_ERROR = timedelta(hours=1)  # a balance is read every ten minutes
ENDED_PERIOD_PREFIX = "until "  # begins the period of a lack that is over
MIN_SHORTAGE_DURATION = timedelta(
    days=1
)  # the shortest; holds come and go, and each is not told anew
LATE_CHARGE_MAX_AGE = timedelta(days=1)  # a late debit that was found longer ago is none any more
MAX_TITLE_LENGTH = 100  # letters of a title in an alert
OPERATION_NOUNS = {
    "render": "render",
    "retry": "retry",
    "scripts": "script",
    "scrape_script": "script",
}


def accounts_with_token(team: Team) -> QuerySet[Account]:
    """The accounts that a token of the team still opens."""
    tokens = Token.objects.not_removed().filter(account=OuterRef("pk"))
    accounts = Account.objects.filter(Exists(tokens), tenant=team.tenant_id)
    return accounts.defer("options", "costs")


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
                    page_url_or_empty("top-up", f"?account={account.pk}"),
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


def find_failed_top_ups(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Each failure is told once, by the rule of the highest threshold it reaches."""
    rows = AutoTopUp.objects.filter(
        account__in=accounts_with_token(team), consecutive_failures__gt=0
    )
    for row in rows.select_related("account"):
        if not row.enabled and not is_stopped_by_failures(row):
            continue  # it was switched off here; the count stays at the service until one succeeds
        count = row.consecutive_failures
        for rule in [rule for rule in rules if count >= rule.threshold][:1]:
            yield AlertFinding(
                rule,
                str(row.pk),
                "A top-up failed" if count == 1 else f"{count} top-ups failed in a row",
                f"On {row.account.label}. At the third the service switches automatic "
                "top-up off. It gives no reason; check the payment method there.",
                "failed",
                page_url_or_empty("top-up", f"?account={row.account_id}"),
                f"{weekly_period(team, now)}, {top_up_failure_key(row)}",
            )


def top_up_failure_key(row: AutoTopUp) -> str:
    """Which one: the count alone is the same again when one succeeded in between."""
    seen = f" by {row.failure_seen_at:%d %H:%M}" if row.failure_seen_at else ""
    return f"{row.consecutive_failures}{seen}"


def find_disabled_top_ups(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """It was on, and nobody here switched it off: three payments failed, or it was found off."""
    rows = AutoTopUp.objects.filter(account__in=accounts_with_token(team), enabled=False)
    for row in rows.select_related("account"):
        failed = is_stopped_by_failures(row)
        if not (row.is_disabled_elsewhere or failed):
            continue
        why = (
            "after three failed payments. Switching it on again does not clear the count. Check "
            "the payment method first."
            if failed
            else "or somebody did on its own page. Nobody did here."
        )
        for rule in rules:
            yield AlertFinding(
                rule,
                str(row.pk),
                "Automatic top-up is off",
                f"On {row.account.label}. The service switched it off {why}",
                "failed",
                page_url_or_empty("top-up", f"?account={row.account_id}"),
                f"{row.found_off_at or row.enabled_at or ''}",
            )


def find_unknown_charges(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Charges whose cost nobody knows for longer than the threshold, in minutes; and those that
    were called uncharged and took credits all the same."""
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
                    "answer got lost. It "
                    "will not be sent again. The ledger has not decided yet.",
                    "unknown",
                    f"/videos/{charge.job_id}/" if charge.job_id else "",
                    age_period(sent, now),
                    member=charge.member_id,
                    for_money=True,
                )


def late_charge_finding(rule: AlertRule, charge: Charge) -> AlertFinding:
    """Told once, whatever the threshold. Who was told "never charged" may have ordered it again:
    then both orders were charged, and it is said that the portal sent each of them once."""
    text = (
        f"The {describe_charge_operation(charge)} was sent at {clock(charge.sent_at)}, its "
        "answer got lost, and we "
        "said that it was never charged. The service charged it later. It is probably yours."
    )
    if again := Charge.objects.later_repeats(charge).order_by("sent_at").first():
        text += (
            f" It was ordered again at {clock(again.sent_at)}, so it was charged twice. Reelroom "
            "sent each order once."
        )
    return AlertFinding(
        rule,
        str(charge.pk),
        f"{credits(charge.cost)} cr were charged after all",
        text,
        "late",
        f"/videos/{charge.job_id}/" if charge.job_id else "",
        "charged late",
        ZERO,
        charge.member_id,
        for_money=True,
    )


def describe_charge_operation(charge: Charge) -> str:
    what = OPERATION_NOUNS.get(charge.operation.rpartition(".")[2], "request")
    return f"{what} of “{charge.job.title[:MAX_TITLE_LENGTH]}”" if charge.job else what


def find_ledger_problems(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Once a week for each row that was found changed: what was mended and stops again is news."""
    rows = LedgerMirror.objects.filter(account__in=accounts_with_token(team)).exclude(problem="")
    rows = rows.annotate(changed=Max("account__rewrites__pk"))
    for row in rows.select_related("account"):
        for rule in rules:
            yield AlertFinding(
                rule,
                str(row.pk),
                "The ledger needs a look",
                f"On {row.account.label}. {row.problem}"[:400],
                "failed",
                page_url_or_empty("reconciliation"),
                f"{weekly_period(team, now)}, {row.changed}"
                if row.changed
                else weekly_period(team, now),
                for_money=True,
            )
