"""What a treasurer is told above the top-up page, the most urgent first (look §11)."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.queries.top_up.facts import Facts
from dashboard.templatetags.reelroom import clock
from proxyapi.models import AccountPlan, AutoTopUp, TopUpChange, TopUpChangeState
from proxyapi.top_up import TopUpSetting, is_stopped_by_failures

NEVER_READ = "The setting was not read from the service yet. It is, within a minute."
UNREACHABLE = "No token opens this account now."
ADD_ONE = "The setting can be read and changed once a member adds a token of it."
ANOTHERS = "Somebody changed it at the service, on its page or with another program."
THREE = (
    "The service switched it off after three failed payments. Switching it on again does not clear "
    "the count. Check the payment method there first."
)
FAILED = (
    "The service gives no reason. Check the payment method on its billing page; Reelroom cannot "
    "see it."
)


@dataclass(frozen=True, slots=True)
class Notice:
    """`state` of a banner; `reload`: it offers to draw the form anew."""

    state: str
    title: str
    text: str = ""
    reload: bool = False


def notices_of(
    facts: Facts, change: TopUpChange | None, bought: int | None, is_stale: bool
) -> tuple[Notice, ...]:
    """`is_stale`: the form beside it shows another setting than the service has."""
    row = facts.row
    found = [of_change(change), of_form(row, is_stale, change), of_reading(facts)]
    if row.read_at is not None:
        found += [of_drift(row), of_failures(row), of_pack(row, bought)]
    return tuple(notice for notice in found if notice)


def of_change(change: TopUpChange | None) -> Notice | None:
    if change is None:
        return None
    who, when = change.member.first_name, clock(change.asked_at)
    if change.state == TopUpChangeState.UNKNOWN:
        return Notice("unknown", "We do not know yet whether it was saved.", change.reason)
    if change.is_open:
        wanted = TopUpSetting.from_mapping(change.wanted).describe()
        return Notice(
            "info", "Saving, waiting for the service.", f"{who} asked at {when}: top-up {wanted}."
        )
    said = change.reason.removeprefix("Saved. ").removeprefix("Not saved. ")
    if change.state == TopUpChangeState.SAVED:
        return Notice("good", "Saved.", f"{said} {who} asked at {when}.")
    return Notice("failed", "Not saved.", said)


def of_form(row: AutoTopUp, is_stale: bool, change: TopUpChange | None) -> Notice | None:
    if not is_stale or (change is not None and change.is_open):
        return None
    return Notice(
        "late",
        "The setting changed while this page was open.",
        f"Top-up is {TopUpSetting.from_row(row).describe()} now. "
        "The form below shows what it was before.",
        reload=True,
    )


def of_reading(facts: Facts) -> Notice | None:
    account, row = facts.account, facts.row
    seen = f"What you see is from {clock(row.read_at)}." if row.read_at else ""
    if account.pause_reason:
        return Notice("paused", "Top-up is paused.", f"{account.pause_reason} {seen}".rstrip())
    if not facts.is_reachable:
        return Notice("paused", UNREACHABLE, f"{seen} {ADD_ONE}".lstrip())
    if account.plan != AccountPlan.PAID:
        why = row.read_error or "The service lets top-up be read and changed on paid plans only."
        return Notice("paused", "Top-up is closed while the plan is not paid.", why)
    if row.read_error:
        text = f"{row.read_error} {seen}".rstrip()
        return Notice("paused", "Top-up cannot be read at the moment.", text)
    return Notice("info", NEVER_READ) if row.read_at is None else None


def of_drift(row: AutoTopUp) -> Notice | None:
    if not row.is_disabled_elsewhere:
        return None
    why = THREE if is_stopped_by_failures(row) else ANOTHERS
    return Notice("late", f"It was on, and since {clock(row.found_off_at)} it is off.", why)


def of_failures(row: AutoTopUp) -> Notice | None:
    stopped = is_stopped_by_failures(row)
    if not row.consecutive_failures or (row.is_disabled_elsewhere and stopped):
        return None
    if stopped:
        return Notice("late", "The service has switched top-up off.", THREE)
    when = f", seen {clock(row.failure_seen_at)}" if row.failure_seen_at else ""
    return Notice("late", f"The last automatic top-up failed{when}.", FAILED)


def of_pack(row: AutoTopUp, bought: int | None) -> Notice | None:
    if not row.enabled or bought is not None or row.plan_id is None:
        return None
    return Notice(
        "info",
        f"It buys credit pack {row.plan_id}, and nobody has said how much that holds.",
        "Add the pack below, then the forecast counts with it.",
    )
