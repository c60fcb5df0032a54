"""What is known of an account's top-up now: the notices above the page and the cards beside it.

It fetches itself again whenever the top-up or the ledger is touched; nothing in it is typed into.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

from django.urls import reverse
from django.utils import timezone

from dashboard.shared.forecast import credits_per_top_up
from dashboard.top_up.queries.notices import TopUpNotice, build_top_up_notices
from dashboard.top_up.queries.page_data import TopUpFacts
from proxyapi.forecast.top_up_rules import MAX_TOP_UP_FAILURES, MAX_TOP_UPS_PER_DAY
from proxyapi.models import Account, AutoTopUp, TopUpChange
from proxyapi.top_up import InferredTopUpState, TopUpSetting, infer_from_entries

ENDED_CHANGE_SHOWN_FOR = timedelta(minutes=30)  # how long the end of a change stays above the page


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
    ended = change.settled_at or change.asked_at
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
            "After a failure the service waits 24 hours. When the last one failed is not known: "
            "it was counted before Reelroom looked."
        )
    seen = format_short_time(row.failure_seen_at, zone)
    until = row.failure_seen_at + timedelta(hours=24)
    ends = "ends" if inferred.cooldown_until else "ended"
    return (
        f"The last one failed before {seen}. After a failure the service waits 24 hours; "
        f"that {ends} {format_short_time(until, zone)} at the latest."
    )


def day_reset_text(inferred: InferredTopUpState, zone: ZoneInfo) -> str:
    """When the UTC day ends for people who live elsewhere."""
    ends = inferred.day_end.astimezone(zone)
    if not ends.utcoffset():
        return "The count begins anew at midnight, 00:00 UTC."
    return f"The count begins anew at 00:00 UTC, that is {ends:%H:%M} in {zone_city(zone)}."


def format_short_time(moment: datetime, zone: ZoneInfo) -> str:
    local = moment.astimezone(zone)
    return f"{local.day} {local:%b %H:%M}"


def zone_city(zone: ZoneInfo) -> str:
    return zone.key.rpartition("/")[2].replace("_", " ")
