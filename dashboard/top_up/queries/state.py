"""What is known of an account's top-up now: the notices above the page and the cards beside it.

It fetches itself again whenever the top-up or the ledger is touched; nothing in it is typed into.
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
ENDED_CHANGE_SHOWN_FOR = timedelta(minutes=30)  # how long the end of a change stays above the page
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
    """`accounts` are all of the team. `changes` and `arrived`, the entries that are credits, have
    the newest first."""

    account: Account
    accounts: Sequence[Account]
    row: AutoTopUp
    packs: Sequence[CreditPack]
    changes: Sequence[TopUpChange]
    credit_entries: Sequence[LedgerEntry]
    now: datetime
    is_reachable: bool  # whether a token opens the account


def load_top_up_facts(account: Account, accounts: Sequence[Account]) -> TopUpFacts:
    """Three queries; the account comes with its tenant, its ledger, its top-up and whether
    it is reachable (`access.fetch_account`)."""
    now = timezone.now()
    # With the setting, which is written together with a change's end: a form that is drawn with
    # that end and the setting from before it would stay so.
    changes = account.top_up_changes.select_related("member", "account__top_up")
    known = list(changes.order_by("-requested_at")[:MAX_CHANGES_READ])
    arrived = account.entries.filter(amount__gt=0, happened_at__gte=now - ARRIVALS_WINDOW)
    return TopUpFacts(
        account,
        accounts,
        top_up_or_unsaved(known[0].account if known else account),
        load_credit_packs(account),
        known,
        list(arrived.order_by("-happened_at", "-position")[:MAX_CREDIT_ENTRIES_READ]),
        now,
        is_reachable=getattr(account, "is_reachable", False),
    )


def top_up_or_unsaved(account: Account) -> AutoTopUp:
    """As last read; an unsaved empty one before that."""
    row = getattr(account, "top_up", None)
    return row if isinstance(row, AutoTopUp) else AutoTopUp(account=account)


def displayed_setting(facts: TopUpFacts) -> TopUpSetting:
    """What the form shows: the change that is on its way, else the setting as last read."""
    change = facts.changes[0] if facts.changes else None
    if change is not None and change.is_open:
        return TopUpSetting.from_mapping(change.wanted)
    return TopUpSetting.from_row(facts.row)


@dataclass(frozen=True, slots=True)
class BlockGauge:
    """So many of three blocks."""

    filled: int
    state: str
    text: str

    @property
    def blocks(self) -> tuple[tuple[int, bool], ...]:
        return tuple((25 * place, place < self.filled) for place in range(3))


@dataclass(frozen=True, slots=True)
class TopUpStatus:
    """`each`, `most`: credits of one top-up and of a day's three, where they are known."""

    account_id: UUID
    url: str
    threshold: Decimal
    notices: tuple[TopUpNotice, ...]
    is_saving: bool
    is_unreachable: bool  # no token opens the account, so nothing can be saved
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
    """`drawn`: the digest of the setting that the form beside it shows."""
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
    """The one on its way, or the one that ended lately."""
    change = facts.changes[0] if facts.changes else None
    if change is None or change.is_open:
        return change
    ended = change.settled_at or change.requested_at
    return change if facts.now - ended < ENDED_CHANGE_SHOWN_FOR else None


def setting_digest(setting: TopUpSetting) -> str:
    """Recognises a setting in an address."""
    return hashlib.sha256(json.dumps(setting.to_dict()).encode()).hexdigest()[:12]


def top_up_status_url(account: Account) -> str:
    return f"{reverse('top-up-state')}?account={account.pk}"


def build_failures_gauge(row: AutoTopUp) -> BlockGauge:
    count = row.consecutive_failures
    state = "failed" if count >= MAX_TOP_UP_FAILURES else "late" if count else "info"
    return BlockGauge(min(count, MAX_TOP_UP_FAILURES), state, f"{count} of {MAX_TOP_UP_FAILURES}")


def cooldown_text(row: AutoTopUp, inferred: InferredTopUpState, zone: ZoneInfo) -> str:
    """What the service's wait after a failure means now."""
    if not row.consecutive_failures:
        return "After a failure the service waits 24 hours before it tries again."
    if row.failure_seen_at is None:
        return (
            "After a failure the service waits 24 hours. The time of the last failure is not "
            "known: it was counted before Reelroom first checked."
        )
    seen = format_short_time(row.failure_seen_at, zone)
    until = row.failure_seen_at + timedelta(hours=24)
    ends = "ends" if inferred.cooldown_until else "ended"
    return (
        f"The last one failed before {seen}. After a failure the service waits 24 hours. The wait "
        f"{ends} {format_short_time(until, zone)} at the latest."
    )


def day_reset_text(inferred: InferredTopUpState, zone: ZoneInfo) -> str:
    """When the UTC day ends for people who live elsewhere."""
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
    """`state` of a banner; `reload`: it offers to draw the form anew."""

    state: str
    title: str
    text: str = ""
    reload: bool = False


def build_top_up_notices(
    facts: TopUpFacts, change: TopUpChange | None, bought: int | None, is_stale: bool
) -> tuple[TopUpNotice, ...]:
    """`is_stale`: the form beside it shows another setting than the service has."""
    row = facts.row
    found = [
        build_change_notice(change),
        build_stale_form_notice(row, is_stale, change),
        build_read_state_notice(facts),
    ]
    if row.read_at is not None:
        found += [
            build_drift_notice(row),
            build_failures_notice(row),
            build_unknown_pack_notice(row, bought),
        ]
    return tuple(notice for notice in found if notice)


def build_change_notice(change: TopUpChange | None) -> TopUpNotice | None:
    if change is None:
        return None
    who, when = change.member.first_name, clock(change.requested_at)
    if change.state == TopUpChangeState.UNKNOWN:
        return TopUpNotice("unknown", "We do not know yet whether it was saved.", change.reason)
    if change.is_open:
        wanted = TopUpSetting.from_mapping(change.wanted).describe()
        return TopUpNotice(
            "info",
            "Saving, waiting for the service.",
            f"Requested by {who} at {when}: top-up {wanted}.",
        )
    said = change.reason.removeprefix("Saved. ").removeprefix("Not saved. ")
    if change.state == TopUpChangeState.SAVED:
        return TopUpNotice("good", "Saved.", f"{said} Requested by {who} at {when}.")
    return TopUpNotice("failed", "Not saved.", said)


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
    seen = f"Shown as of {clock(row.read_at)}." if row.read_at else ""
    if account.pause_reason:
        return TopUpNotice("paused", "Top-up is paused.", f"{account.pause_reason} {seen}".rstrip())
    if not facts.is_reachable:
        return TopUpNotice("paused", UNREACHABLE_TEXT, f"{seen} {ADD_ONE_TEXT}".lstrip())
    if account.plan != AccountPlan.PAID:
        why = row.read_error or "The service allows reading and changing top-up on paid plans only."
        return TopUpNotice("paused", "Top-up is not available until the plan is paid.", why)
    if row.read_error:
        text = f"{row.read_error} {seen}".rstrip()
        return TopUpNotice("paused", "Top-up cannot be read right now.", text)
    return TopUpNotice("info", NEVER_READ_TEXT) if row.read_at is None else None


def build_drift_notice(row: AutoTopUp) -> TopUpNotice | None:
    if not row.is_disabled_elsewhere:
        return None
    why = THREE_FAILURES_TEXT if is_stopped_by_failures(row) else CHANGED_ELSEWHERE_TEXT
    return TopUpNotice(
        "late", f"Top-up was on and has been off since {clock(row.found_off_at)}.", why
    )


def build_failures_notice(row: AutoTopUp) -> TopUpNotice | None:
    stopped = is_stopped_by_failures(row)
    if not row.consecutive_failures or (row.is_disabled_elsewhere and stopped):
        return None
    if stopped:
        return TopUpNotice("late", "The service switched top-up off.", THREE_FAILURES_TEXT)
    when = f", seen {clock(row.failure_seen_at)}" if row.failure_seen_at else ""
    return TopUpNotice("late", f"The last automatic top-up failed{when}.", PAYMENT_FAILED_TEXT)


def build_unknown_pack_notice(row: AutoTopUp, bought: int | None) -> TopUpNotice | None:
    if not row.enabled or bought is not None or row.plan_id is None:
        return None
    return TopUpNotice(
        "info",
        f"It buys credit pack {row.plan_id}, whose number of credits is not set.",
        "Add the pack below to include it in the forecast.",
    )
