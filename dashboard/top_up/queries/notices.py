"""What a treasurer is told above the top-up page, the most urgent first."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.shared.formatting import clock
from dashboard.top_up.queries.page_data import TopUpFacts
from proxyapi.models import AccountPlan, AutoTopUp, TopUpChange, TopUpChangeState
from proxyapi.top_up import TopUpSetting, is_stopped_by_failures

NEVER_READ_TEXT = "The setting was not read from the service yet. It is, within a minute."
UNREACHABLE_TEXT = "No token opens this account now."
ADD_ONE_TEXT = "The setting can be read and changed once a member adds a token of it."
CHANGED_ELSEWHERE_TEXT = "Somebody changed it at the service, on its page or with another program."
THREE_FAILURES_TEXT = (
    "The service switched it off after three failed payments. Switching it on again does not clear "
    "the count. Check the payment method there first."
)
PAYMENT_FAILED_TEXT = (
    "The service gives no reason. Check the payment method on its billing page; Reelroom cannot "
    "see it."
)


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
    who, when = change.member.first_name, clock(change.asked_at)
    if change.state == TopUpChangeState.UNKNOWN:
        return TopUpNotice("unknown", "We do not know yet whether it was saved.", change.reason)
    if change.is_open:
        wanted = TopUpSetting.from_mapping(change.wanted).describe()
        return TopUpNotice(
            "info", "Saving, waiting for the service.", f"{who} asked at {when}: top-up {wanted}."
        )
    said = change.reason.removeprefix("Saved. ").removeprefix("Not saved. ")
    if change.state == TopUpChangeState.SAVED:
        return TopUpNotice("good", "Saved.", f"{said} {who} asked at {when}.")
    return TopUpNotice("failed", "Not saved.", said)


def build_stale_form_notice(
    row: AutoTopUp, is_stale: bool, change: TopUpChange | None
) -> TopUpNotice | None:
    if not is_stale or (change is not None and change.is_open):
        return None
    return TopUpNotice(
        "late",
        "The setting changed while this page was open.",
        f"Top-up is {TopUpSetting.from_row(row).describe()} now. "
        "The form below shows what it was before.",
        reload=True,
    )


def build_read_state_notice(facts: TopUpFacts) -> TopUpNotice | None:
    account, row = facts.account, facts.row
    seen = f"What you see is from {clock(row.read_at)}." if row.read_at else ""
    if account.pause_reason:
        return TopUpNotice("paused", "Top-up is paused.", f"{account.pause_reason} {seen}".rstrip())
    if not facts.is_reachable:
        return TopUpNotice("paused", UNREACHABLE_TEXT, f"{seen} {ADD_ONE_TEXT}".lstrip())
    if account.plan != AccountPlan.PAID:
        why = row.read_error or "The service lets top-up be read and changed on paid plans only."
        return TopUpNotice("paused", "Top-up is closed while the plan is not paid.", why)
    if row.read_error:
        text = f"{row.read_error} {seen}".rstrip()
        return TopUpNotice("paused", "Top-up cannot be read at the moment.", text)
    return TopUpNotice("info", NEVER_READ_TEXT) if row.read_at is None else None


def build_drift_notice(row: AutoTopUp) -> TopUpNotice | None:
    if not row.is_disabled_elsewhere:
        return None
    why = THREE_FAILURES_TEXT if is_stopped_by_failures(row) else CHANGED_ELSEWHERE_TEXT
    return TopUpNotice("late", f"It was on, and since {clock(row.found_off_at)} it is off.", why)


def build_failures_notice(row: AutoTopUp) -> TopUpNotice | None:
    stopped = is_stopped_by_failures(row)
    if not row.consecutive_failures or (row.is_disabled_elsewhere and stopped):
        return None
    if stopped:
        return TopUpNotice("late", "The service has switched top-up off.", THREE_FAILURES_TEXT)
    when = f", seen {clock(row.failure_seen_at)}" if row.failure_seen_at else ""
    return TopUpNotice("late", f"The last automatic top-up failed{when}.", PAYMENT_FAILED_TEXT)


def build_unknown_pack_notice(row: AutoTopUp, bought: int | None) -> TopUpNotice | None:
    if not row.enabled or bought is not None or row.plan_id is None:
        return None
    return TopUpNotice(
        "info",
        f"It buys credit pack {row.plan_id}, and nobody has said how much that holds.",
        "Add the pack below, then the forecast counts with it.",
    )
