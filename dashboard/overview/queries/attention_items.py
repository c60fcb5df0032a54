"""The list of what needs attention, by risk, then oldest first.

Every member reads the same sentences; the linked page offers the action to those who may take it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.overview.queries.attention_rows import KINDS_BY_RISK, NEVER_HAD_PLAN, AttentionRow
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.formatting import clock, credits, day
from dashboard.shared.query_params import build_page_url
from dashboard.shared.videos.cost import CreditAmount
from dashboard.shared.videos.labels import quote_text
from dashboard.shared.videos.progress import seconds_until
from dashboard.shared.videos.status_text import NO_TRIALS_TEXT, STILL_READABLE_TEXT
from proxyapi.forecast.top_up_rules import MAX_TOP_UP_FAILURES
from proxyapi.models import Account, AccountPlan, AutoTopUp, LedgerMirror, SpendingObstacle
from proxyapi.top_up import is_stopped_by_failures

PAID_PLANS_ONLY_TEXT = "The service allows its API on paid plans only."
UNVERIFIED_TEXT = "The service may refuse to render until its owner verifies the address there."
MAX_VISIBLE_ITEMS = 6  # the others are collapsed
AUTO_TOP_UP_DISABLED_TEXT = (
    "The service turned it off after three failed payments. Turning it on again does not reset "
    "the count. Check the payment method first."
)


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """`text` may be followed by `amount` and `text_after_amount`. `next_check_s` is in seconds from
    now."""

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
    """`top_up` is True if the reader may open the top-up page; otherwise the link goes to the
    forecast."""
    kinds_and_items = [
        (concern.kind, ITEM_BUILDERS[concern.kind](concern, now)) for concern in concerns
    ]
    can_report_problem = not any(concern.kind == "rewrite" for concern in concerns)
    for account in accounts:
        kinds_and_items += build_account_items(account, can_report_problem, top_up)
    kinds_and_items.sort(key=lambda pair: KINDS_BY_RISK.index(pair[0]))
    items = tuple(item for _, item in kinds_and_items)
    return AttentionList(items[:MAX_VISIBLE_ITEMS], items[MAX_VISIBLE_ITEMS:])


def unknown_charge_item(row: AttentionRow, now: datetime) -> AttentionItem:
    return AttentionItem(
        state="unknown",
        title=f"A charge of {member_first_name(row)} is unknown",
        text=f"{describe_operation(row)}, sent {clock(row.since)}, received no response. Cost:",
        amount=CreditAmount(row.amount, "unknown"),
        text_after_amount="; it was not sent again.",
        link_label="View charge",
        url=concern_reconciliation_url(row, f"charge-{row.id}"),
        next_check_s=seconds_until(row.next_check_at, now),
    )


def unidentified_resource_item(row: AttentionRow, now: datetime) -> AttentionItem:
    return AttentionItem(
        state="unknown",
        title=f"{credits(row.amount)} cr were charged, but the result is missing",
        text=(
            f"{describe_operation(row)} was charged at {clock(row.since)}, but we did not receive "
            "its ID. The service has no list of these. Contact its support with the time and the "
            "amount."
        ),
        link_label="View charge",
        url=concern_reconciliation_url(row, f"charge-{row.id}"),
    )


def owed_refund_item(row: AttentionRow, now: datetime) -> AttentionItem:
    return AttentionItem(
        state="late",
        title=f"The service owes {credits(row.amount)} cr back",
        text=f"{describe_operation(row)} failed. The refund is not in the ledger yet. Failed: "
        f"{clock(row.since)}.",
        link_label="View refunds owed",
        url=concern_reconciliation_url(row, "refunds"),
    )


def approval_request_item(row: AttentionRow, now: datetime) -> AttentionItem:
    title = f" {quote_text(row.subject)}" if row.subject else ""
    return AttentionItem(
        state="waiting",
        title=f"{member_first_name(row)} requests {credits(row.amount)} cr",
        text=f"{feature_label(row.operation_or_plan)}{title}, requested {clock(row.since)}.",
        link_label="Review request",
        url=reverse("budgets"),
    )


def agent_request_item(row: AttentionRow, now: datetime) -> AttentionItem:
    items = "one item" if row.item_count == 1 else f"{row.item_count} items"
    return AttentionItem(
        state="waiting",
        title=f"{row.member_name} requests up to {credits(row.amount)} cr",
        text=f"An agent asks once for {items}, requested {clock(row.since)}.",
        link_label="View agents",
        url=reverse("agents"),
    )


def batch_request_item(row: AttentionRow, now: datetime) -> AttentionItem:
    return AttentionItem(
        state="waiting",
        title=f"{member_first_name(row)} asks to start a batch",
        text=f"{quote_text(row.subject)}, requested {clock(row.since)}.",
        link_label="Review batch",
        url=reverse("batch", args=[row.id]),
    )


def revoked_token_item(row: AttentionRow, now: datetime) -> AttentionItem:
    name = member_first_name(row)
    renders = {
        0: "Nothing is rendering with it.",
        1: "One render continues at the service; Reelroom can check it",
    }
    renders_text = renders.get(
        row.item_count, f"{row.item_count} renders continue at the service; Reelroom can check them"
    )
    resume_text = f" again when {name} adds a new token." if row.item_count else ""
    return AttentionItem(
        state="paused",
        title=f"{name}’s token stopped working",
        text=f"Token …{row.subject}, at {clock(row.since)}. {renders_text}{resume_text}",
        link_label="View tokens",
        url=reverse("tokens"),
    )


def inactive_plan_item(row: AttentionRow, now: datetime) -> AttentionItem:
    """An item for a lapsed plan, a trial, or an account that never had a plan."""
    name, plan = row.subject or "the account", row.operation_or_plan
    name = f"{name[:1].upper()}{name[1:]}"
    title, text = (
        f"The plan of {row.subject or 'the account'} lapsed {on_date_text(row.since)}",
        (
            "Nothing is lost. Videos stay here. Status checks are paused and resume automatically "
            "when the plan is paid."
        ),
    )
    if plan == AccountPlan.TRIAL:
        title, text = f"{name} is on a trial", f"{NO_TRIALS_TEXT} {STILL_READABLE_TEXT}"
    if plan == NEVER_HAD_PLAN:
        title, text = f"{name} has no paid plan", f"{PAID_PLANS_ONLY_TEXT} {STILL_READABLE_TEXT}"
    return AttentionItem("paused", title, text, "View tokens", reverse("tokens"))


def ledger_conflict_item(row: AttentionRow, now: datetime) -> AttentionItem:
    rows = "One ledger row is" if row.item_count == 1 else f"{row.item_count} ledger rows are"
    return AttentionItem(
        state="unknown",
        title=f"{rows} different now",
        text=(
            f"Noticed at {clock(row.since)}. The ledger is not updated until someone has compared "
            "both versions."
        ),
        link_label="Compare versions",
        url=concern_reconciliation_url(row, "conflicts"),
    )


def unpolled_job_item(row: AttentionRow, now: datetime) -> AttentionItem:
    return AttentionItem(
        state="paused",
        title=f"Status checks stopped for {quote_text(row.subject)}",
        text=f"{member_first_name(row)}’s render continues at the service. Reelroom stopped "
        f"checking it {date_and_time_text(row.since)}. It has not failed. Use “Check again” on its "
        "page.",
        link_label="View video",
        url=reverse("video", args=[row.id]),
    )


def failed_jobs_item(row: AttentionRow, now: datetime) -> AttentionItem:
    is_single = row.item_count == 1
    return AttentionItem(
        state="failed",
        title="One render failed" if is_single else f"{row.item_count} renders failed",
        text=f"{quote_text(row.subject)} of {member_first_name(row)}, {clock(row.since)}. It was "
        "charged."
        if is_single
        else f"The latest at {clock(row.since)}. They were charged; no refund has been "
        "seen in the ledger.",
        link_label="View video" if is_single else "View videos",
        url=reverse("video", args=[row.id]) if is_single else f"{reverse('library')}?state=failed",
    )


def outside_spend_item(row: AttentionRow, now: datetime) -> AttentionItem:
    entries = "One entry" if row.item_count == 1 else f"{row.item_count:,} entries"
    return AttentionItem(
        state="outside",
        title=f"{credits(row.amount)} cr spent outside the portal",
        text=f"{entries} this month, the latest {date_and_time_text(row.since)}."
        + (f" Above the daily limit: {quote_text(row.subject)}." if row.subject else ""),
        link_label="View entries",
        url=build_page_url(
            "ledger",
            {
                "account": UUID(row.account),
                "direction": "out",
                "match": "no",
                "period": f"{timezone.localtime(row.since):%Y-%m}",
            },
        ),
    )


ITEM_BUILDERS: Mapping[str, Callable[[AttentionRow, datetime], AttentionItem]] = {
    "unknown": unknown_charge_item,
    "orphan": unidentified_resource_item,
    "refund": owed_refund_item,
    "ask": approval_request_item,
    "agent_ask": agent_request_item,
    "batch_ask": batch_request_item,
    "token": revoked_token_item,
    "plan": inactive_plan_item,
    "rewrite": ledger_conflict_item,
    "left_alone": unpolled_job_item,
    "failed": failed_jobs_item,
    "outside": outside_spend_item,
}


def build_account_items(
    account: Account, can_report_problem: bool, can_open_top_up: bool
) -> Iterator[tuple[str, AttentionItem]]:
    """Items from the account's own rows: an address that is not verified, a stopped ledger mirror,
    a failing top-up."""
    if account.spending_obstacle == SpendingObstacle.UNVERIFIED:
        title = f"The e-mail address of {account.label} is not verified"
        yield (
            "plan",
            AttentionItem("paused", title, UNVERIFIED_TEXT, "View tokens", reverse("tokens")),
        )
    ledger: LedgerMirror | None = getattr(account, "ledger", None)
    if can_report_problem and ledger and ledger.problem:
        url = reconciliation_section_url(account.pk)
        title = "The ledger is not being updated"
        yield "problem", AttentionItem("paused", title, ledger.problem, "View problem", url)
    top_up: AutoTopUp | None = getattr(account, "top_up", None)
    if top_up and (problem := top_up_problem(top_up)):
        state, title, text = problem
        page, act = ("top-up", "Open top-up") if can_open_top_up else ("forecast", "View forecast")
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


def concern_reconciliation_url(row: AttentionRow, anchor: str) -> str:
    return reconciliation_section_url(UUID(row.account), anchor)


def reconciliation_section_url(account: UUID, anchor: str = "") -> str:
    return f"{reverse('reconciliation')}?account={account}{f'#{anchor}' if anchor else ''}"


def describe_operation(row: AttentionRow) -> str:
    """`Luca’s render “Night trains are back”`"""
    title = f" {quote_text(row.subject)}" if row.subject else ""
    return f"{member_first_name(row)}’s {feature_label(row.operation_or_plan).lower()}{title}"


def member_first_name(row: AttentionRow) -> str:
    return row.member_name.split()[0] if row.member_name.strip() else "Someone"


def on_date_text(moment: datetime | None) -> str:
    date_text = day(moment)
    return date_text if date_text in ("today", "") else f"on {date_text}"


def date_and_time_text(moment: datetime) -> str:
    """`today at 11:47`, `on 18 Nov at 14:21`"""
    return f"{on_date_text(moment)} at {clock(moment).rpartition(' ')[2]}"
