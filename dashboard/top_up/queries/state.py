"""The status of an account's top-up: the notices above the page and the cards beside the form.

It refreshes whenever the top-up or the ledger changes, so it contains no input fields.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

from django.urls import reverse
from django.utils import timezone

from dashboard.shared.forecast import credits_per_top_up, load_credit_packs
from dashboard.shared.formatting import clock
from proxyapi.forecast.top_up_rules import MAX_TOP_UP_FAILURES, MAX_TOP_UPS_PER_DAY
from proxyapi.models import (
    Account,
    AccountPlan,
    AutoTopUp,
    CreditPack,
    LedgerEntry,
    TopUpChange,
    TopUpChangeState,
)
from proxyapi.top_up import (
    InferredTopUpState,
    TopUpSetting,
    infer_from_entries,
    is_stopped_by_failures,
)

ARRIVALS_WINDOW = timedelta(days=60)
MAX_CHANGES_READ, MAX_CREDIT_ENTRIES_READ = 40, 200
ENDED_CHANGE_SHOWN_FOR = timedelta(minutes=30)  # notice about an ended change
NEVER_READ_TEXT = "The setting has not been read from the service yet. This takes up to a minute."
UNREACHABLE_TEXT = "This account has no working token."
ADD_ONE_TEXT = "The setting can be read and changed when a member adds a token for it."
CHANGED_ELSEWHERE_TEXT = (
    "Someone changed it at the service, on its website or with another program."
)
THREE_FAILURES_TEXT = (
    "The service turned it off after three failed payments. Turning it on again does not reset "
    "the count. Check the payment method there first."
)
PAYMENT_FAILED_TEXT = (
    "The service gives no reason. Check the payment method on its billing page. Reelroom has no "
    "access to it."
)


@dataclass(frozen=True, slots=True)
class TopUpFacts:
    """`accounts` are all of the team's. `changes` and `credit_entries` (incoming credits) are
    newest first."""

    account: Account
    accounts: Sequence[Account]
    row: AutoTopUp
    packs: Sequence[CreditPack]
    changes: Sequence[TopUpChange]
    credit_entries: Sequence[LedgerEntry]
    now: datetime
    is_reachable: bool  # True if the account has a working token


def load_top_up_facts(account: Account, accounts: Sequence[Account]) -> TopUpFacts:
    """Three queries; the account comes from `access.fetch_account` with its tenant, its ledger, its
    top-up and whether it is reachable."""
    now = timezone.now()
    # In the same query as the setting, which is written in one transaction with a change's end.
    # A form with the end but the previous setting would never be refreshed.
    changes = account.top_up_changes.select_related("member", "account__top_up")
    recent_changes = list(changes.order_by("-requested_at")[:MAX_CHANGES_READ])
    credit_entries = account.entries.filter(amount__gt=0, happened_at__gte=now - ARRIVALS_WINDOW)
    return TopUpFacts(
        account,
        accounts,
        top_up_or_unsaved(recent_changes[0].account if recent_changes else account),
        load_credit_packs(account),
        recent_changes,
        list(credit_entries.order_by("-happened_at", "-position")[:MAX_CREDIT_ENTRIES_READ]),
        now,
        is_reachable=getattr(account, "is_reachable", False),
    )


def top_up_or_unsaved(account: Account) -> AutoTopUp:
    """The top-up as last read, or an unsaved empty one before the first read."""
    row = getattr(account, "top_up", None)
    return row if isinstance(row, AutoTopUp) else AutoTopUp(account=account)


def displayed_setting(facts: TopUpFacts) -> TopUpSetting:
    """The setting in the form: that of an open change, else the one last read."""
    change = facts.changes[0] if facts.changes else None
    if change is not None and change.is_open:
        return TopUpSetting.from_mapping(change.wanted)
    return TopUpSetting.from_row(facts.row)


@dataclass(frozen=True, slots=True)
class BlockGauge:
    """`filled` of three blocks."""

    filled: int
    state: str
    text: str

    @property
    def blocks(self) -> tuple[tuple[int, bool], ...]:
        return tuple((25 * index, index < self.filled) for index in range(3))


@dataclass(frozen=True, slots=True)
class TopUpStatus:
    """`credits_each` and `max_credits_per_day` are credits of one top-up and of a day's three, None
    if unknown."""

    account_id: UUID
    url: str
    threshold: Decimal
    notices: tuple[TopUpNotice, ...]
    is_saving: bool
    is_unreachable: bool  # no working token, so nothing can be saved
    setting: str
    purchase: str
    read_at: datetime | None
    failures: BlockGauge
    cooldown: str
    is_cooldown_inferred: bool
    today: BlockGauge
    day: str
    credits_each: Decimal | None
    max_credits_per_day: Decimal | None

    @property
    def age(self) -> timedelta | None:
        return timezone.now() - self.read_at if self.read_at else None


def build_top_up_status(facts: TopUpFacts, drawn: str = "") -> TopUpStatus:
    """`drawn` is the digest of the setting that the form shows."""
    account, row, zone = facts.account, facts.row, facts.account.tenant.zone
    setting, change = TopUpSetting.from_row(row), latest_shown_change(facts)
    inferred = infer_from_entries(facts.credit_entries, row, facts.now)
    bought = credits_per_top_up(setting, facts.packs) if setting.enabled else None
    is_stale = bool(drawn) and drawn != setting_digest(setting)
    return TopUpStatus(
        account_id=account.pk,
        url=top_up_status_url(account),
        threshold=account.monthly_credits / 10,
        notices=build_top_up_notices(facts, change, bought, is_stale),
        is_saving=change is not None and change.is_open,
        is_unreachable=not facts.is_reachable,
        setting=setting.describe(),
        purchase=setting.describe_purchase(),
        read_at=row.read_at,
        failures=build_failures_gauge(row),
        cooldown=cooldown_text(row, inferred, zone),
        is_cooldown_inferred=row.consecutive_failures > 0,
        today=BlockGauge(
            min(inferred.successes_today, MAX_TOP_UPS_PER_DAY),
            "info",
            f"{inferred.successes_today} of {MAX_TOP_UPS_PER_DAY}",
        ),
        day=day_reset_text(inferred, zone),
        credits_each=None if bought is None else Decimal(bought),
        max_credits_per_day=None if bought is None else Decimal(bought * MAX_TOP_UPS_PER_DAY),
    )


def latest_shown_change(facts: TopUpFacts) -> TopUpChange | None:
    """The open change, or the last one if it ended recently."""
    change = facts.changes[0] if facts.changes else None
    if change is None or change.is_open:
        return change
    ended = change.settled_at or change.requested_at
    return change if facts.now - ended < ENDED_CHANGE_SHOWN_FOR else None


def setting_digest(setting: TopUpSetting) -> str:
    """A short hash that identifies a setting in a URL."""
    return hashlib.sha256(json.dumps(setting.to_dict()).encode()).hexdigest()[:12]


def top_up_status_url(account: Account) -> str:
    return f"{reverse('top-up-state')}?account={account.pk}"


def build_failures_gauge(row: AutoTopUp) -> BlockGauge:
    count = row.consecutive_failures
    state = "failed" if count >= MAX_TOP_UP_FAILURES else "late" if count else "info"
    return BlockGauge(min(count, MAX_TOP_UP_FAILURES), state, f"{count} of {MAX_TOP_UP_FAILURES}")


def cooldown_text(row: AutoTopUp, inferred: InferredTopUpState, zone: ZoneInfo) -> str:
    """The state of the service's 24-hour wait after a failure."""
    if not row.consecutive_failures:
        return "After a failure the service waits 24 hours before it tries again."
    if row.failure_seen_at is None:
        return (
            "After a failure the service waits 24 hours. The time of the last failure is not "
            "known: it was counted before Reelroom first checked."
        )
    seen_at_text = format_short_time(row.failure_seen_at, zone)
    cooldown_end = row.failure_seen_at + timedelta(hours=24)
    ends = "ends" if inferred.cooldown_until else "ended"
    return (
        f"The last one failed before {seen_at_text}. After a failure the service waits 24 hours. "
        f"The wait {ends} {format_short_time(cooldown_end, zone)} at the latest."
    )


def day_reset_text(inferred: InferredTopUpState, zone: ZoneInfo) -> str:
    """When the UTC day ends, in the team's time zone."""
    ends = inferred.day_end.astimezone(zone)
    if not ends.utcoffset():
        return "The count resets at 00:00 UTC."
    return f"The count resets at 00:00 UTC, which is {ends:%H:%M} in {zone_city(zone)}."


def format_short_time(moment: datetime, zone: ZoneInfo) -> str:
    local = moment.astimezone(zone)
    return f"{local.day} {local:%b %H:%M}"


def zone_city(zone: ZoneInfo) -> str:
    return zone.key.rpartition("/")[2].replace("_", " ")


@dataclass(frozen=True, slots=True)
class TopUpNotice:
    """`state` is that of the banner; `reload` adds a link that reloads the form."""

    state: str
    title: str
    text: str = ""
    reload: bool = False


def build_top_up_notices(
    facts: TopUpFacts, change: TopUpChange | None, bought: int | None, is_stale: bool
) -> tuple[TopUpNotice, ...]:
    """`is_stale` is True if the form shows another setting than the service has."""
    row = facts.row
    notices = [
        build_change_notice(change),
        build_stale_form_notice(row, is_stale, change),
        build_read_state_notice(facts),
    ]
    if row.read_at is not None:
        notices += [
            build_drift_notice(row),
            build_failures_notice(row),
            build_unknown_pack_notice(row, bought),
        ]
    return tuple(notice for notice in notices if notice)


def build_change_notice(change: TopUpChange | None) -> TopUpNotice | None:
    if change is None:
        return None
    who, requested_at = change.member.first_name, clock(change.requested_at)
    if change.state == TopUpChangeState.UNKNOWN:
        return TopUpNotice("unknown", "We do not know yet whether it was saved.", change.reason)
    if change.is_open:
        requested = TopUpSetting.from_mapping(change.wanted).describe()
        return TopUpNotice(
            "info",
            "Saving, waiting for the service.",
            f"Requested by {who} at {requested_at}: top-up {requested}.",
        )
    reason = change.reason.removeprefix("Saved. ").removeprefix("Not saved. ")
    if change.state == TopUpChangeState.SAVED:
        return TopUpNotice("good", "Saved.", f"{reason} Requested by {who} at {requested_at}.")
    return TopUpNotice("failed", "Not saved.", reason)


def build_stale_form_notice(
    row: AutoTopUp, is_stale: bool, change: TopUpChange | None
) -> TopUpNotice | None:
    if not is_stale or (change is not None and change.is_open):
        return None
    return TopUpNotice(
        "late",
        "The setting changed while this page was open.",
        f"Top-up is {TopUpSetting.from_row(row).describe()} now. The form below shows the previous "
        "setting.",
        reload=True,
    )


def build_read_state_notice(facts: TopUpFacts) -> TopUpNotice | None:
    account, row = facts.account, facts.row
    as_of_text = f"Shown as of {clock(row.read_at)}." if row.read_at else ""
    if account.pause_reason:
        return TopUpNotice(
            "paused", "Top-up is paused.", f"{account.pause_reason} {as_of_text}".rstrip()
        )
    if not facts.is_reachable:
        return TopUpNotice("paused", UNREACHABLE_TEXT, f"{as_of_text} {ADD_ONE_TEXT}".lstrip())
    if account.plan != AccountPlan.PAID:
        reason = (
            row.read_error or "The service allows reading and changing top-up on paid plans only."
        )
        return TopUpNotice("paused", "Top-up is not available until the plan is paid.", reason)
    if row.read_error:
        text = f"{row.read_error} {as_of_text}".rstrip()
        return TopUpNotice("paused", "Top-up cannot be read right now.", text)
    return TopUpNotice("info", NEVER_READ_TEXT) if row.read_at is None else None


def build_drift_notice(row: AutoTopUp) -> TopUpNotice | None:
    if not row.is_disabled_elsewhere:
        return None
    reason = THREE_FAILURES_TEXT if is_stopped_by_failures(row) else CHANGED_ELSEWHERE_TEXT
    return TopUpNotice(
        "late", f"Top-up was on and has been off since {clock(row.found_off_at)}.", reason
    )


def build_failures_notice(row: AutoTopUp) -> TopUpNotice | None:
    is_stopped = is_stopped_by_failures(row)
    if not row.consecutive_failures or (row.is_disabled_elsewhere and is_stopped):
        return None
    if is_stopped:
        return TopUpNotice("late", "The service switched top-up off.", THREE_FAILURES_TEXT)
    seen_text = f", seen {clock(row.failure_seen_at)}" if row.failure_seen_at else ""
    return TopUpNotice("late", f"The last automatic top-up failed{seen_text}.", PAYMENT_FAILED_TEXT)


def build_unknown_pack_notice(row: AutoTopUp, bought: int | None) -> TopUpNotice | None:
    if not row.enabled or bought is not None or row.plan_id is None:
        return None
    return TopUpNotice(
        "info",
        f"It buys credit pack {row.plan_id}, whose number of credits is not set.",
        "Add the pack below to include it in the forecast.",
    )
