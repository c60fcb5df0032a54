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

from dashboard.queries.forecast import bought_by
from dashboard.queries.top_up.facts import Facts
from dashboard.queries.top_up.notices import Notice, notices_of
from proxyapi.forecast.top_up_rules import MAX_TOP_UP_FAILURES, MAX_TOP_UPS_PER_DAY
from proxyapi.models import Account, AutoTopUp, TopUpChange
from proxyapi.top_up import InferredTopUpState, TopUpSetting, infer_from_entries

SHOWN_FOR = timedelta(minutes=30)  # how long the end of a change stays above the page


@dataclass(frozen=True, slots=True)
class Gauge:
    """So many of three blocks."""

    on: int
    state: str
    says: str

    @property
    def blocks(self) -> tuple[tuple[int, bool], ...]:
        return tuple((25 * place, place < self.on) for place in range(3))


@dataclass(frozen=True, slots=True)
class State:
    """`each`, `most`: credits of one top-up and of a day's three, where they are known."""

    account_id: UUID
    url: str
    threshold: Decimal
    notices: tuple[Notice, ...]
    is_saving: bool
    is_shut: bool  # no token opens the account, so nothing can be saved
    setting: str
    purchase: str
    read_at: datetime | None
    failures: Gauge
    rest: str
    is_rest_inferred: bool
    today: Gauge
    day: str
    each: Decimal | None
    most: Decimal | None

    @property
    def age(self) -> timedelta | None:
        return timezone.now() - self.read_at if self.read_at else None


def state_of(facts: Facts, drawn: str = "") -> State:
    """`drawn`: the digest of the setting that the form beside it shows."""
    account, row, zone = facts.account, facts.row, facts.account.vault.zone
    setting, change = TopUpSetting.from_row(row), latest_change(facts)
    inferred = infer_from_entries(facts.arrived, row, facts.now)
    bought = bought_by(setting, facts.packs) if setting.enabled else None
    is_stale = bool(drawn) and drawn != digest(setting)
    return State(
        account_id=account.pk,
        url=url_of(account),
        threshold=account.monthly_credits / 10,
        notices=notices_of(facts, change, bought, is_stale),
        is_saving=change is not None and change.is_open,
        is_shut=not facts.is_reachable,
        setting=setting.describe(),
        purchase=setting.describe_purchase(),
        read_at=row.read_at,
        failures=failures_of(row),
        rest=rest_of(row, inferred, zone),
        is_rest_inferred=row.consecutive_failures > 0,
        today=Gauge(
            min(inferred.successes_today, MAX_TOP_UPS_PER_DAY),
            "info",
            f"{inferred.successes_today} of {MAX_TOP_UPS_PER_DAY}",
        ),
        day=day_words(inferred, zone),
        each=None if bought is None else Decimal(bought),
        most=None if bought is None else Decimal(bought * MAX_TOP_UPS_PER_DAY),
    )


def latest_change(facts: Facts) -> TopUpChange | None:
    """The one on its way, or the one that ended lately."""
    change = facts.changes[0] if facts.changes else None
    if change is None or change.is_open:
        return change
    ended = change.settled_at or change.asked_at
    return change if facts.now - ended < SHOWN_FOR else None


def digest(setting: TopUpSetting) -> str:
    """Recognises a setting in an address."""
    return hashlib.sha256(json.dumps(setting.to_dict()).encode()).hexdigest()[:12]


def url_of(account: Account) -> str:
    return f"{reverse('top-up-state')}?account={account.pk}"


def failures_of(row: AutoTopUp) -> Gauge:
    count = row.consecutive_failures
    state = "failed" if count >= MAX_TOP_UP_FAILURES else "late" if count else "info"
    return Gauge(min(count, MAX_TOP_UP_FAILURES), state, f"{count} of {MAX_TOP_UP_FAILURES}")


def rest_of(row: AutoTopUp, inferred: InferredTopUpState, zone: ZoneInfo) -> str:
    """What the service's wait after a failure means now."""
    if not row.consecutive_failures:
        return "After a failure the service waits 24 hours before it tries again."
    if row.failure_seen_at is None:
        return (
            "After a failure the service waits 24 hours. When the last one failed is not known: "
            "it was counted before Reelroom looked."
        )
    seen = stamp(row.failure_seen_at, zone)
    until = row.failure_seen_at + timedelta(hours=24)
    ends = "ends" if inferred.cooldown_until else "ended"
    return (
        f"The last one failed before {seen}. After a failure the service waits 24 hours; "
        f"that {ends} {stamp(until, zone)} at the latest."
    )


def day_words(inferred: InferredTopUpState, zone: ZoneInfo) -> str:
    """When the UTC day ends for people who live elsewhere."""
    ends = inferred.day_end.astimezone(zone)
    if not ends.utcoffset():
        return "The count begins anew at midnight, 00:00 UTC."
    return f"The count begins anew at 00:00 UTC, that is {ends:%H:%M} in {place_of(zone)}."


def stamp(moment: datetime, zone: ZoneInfo) -> str:
    local = moment.astimezone(zone)
    return f"{local.day} {local:%b %H:%M}"


def place_of(zone: ZoneInfo) -> str:
    return zone.key.rpartition("/")[2].replace("_", " ")
