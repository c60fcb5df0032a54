"""What needs a person: the greatest risk first, of one kind the oldest.

Everybody of the team reads the same sentences; who may act finds the act behind the link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.overview.queries.attention_rows import KINDS_BY_RISK, AttentionRow
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.formatting import clock, credits, day
from dashboard.shared.query_params import build_page_url
from dashboard.shared.videos.cost import CreditAmount
from dashboard.shared.videos.labels import quote_text
from dashboard.shared.videos.progress import seconds_until
from dashboard.shared.videos.status_text import NO_TRIALS_TEXT, STILL_READABLE_TEXT
from proxyapi.forecast.top_up_rules import MAX_TOP_UP_FAILURES
from proxyapi.models import Account, AccountPlan, AutoTopUp, LedgerMirror
from proxyapi.top_up import is_stopped_by_failures

MAX_VISIBLE_ITEMS = 6  # that stand open; the others unfold
AUTO_TOP_UP_DISABLED_TEXT = (
    "The service turned it off after three failed payments. Turning it on again does not reset "
    "the count. Check the payment method first."
)


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """`text` may go on with an `amount` and `after`. `next`: seconds to the next look."""

    state: str
    title: str
    text: str
    link_label: str
    url: str
    amount: CreditAmount | None = None
    text_after_amount: str = ""
    next_check_s: float | None = None


@dataclass(frozen=True, slots=True)
class AttentionList:
    shown: tuple[AttentionItem, ...]
    more: tuple[AttentionItem, ...]

    @property
    def count(self) -> int:
        return len(self.shown) + len(self.more)


def build_attention_list(
    accounts: Sequence[Account], concerns: Sequence[AttentionRow], now: datetime, *, top_up: bool
) -> AttentionList:
    """`top_up`: whether the reader may open it; else they are shown how long the credits last."""
    found = [(concern.kind, ITEM_BUILDERS[concern.kind](concern, now)) for concern in concerns]
    stopped = not any(concern.kind == "rewrite" for concern in concerns)
    for account in accounts:
        found += build_account_items(account, stopped, top_up)
    found.sort(key=lambda pair: KINDS_BY_RISK.index(pair[0]))
    items = tuple(item for _, item in found)
    return AttentionList(items[:MAX_VISIBLE_ITEMS], items[MAX_VISIBLE_ITEMS:])


def unknown_charge_item(one: AttentionRow, now: datetime) -> AttentionItem:
    return AttentionItem(
        state="unknown",
        title=f"A charge of {member_first_name(one)} is unknown",
        text=f"{describe_operation(one)}, sent {clock(one.since)}, received no response. Cost:",
        amount=CreditAmount(one.amount, "unknown"),
        text_after_amount="; it was not sent again.",
        link_label="View charge",
        url=concern_reconciliation_url(one, f"charge-{one.id}"),
        next_check_s=seconds_until(one.next_check_at, now),
    )


def unidentified_resource_item(one: AttentionRow, now: datetime) -> AttentionItem:
    return AttentionItem(
        state="unknown",
        title=f"{credits(one.amount)} cr were charged, but the result is missing",
        text=(
            f"{describe_operation(one)} was charged at {clock(one.since)}, but we did not receive "
            "its ID. The service has no list of these. Contact its support with the time and the "
            "amount."
        ),
        link_label="View charge",
        url=concern_reconciliation_url(one, f"charge-{one.id}"),
    )


def owed_refund_item(one: AttentionRow, now: datetime) -> AttentionItem:
    return AttentionItem(
        state="late",
        title=f"The service owes {credits(one.amount)} cr back",
        text=f"{describe_operation(one)} failed. The refund is not in the ledger yet. Failed: "
        f"{clock(one.since)}.",
        link_label="View refunds owed",
        url=concern_reconciliation_url(one, "refunds"),
    )


def approval_request_item(one: AttentionRow, now: datetime) -> AttentionItem:
    title = f" {quote_text(one.subject)}" if one.subject else ""
    return AttentionItem(
        state="waiting",
        title=f"{member_first_name(one)} requests {credits(one.amount)} cr",
        text=f"{feature_label(one.operation_or_plan)}{title}, requested {clock(one.since)}.",
        link_label="Review request",
        url=reverse("budgets"),
    )


def revoked_token_item(one: AttentionRow, now: datetime) -> AttentionItem:
    name = member_first_name(one)
    renders = {
        0: "Nothing is rendering with it.",
        1: "One render continues at the service; Reelroom can check it",
    }
    said = renders.get(
        one.item_count, f"{one.item_count} renders continue at the service; Reelroom can check them"
    )
    again = f" again when {name} adds a new token." if one.item_count else ""
    return AttentionItem(
        state="paused",
        title=f"{name}’s token stopped working",
        text=f"Token …{one.subject}, at {clock(one.since)}. {said}{again}",
        link_label="View tokens",
        url=reverse("tokens"),
    )


def inactive_plan_item(one: AttentionRow, now: datetime) -> AttentionItem:
    """A plan that lapsed, or a trial, which never had one."""
    trial, name = one.operation_or_plan == AccountPlan.TRIAL, one.subject or "the account"
    return AttentionItem(
        state="paused",
        title=f"{name[:1].upper()}{name[1:]} is on a trial"
        if trial
        else f"The plan of {name} lapsed {on_date_text(one.since)}",
        text=f"{NO_TRIALS_TEXT} {STILL_READABLE_TEXT}"
        if trial
        else (
            "Nothing is lost. Videos stay here. Status checks are paused and resume automatically "
            "when the plan is paid."
        ),
        link_label="View tokens",
        url=reverse("tokens"),
    )


def ledger_conflict_item(one: AttentionRow, now: datetime) -> AttentionItem:
    rows = "One ledger row is" if one.item_count == 1 else f"{one.item_count} ledger rows are"
    return AttentionItem(
        state="unknown",
        title=f"{rows} different now",
        text=(
            f"Noticed at {clock(one.since)}. The ledger is not updated until someone has compared "
            "both versions."
        ),
        link_label="Compare versions",
        url=concern_reconciliation_url(one, "conflicts"),
    )


def unpolled_job_item(one: AttentionRow, now: datetime) -> AttentionItem:
    return AttentionItem(
        state="paused",
        title=f"Status checks stopped for {quote_text(one.subject)}",
        text=f"{member_first_name(one)}’s render continues at the service. Reelroom stopped "
        f"checking it {date_and_time_text(one.since)}. It has not failed. Use “Check again” on its "
        "page.",
        link_label="View video",
        url=reverse("video", args=[one.id]),
    )


def failed_jobs_item(one: AttentionRow, now: datetime) -> AttentionItem:
    single = one.item_count == 1
    return AttentionItem(
        state="failed",
        title="One render failed" if single else f"{one.item_count} renders failed",
        text=f"{quote_text(one.subject)} of {member_first_name(one)}, {clock(one.since)}. It was "
        "charged."
        if single
        else f"The latest at {clock(one.since)}. They were charged; the service does not refund "
        "renders automatically.",
        link_label="View video" if single else "View videos",
        url=reverse("video", args=[one.id]) if single else f"{reverse('library')}?state=failed",
    )


def outside_spend_item(one: AttentionRow, now: datetime) -> AttentionItem:
    entries = "One entry" if one.item_count == 1 else f"{one.item_count:,} entries"
    return AttentionItem(
        state="outside",
        title=f"{credits(one.amount)} cr spent outside the portal",
        text=f"{entries} this month, the latest {date_and_time_text(one.since)}.",
        link_label="View entries",
        url=build_page_url(
            "ledger",
            {
                "account": UUID(one.account),
                "direction": "out",
                "match": "no",
                "period": f"{timezone.localtime(one.since):%Y-%m}",
            },
        ),
    )


ITEM_BUILDERS: Mapping[str, Callable[[AttentionRow, datetime], AttentionItem]] = {
    "unknown": unknown_charge_item,
    "orphan": unidentified_resource_item,
    "refund": owed_refund_item,
    "ask": approval_request_item,
    "token": revoked_token_item,
    "plan": inactive_plan_item,
    "rewrite": ledger_conflict_item,
    "left_alone": unpolled_job_item,
    "failed": failed_jobs_item,
    "outside": outside_spend_item,
}


def build_account_items(
    account: Account, stopped: bool, may_open: bool
) -> Iterator[tuple[str, AttentionItem]]:
    """What the account's own rows say: a mirror that stopped, a top-up that does not work."""
    ledger: LedgerMirror | None = getattr(account, "ledger", None)
    if stopped and ledger and ledger.problem:
        url = reconciliation_section_url(account.pk)
        title = "The ledger is not being updated"
        yield "problem", AttentionItem("paused", title, ledger.problem, "View problem", url)
    top_up: AutoTopUp | None = getattr(account, "top_up", None)
    if top_up and (said := top_up_problem(top_up)):
        state, title, text = said
        page, act = ("top-up", "Open top-up") if may_open else ("forecast", "View forecast")
        url = f"{reverse(page)}?account={account.pk}"
        yield "top_up", AttentionItem(state, title, text, act, url)


def top_up_problem(top_up: AutoTopUp) -> tuple[str, str, str] | None:
    failures = top_up.consecutive_failures
    if is_stopped_by_failures(top_up):
        return (
            "failed",
            "Automatic top-up was switched off",
            AUTO_TOP_UP_DISABLED_TEXT,
        )
    if top_up.is_disabled_elsewhere:
        return (
            "late",
            "Automatic top-up is off",
            (
                f"It was off when we checked {on_date_text(top_up.found_off_at)}. No one here "
                "switched it off."
            ),
        )
    if failures and top_up.enabled:
        return (
            "late",
            "An automatic top-up failed",
            (
                f"{failures} of {MAX_TOP_UP_FAILURES} failures in a row. After the third the "
                "service switches it off."
            ),
        )
    return None


def concern_reconciliation_url(one: AttentionRow, place: str) -> str:
    return reconciliation_section_url(UUID(one.account), place)


def reconciliation_section_url(account: UUID, place: str = "") -> str:
    return f"{reverse('reconciliation')}?account={account}{f'#{place}' if place else ''}"


def describe_operation(one: AttentionRow) -> str:
    """`Luca’s render “Night trains are back”`"""
    title = f" {quote_text(one.subject)}" if one.subject else ""
    return f"{member_first_name(one)}’s {feature_label(one.operation_or_plan).lower()}{title}"


def member_first_name(one: AttentionRow) -> str:
    return one.member_name.split()[0] if one.member_name.strip() else "Someone"


def on_date_text(moment: datetime | None) -> str:
    said = day(moment)
    return said if said in ("today", "") else f"on {said}"


def date_and_time_text(moment: datetime) -> str:
    """`today at 11:47`, `on 18 Nov at 14:21`"""
    return f"{on_date_text(moment)} at {clock(moment).rpartition(' ')[2]}"
