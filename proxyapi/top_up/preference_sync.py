"""Read an account's automatic top-up preference from the upstream into one row.

A failed read changes only the reason why nothing newer is known (rule 6). A read that was requested
before a newer one never overwrites it. While a change is in progress only `change_dispatch` reads:
its effect would look like a change made elsewhere.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from proxyapi import calls
from proxyapi.credentials import token_vault
from proxyapi.events import EventType, publish_event
from proxyapi.models import Account, AccountPlan, AutoTopUp, Token, TopUpChange
from proxyapi.models.account import parse_timestamp
from proxyapi.operations import get_operation
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.top_up.setting import TopUpSetting, parse_whole_number
from proxyapi.upstream import errors, response_parsing

READ_OPERATION = "top_up.get"
PREFERENCE_READ_INTERVAL, IDLE_READ_INTERVAL = timedelta(minutes=4), timedelta(minutes=20)
ACCOUNT_UNREADABLE = (
    "The team no longer has a working token for this account, so nothing is read from it."
)
PLAN_REQUIRED_MESSAGES = {
    AccountPlan.TRIAL: errors.PaidSubscriptionRequired().user_message,
    AccountPlan.NONE: errors.SubscriptionRequired().user_message,
}


class PreferenceReading(NamedTuple):
    setting: TopUpSetting
    enabled_at: datetime | None
    failures: int


def accounts_due_for_preference_read(now: datetime) -> list[UUID]:
    """Accounts whose preference is due to be read; that of an idle account is due later."""
    usable_tokens = Token.objects.usable().filter(account=OuterRef("pk"))
    is_due = Q(top_up__isnull=True) | ~Q(ledger__is_idle=True) & Q(top_up__due_at__lte=now)
    is_due |= Q(top_up__due_at__lte=now - (IDLE_READ_INTERVAL - PREFERENCE_READ_INTERVAL))
    accounts = Account.objects.filter(is_due, Exists(usable_tokens))
    return list(accounts.values_list("pk", flat=True))


def refresh_preference(account: Account) -> None:
    """Read the preference at the lowest priority, if it is due. Raises nothing.

    Without a paid plan the upstream refuses the read (pitfall 80), so none is sent.
    """
    usable = account.tokens.usable().select_related("account").order_by("state_since")
    token = token_vault.first_decryptable(usable)
    if not account.is_of_current_upstream or not claim_preference_read(account):
        return
    if account.plan != AccountPlan.PAID or token is None:
        record_preference_error(
            account,
            ACCOUNT_UNREADABLE
            if token is None
            else PLAN_REQUIRED_MESSAGES[AccountPlan(account.plan)],
        )
        return
    try:
        store_preference(account, *fetch_preference(token, Priority.LEDGER_SYNC, patience=5))
    except RateLimitExhausted as exhausted:
        again_at = timezone.now() + timedelta(seconds=max(1.0, exhausted.wait))
        AutoTopUp.objects.filter(account=account).update(due_at=again_at)
    except errors.UpstreamError as error:
        record_preference_error(account, error.user_message)


def claim_preference_read(account: Account) -> bool:
    """Return True for one of several concurrent workers, if no change is in progress."""
    AutoTopUp.objects.get_or_create(account=account)
    now, changing = timezone.now(), TopUpChange.objects.filter(account=account).open()
    rows = AutoTopUp.objects.filter(~Exists(changing), account=account, due_at__lte=now)
    return bool(rows.update(due_at=now + PREFERENCE_READ_INTERVAL))


def fetch_preference(
    token: Token, lane: Priority, patience: float
) -> tuple[PreferenceReading, datetime]:
    """Return the preference and the time of the request. Raises `UpstreamError` or
    `RateLimitExhausted`."""
    requested_at = timezone.now()
    return parse_preference(
        calls.call_upstream(token, READ_OPERATION, lane, patience=patience).data
    ), requested_at


def parse_preference(data: Any) -> PreferenceReading:
    """Raises `errors.ResponseLost` for an answer that is no preference."""
    record = response_parsing.as_mapping(data)
    if not isinstance(record.get("enabled"), bool):
        raise errors.ResponseLost(get_operation(READ_OPERATION))
    failures = min(parse_whole_number(record.get("consecutive_failures")) or 0, 32_767)
    return PreferenceReading(
        TopUpSetting.from_mapping(record), parse_timestamp(record.get("enabled_at")), failures
    )


@transaction.atomic
def store_preference(
    account: Account,
    reading: PreferenceReading,
    requested_at: datetime,
    *,
    is_own_change: bool = False,
) -> AutoTopUp:
    """Store a reading and publish an event if the displayed state changed. `is_own_change`: we have
    just set the preference to it."""
    AutoTopUp.objects.get_or_create(account=account)
    row = AutoTopUp.objects.select_for_update().get(account=account)
    was_read_before, before = row.read_at is not None, displayed_state(row)
    if row.read_at is None or row.read_at <= requested_at:
        apply_preference(row, reading, requested_at)
    if is_own_change:
        record_own_setting(row, reading.setting, requested_at)
    row.save()
    if displayed_state(row) != before or not was_read_before:
        publish_event(account.tenant_id, EventType.TOP_UP, account.pk)
    return row


def apply_preference(row: AutoTopUp, reading: PreferenceReading, requested_at: datetime) -> None:
    was_read_before = row.read_at is not None
    if reading.setting.enabled:
        row.found_off_at = None
    elif was_read_before and row.enabled:
        row.found_off_at = requested_at
    # A lower count is new too: a successful top-up reset it, and then another one failed.
    if reading.failures and reading.failures != row.consecutive_failures:
        row.failure_seen_at = requested_at if was_read_before else None
    for name, value in reading.setting.to_dict().items():
        setattr(row, name, value)
    row.enabled_at, row.consecutive_failures = reading.enabled_at, reading.failures
    row.read_at, row.read_error = requested_at, ""


def record_own_setting(row: AutoTopUp, setting: TopUpSetting, at: datetime) -> None:
    """Record that we set the preference, also if a newer reading was stored first: if it found
    top-up off, it was our change."""
    row.left_enabled, row.left_at = setting.enabled, at
    if not setting.enabled:
        row.found_off_at = None


def record_preference_error(account: Account, sentence: str) -> None:
    """Store why the last read failed; the stored preference keeps its age."""
    row, _ = AutoTopUp.objects.get_or_create(account=account)
    if row.read_error != sentence:
        AutoTopUp.objects.filter(pk=row.pk).update(read_error=sentence)
        publish_event(account.tenant_id, EventType.TOP_UP, account.pk)


def displayed_state(row: AutoTopUp) -> tuple[object, ...]:
    """The parts of the row that pages show, except its age."""
    return (TopUpSetting.from_row(row), row.consecutive_failures, row.found_off_at, row.read_error)
