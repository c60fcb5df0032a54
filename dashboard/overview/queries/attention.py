"""The list of what needs attention, by risk, then oldest first.

Every member reads the same sentences; the linked page offers the action to those who may take it. A
kind that can have very many objects is one item with their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Case, Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership, Team
from dashboard.shared.access import has_permission
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.formatting import clock, credits, day, join_names
from dashboard.shared.outside_spend import load_unexpected_days
from dashboard.shared.query_params import build_page_url
from dashboard.shared.roles import Permission
from dashboard.shared.videos.cost import CreditAmount
from dashboard.shared.videos.labels import quote_text
from dashboard.shared.videos.progress import seconds_until
from dashboard.shared.videos.status_text import NO_TRIALS_TEXT, STILL_READABLE_TEXT
from dashboard.shared.waiting_requests import load_waiting_requests
from proxyapi.forecast.top_up_rules import MAX_TOP_UP_FAILURES
from proxyapi.models import (
    Account,
    AccountPlan,
    AutoTopUp,
    Charge,
    ChargeState,
    Job,
    JobOrigin,
    JobState,
    LedgerConflict,
    SpendingObstacle,
    Token,
    TokenState,
)
from proxyapi.top_up import is_stopped_by_failures

FAILED_JOBS_MAX_AGE = timedelta(days=14)
UNIDENTIFIED_RESOURCES_MAX_AGE = timedelta(days=30)
MAX_ITEMS = 200  # of those with a row for each object
MAX_VISIBLE_ITEMS = 6  # the others are collapsed
KINDS_BY_RISK = (  # the greatest risk first
    *("rewrite", "problem", "unknown", "orphan", "refund", "ask", "token", "plan"),
    *("left_alone", "top_up", "failed", "outside"),
)
# One item for each object without a limit; these are the first that `MAX_ITEMS` leaves out.
UNBOUNDED_KINDS = ("refund", "left_alone")
NOT_REFUNDED = Q(refunded_at__isnull=True)
PAID_PLANS_ONLY_TEXT = "The service allows its API on paid plans only."
UNVERIFIED_TEXT = "The service may refuse to render until its owner verifies the address there."
AUTO_TOP_UP_DISABLED_TEXT = (
    "The service turned it off after three failed payments. Turning it on again does not reset "
    "the count. Check the payment method first."
)


class AttentionItem(NamedTuple):
    """`kind` is one of `KINDS_BY_RISK`. `text` may be followed by `amount` and `text_after_amount`.
    `next_check_s` is in seconds from now."""

    kind: str
    since: datetime  # of what has no time of its own: now
    state: str
    title: str
    text: str
    link_label: str
    url: str
    amount: CreditAmount | None = None
    text_after_amount: str = ""
    next_check_s: float | None = None


def load_attention_list(reader: Membership, accounts: Sequence[Account]) -> dict[str, Any]:
    """The items that are shown, those behind “more”, and the number of all."""
    now, zone = timezone.now(), reader.team.tenant.zone
    month = datetime.combine(now.astimezone(zone).date().replace(day=1), time.min, zone)
    items = find_attention_items(reader.team, [account.pk for account in accounts], month, now)
    is_rewritten = any(item.kind == "rewrite" for item in items)
    may_top_up = has_permission(reader, Permission.MANAGE_MONEY)
    for account in accounts:
        items += account_items(account, now, not is_rewritten, may_top_up)
    items.sort(key=lambda item: KINDS_BY_RISK.index(item.kind))
    shown, more = items[:MAX_VISIBLE_ITEMS], items[MAX_VISIBLE_ITEMS:]
    return {"shown": shown, "more": more, "count": len(items)}


def find_attention_items(
    team: Team, accounts: Sequence[UUID], month: datetime, now: datetime
) -> list[AttentionItem]:
    """What the rows of the team say, by risk, then oldest first. Spend outside the portal counts
    from `month` on. A dozen queries, each by an index and short to build."""
    tenant = team.tenant_id
    found = [
        *unknown_charges(tenant, now),
        *unidentified_resources(tenant, now),
        *owed_refunds(tenant),
        *waiting_requests(team),
        *revoked_tokens(tenant),
        *inactive_plans(tenant, now),
        *ledger_conflicts(accounts),
        *unpolled_jobs(tenant, now),
        *failed_jobs(tenant, now),
    ]
    found.sort(key=lambda item: (item.kind in UNBOUNDED_KINDS, risk_and_age(item)))
    outside = outside_spend(team, accounts, month)
    return sorted([*found[:MAX_ITEMS], *outside], key=risk_and_age)


def risk_and_age(item: AttentionItem) -> tuple[int, datetime]:
    return KINDS_BY_RISK.index(item.kind), item.since


def charge_rows(tenant: UUID, condition: Q, since: str) -> QuerySet[Any, dict[str, Any]]:
    """The oldest charges, with `since` and what `describe_operation` reads."""
    charges = Charge.objects.filter(condition, tenant=tenant).order_by(since)[:MAX_ITEMS]
    columns = ("pk", "account", "due_at", "operation", "member__name", "job__title")
    amount = Coalesce(F("cost"), F("quote"), F("hold"))
    rows: QuerySet[Any, dict[str, Any]] = charges.values(*columns, since=F(since), amount=amount)
    return rows


def unknown_charges(tenant: UUID, now: datetime) -> Iterator[AttentionItem]:
    for row in charge_rows(tenant, Q(state=ChargeState.UNKNOWN), "sent_at"):
        yield AttentionItem(
            *("unknown", row["since"], "unknown"),
            title=f"A charge of {first_name(row['member__name'])} is unknown",
            text=f"{describe_operation(row)}, sent {clock(row['since'])}, received no response. "
            "Cost:",
            amount=CreditAmount(row["amount"], "unknown"),
            text_after_amount="; it was not sent again.",
            link_label="View charge",
            url=reconciliation_url(row["account"], f"charge-{row['pk']}"),
            next_check_s=seconds_until(row["due_at"], now),
        )


def unidentified_resources(tenant: UUID, now: datetime) -> Iterator[AttentionItem]:
    recent = Q(unidentified_at__gte=now - UNIDENTIFIED_RESOURCES_MAX_AGE)
    for row in charge_rows(tenant, recent & NOT_REFUNDED, "unidentified_at"):
        yield AttentionItem(
            *("orphan", row["since"], "unknown"),
            title=f"{credits(row['amount'])} cr were charged, but the result is missing",
            text=f"{describe_operation(row)} was charged at {clock(row['since'])}, but we did not "
            "receive its ID. The service has no list of these. Contact its support with the time "
            "and the amount.",
            link_label="View charge",
            url=reconciliation_url(row["account"], f"charge-{row['pk']}"),
        )


def owed_refunds(tenant: UUID) -> Iterator[AttentionItem]:
    owed = Q(refund_owed_at__isnull=False) & NOT_REFUNDED
    for row in charge_rows(tenant, owed, "refund_owed_at"):
        yield AttentionItem(
            *("refund", row["since"], "late"),
            title=f"The service owes {credits(row['amount'])} cr back",
            text=f"{describe_operation(row)} failed. The refund is not in the ledger yet. Failed: "
            f"{clock(row['since'])}.",
            link_label="View refunds owed",
            url=reconciliation_url(row["account"], "refunds"),
        )


def waiting_requests(team: Team) -> Iterator[AttentionItem]:
    for row in load_waiting_requests(team):
        text = f"{row.text} Requested {clock(row.asked_at)}."
        yield AttentionItem(
            "ask", row.asked_at, "waiting", row.title, text, "View request", row.list_url
        )


def revoked_tokens(tenant: UUID) -> Iterator[AttentionItem]:
    """Each with the number of running renders that cannot be polled without it."""
    revoked = Token.objects.filter(tenant=tenant, state=TokenState.REVOKED)
    running = Q(jobs__state=JobState.RUNNING, jobs__hidden_at=None)
    rows = revoked.annotate(renders=Count("jobs", filter=running)).order_by("state_since")
    for last_four, since, owner, count in rows.values_list(
        "last_four", "state_since", "owner__name", "renders"
    )[:MAX_ITEMS]:
        name = first_name(owner)
        text = "Nothing is rendering with it."
        if count:
            renders, them = ("One render continues", "it")
            if count > 1:
                renders, them = (f"{count} renders continue", "them")
            text = (
                f"{renders} at the service; Reelroom can check {them} again when {name} adds a new "
                "token."
            )
        yield AttentionItem(
            *("token", since, "paused"),
            title=f"{name}’s token stopped working",
            text=f"Token …{last_four}, at {clock(since)}. {text}",
            link_label="View tokens",
            url=reverse("tokens"),
        )


def inactive_plans(tenant: UUID, now: datetime) -> Iterator[AttentionItem]:
    """An item for each account with a lapsed plan, a trial, or that never had a plan."""
    lapsed_at = Case(When(account__plan_ends_at__lte=now, then="account__plan_ends_at"))
    never = Q(account__plan=AccountPlan.NONE, account__plan_name="", account__plan_ends_at=None)
    rows = Token.objects.filter(tenant=tenant, state=TokenState.PAUSED).order_by()
    for row in rows.values("account__name", "account__plan", "account").annotate(
        since=Min(Coalesce(lapsed_at, F("state_since"))),
        never=Max(Case(When(never, then=Value(1)), default=Value(0))),
    ):
        name = row["account__name"] or "the account"
        title = f"The plan of {name} lapsed {on_date_text(row['since'])}"
        text = (
            "Nothing is lost. Videos stay here. Status checks are paused and resume automatically "
            "when the plan is paid."
        )
        name = f"{name[:1].upper()}{name[1:]}"
        if row["account__plan"] == AccountPlan.TRIAL:
            title, text = f"{name} is on a trial", f"{NO_TRIALS_TEXT} {STILL_READABLE_TEXT}"
        elif row["never"]:
            title = f"{name} has no paid plan"
            text = f"{PAID_PLANS_ONLY_TEXT} {STILL_READABLE_TEXT}"
        yield AttentionItem(
            "plan", row["since"], "paused", title, text, "View tokens", reverse("tokens")
        )


def ledger_conflicts(accounts: Sequence[UUID]) -> Iterator[AttentionItem]:
    conflicts = LedgerConflict.objects.filter(account__in=accounts, accepted_at__isnull=True)
    rows = conflicts.order_by().values_list("account")
    for account, since, count in rows.annotate(since=Min("noticed_at"), count=Count("pk")):
        subject = "One ledger row is" if count == 1 else f"{count} ledger rows are"
        yield AttentionItem(
            *("rewrite", since, "unknown"),
            title=f"{subject} different now",
            text=f"Noticed at {clock(since)}. The ledger is not updated until someone has compared "
            "both versions.",
            link_label="Compare versions",
            url=reconciliation_url(account, "conflicts"),
        )


def unpolled_jobs(tenant: UUID, now: datetime) -> Iterator[AttentionItem]:
    """Renders that continue at the service but are no longer polled."""
    stopped = Job.objects.visible().polling_stopped(now).filter(tenant=tenant)
    rows = stopped.annotate(since=Coalesce("poll_failing_since", "polled_at", "created_at"))
    for pk, title, member, since in rows.order_by("since").values_list(
        "pk", "title", "member__name", "since"
    )[:MAX_ITEMS]:
        yield AttentionItem(
            *("left_alone", since, "paused"),
            title=f"Status checks stopped for {quote_text(title)}",
            text=f"{first_name(member)}’s render continues at the service. Reelroom stopped "
            f"checking it {date_and_time_text(since)}. It has not failed. Use “Check again” on its "
            "page.",
            link_label="View video",
            url=reverse("video", args=[pk]),
        )


def failed_jobs(tenant: UUID, now: datetime) -> Iterator[AttentionItem]:
    """One item for failed renders whose credits are lost: not those that were refunded, nor clips,
    which only wait for their refund, nor runs from before an import, of which the cost is not
    known."""
    failed = (
        Job.objects.visible()
        .videos()
        .filter(tenant=tenant, state=JobState.FAILED, finished_at__gte=now - FAILED_JOBS_MAX_AGE)
        .exclude(origin=JobOrigin.IMPORT, started_at__isnull=True)
    )
    charges = Charge.objects.filter(job=OuterRef("pk"))
    owed = charges.filter(refund_owed_at__isnull=False)
    refunded = charges.filter(applied_at=OuterRef("started_at"), refunded_at__isnull=False)
    failed = failed.filter(~Exists(owed), ~Exists(refunded)).order_by("-finished_at")
    rows = list(failed.values_list("pk", "title", "member__name", "finished_at")[:MAX_ITEMS])
    if not rows:
        return
    pk, title, member, finished_at = rows[0]
    since = finished_at or now
    if len(rows) == 1:
        yield AttentionItem(
            *("failed", since, "failed"),
            title="One render failed",
            text=f"{quote_text(title)} of {first_name(member)}, {clock(since)}. It was charged.",
            link_label="View video",
            url=reverse("video", args=[pk]),
        )
    else:
        count = f"{MAX_ITEMS} or more" if len(rows) == MAX_ITEMS else len(rows)
        yield AttentionItem(
            *("failed", since, "failed"),
            title=f"{count} renders failed",
            text=f"The latest at {clock(since)}. They were charged; no refund has been seen in the "
            "ledger.",
            link_label="View videos",
            url=f"{reverse('library')}?state=failed",
        )


def outside_spend(team: Team, accounts: Sequence[UUID], month: datetime) -> Iterator[AttentionItem]:
    """An item for each account with unexpected debits of this month that no charge of any team
    explains, since the account was added."""
    rows = Account.objects.filter(pk__in=accounts)
    days = load_unexpected_days(rows, month, team.tenant.zone)
    for account in accounts:
        own = [(day, source) for day, source in days if day.account == account]
        if not own:
            continue
        count, since = sum(day.debits for day, _ in own), max(day.latest for day, _ in own)
        names = join_names(sorted({source.name for _, source in own if source}))
        filters = {"account": account, "direction": "out", "match": "no"}
        yield AttentionItem(
            *("outside", since, "outside"),
            title=f"{credits(sum((day.credits for day, _ in own), Decimal(0)))} cr spent outside "
            "the portal",
            text=f"{'One entry' if count == 1 else f'{count:,} entries'} this month, the latest "
            f"{date_and_time_text(since)}."
            + (f" Above the daily limit: {quote_text(names)}." if names else ""),
            link_label="View entries",
            url=build_page_url(
                "ledger", {**filters, "period": f"{timezone.localtime(since):%Y-%m}"}
            ),
        )


def account_items(
    account: Account, now: datetime, tells_problem: bool, may_top_up: bool
) -> Iterator[AttentionItem]:
    """Items from the account's own rows: an address that is not verified, a stopped ledger mirror,
    a failing top-up. `may_top_up`: the reader may open the top-up page; else the link goes to the
    forecast."""
    if account.spending_obstacle == SpendingObstacle.UNVERIFIED:
        title = f"The e-mail address of {account.label} is not verified"
        tokens = ("View tokens", reverse("tokens"))
        yield AttentionItem("plan", now, "paused", title, UNVERIFIED_TEXT, *tokens)
    ledger = getattr(account, "ledger", None)
    if tells_problem and ledger and ledger.problem:
        title, link = "The ledger is not being updated", "View problem"
        url = reconciliation_url(account.pk)
        yield AttentionItem("problem", now, "paused", title, ledger.problem, link, url)
    top_up: AutoTopUp | None = getattr(account, "top_up", None)
    if top_up and (problem := top_up_problem(top_up)):
        page, link = ("top-up", "Open top-up") if may_top_up else ("forecast", "View forecast")
        url = f"{reverse(page)}?account={account.pk}"
        yield AttentionItem("top_up", now, *problem, link, url)


def top_up_problem(top_up: AutoTopUp) -> tuple[str, str, str] | None:
    """State, title and text."""
    if is_stopped_by_failures(top_up):
        return "failed", "Automatic top-up was switched off", AUTO_TOP_UP_DISABLED_TEXT
    if top_up.is_disabled_elsewhere:
        when = on_date_text(top_up.found_off_at)
        text = f"It was off when we checked {when}. No one here switched it off."
        return "late", "Automatic top-up is off", text
    if top_up.consecutive_failures and top_up.enabled:
        text = (
            f"{top_up.consecutive_failures} of {MAX_TOP_UP_FAILURES} failures in a row. After the "
            "third the service switches it off."
        )
        return "late", "An automatic top-up failed", text
    return None


def reconciliation_url(account: UUID, anchor: str = "") -> str:
    return f"{reverse('reconciliation')}?account={account}{f'#{anchor}' if anchor else ''}"


def describe_operation(row: dict[str, Any]) -> str:
    """`Luca’s render “Night trains are back”`"""
    title = f" {quote_text(row['job__title'])}" if row["job__title"] else ""
    return f"{first_name(row['member__name'])}’s {feature_label(row['operation']).lower()}{title}"


def first_name(name: str | None) -> str:
    return name.split()[0] if name and name.strip() else "Someone"


def on_date_text(moment: datetime | None) -> str:
    date_text = day(moment)
    return date_text if date_text in ("today", "") else f"on {date_text}"


def date_and_time_text(moment: datetime) -> str:
    """`today at 11:47`, `on 18 Nov at 14:21`"""
    return f"{on_date_text(moment)} at {clock(moment).rpartition(' ')[2]}"
