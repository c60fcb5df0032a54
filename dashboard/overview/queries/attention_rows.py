"""Rows of what needs attention; one statement reads all kinds but outside spend.

All kinds return the same columns. A kind that can have very many objects returns a count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import (
    Case,
    CharField,
    Count,
    DateTimeField,
    DecimalField,
    Exists,
    F,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce

from dashboard.models import AgentApproval, ApprovalRequest, Batch, Team
from dashboard.shared.formatting import join_names
from dashboard.shared.outside_spend import load_unexpected_days
from proxyapi.models import (
    Account,
    AccountPlan,
    Charge,
    ChargeState,
    Job,
    JobOrigin,
    JobState,
    LedgerConflict,
    Token,
    TokenState,
)

FAILED_JOBS_MAX_AGE = timedelta(days=14)
UNIDENTIFIED_RESOURCES_MAX_AGE = timedelta(days=30)
MAX_ATTENTION_ROWS = 200  # rows of the statement; a page shows far fewer
# The greatest risk first. "problem" and "top_up" come from accounts and have no row here.
KINDS_BY_RISK = (
    *("rewrite", "problem", "unknown", "orphan", "refund", "ask", "agent_ask", "batch_ask"),
    *("token", "plan", "left_alone", "top_up", "failed", "outside"),
)
# One row per object without a limit; these come last, so that the row limit cuts them first.
UNBOUNDED_KINDS = ("refund", "left_alone")
AttentionQuerySet: TypeAlias = QuerySet[Any, Any]
ATTENTION_COLUMNS = (
    *("risk", "kind", "ref", "account", "since", "then"),
    *("who", "what", "word", "amount", "many"),
)

NEVER_HAD_PLAN = "never"


class AttentionRow(NamedTuple):
    """`risk` ranks the kind when not all rows fit. `object_id` and `account` are UUIDs as text;
    `amount` is in positive credits; `item_count` is the number of objects that the row
    summarises."""

    risk: int
    kind: str
    object_id: str
    account: str
    since: datetime
    next_check_at: datetime | None
    member_name: str
    subject: str
    operation_or_plan: str
    amount: Decimal
    item_count: int

    @property
    def id(self) -> UUID:
        return UUID(self.object_id)


def load_attention_rows(
    team: Team, accounts: Sequence[UUID], month: datetime, now: datetime
) -> list[AttentionRow]:
    """Two queries, the greatest risk first, so that the row limit never hides it. Spend outside the
    portal counts from `month` on; if sources of it are named, a third query reads them."""
    tenant = team.tenant_id
    kinds = (
        attention_charges(
            tenant,
            "orphan",
            Q(unidentified_at__gte=now - UNIDENTIFIED_RESOURCES_MAX_AGE, refunded_at__isnull=True),
            "unidentified_at",
        ),
        attention_charges(
            tenant,
            "refund",
            Q(refund_owed_at__isnull=False, refunded_at__isnull=True),
            "refund_owed_at",
        ),
        attention_approval_requests(team),
        attention_agent_requests(tenant),
        attention_batch_requests(team),
        attention_tokens(tenant),
        attention_plans(tenant, now),
        attention_ledger_conflicts(accounts),
        attention_unpolled_jobs(tenant, now),
        attention_failed_jobs(tenant, now),
    )
    unknown = attention_charges(tenant, "unknown", Q(state=ChargeState.UNKNOWN), "sent_at")
    union = unknown.union(*kinds, all=True).order_by("c_risk", "c_since")
    rows = [AttentionRow(*row) for row in union[:MAX_ATTENTION_ROWS]]
    outside = load_outside_spend_rows(accounts, month, team.tenant.zone)
    return sorted([*rows, *outside], key=lambda row: (row.risk, row.since))


def attention_charges(tenant: UUID, kind: str, condition: Q, since: str) -> AttentionQuerySet:
    return select_attention_columns(
        Charge.objects.filter(condition, tenant=tenant),
        kind,
        ref=Cast("pk", CharField()),
        account=Cast("account_id", CharField()),
        since=F(since),
        then=F("due_at"),
        who=F("member__name"),
        what=Coalesce(F("job__title"), Value("")),
        word=F("operation"),
        amount=Coalesce(F("cost"), F("quote"), F("hold")),
    )


def attention_approval_requests(team: Team) -> AttentionQuerySet:
    return select_attention_columns(
        ApprovalRequest.objects.filter(team=team, decision=""),
        "ask",
        ref=Cast("pk", CharField()),
        since=F("requested_at"),
        who=F("member__name"),
        what=Coalesce(F("charge__job__title"), Value("")),
        word=F("charge__operation"),
        amount=F("charge__hold"),
    )


def attention_agent_requests(tenant: UUID) -> AttentionQuerySet:
    """Several items that an agent asks for once."""
    return select_attention_columns(
        AgentApproval.objects.waiting().filter(key__tenant=tenant),
        "agent_ask",
        since=F("requested_at"),
        who=F("key__name"),
        amount=F("credits"),
        many=F("item_count"),
    )


def attention_batch_requests(team: Team) -> AttentionQuerySet:
    return select_attention_columns(
        Batch.objects.waiting_for_approval().filter(team=team),
        "batch_ask",
        ref=Cast("pk", CharField()),
        since=F("approval_requested_at"),
        who=F("member__name"),
        what=F("name"),
    )


def attention_tokens(tenant: UUID) -> AttentionQuerySet:
    """Revoked tokens, each with the number of running renders that cannot be polled without it."""
    running = Job.objects.visible().filter(token=OuterRef("pk"), state=JobState.RUNNING).order_by()
    counted = running.values("token").annotate(n=Count("pk")).values("n")
    return select_attention_columns(
        Token.objects.filter(tenant=tenant, state=TokenState.REVOKED),
        "token",
        ref=Cast("pk", CharField()),
        since=F("state_since"),
        who=F("owner__name"),
        what=F("last_four"),
        many=Coalesce(Subquery(counted), 0),
    )


def attention_plans(tenant: UUID, now: datetime) -> AttentionQuerySet:
    """Accounts without a paid plan; of one that never had a plan, the plan is `NEVER_HAD_PLAN`."""
    lapsed_at = Case(When(account__plan_ends_at__lte=now, then="account__plan_ends_at"))
    never = Q(account__plan=AccountPlan.NONE, account__plan_name="", account__plan_ends_at=None)
    plan = Case(When(never, then=Value(NEVER_HAD_PLAN)), default=F("account__plan"))
    return select_attention_columns(
        Token.objects.filter(tenant=tenant, state=TokenState.PAUSED).values("account"),
        "plan",
        account=Cast("account", CharField()),
        since=Min(Coalesce(lapsed_at, F("state_since"))),
        what=Max("account__name"),
        word=Max(plan),
        many=Count("pk"),
    )


def attention_ledger_conflicts(accounts: Sequence[UUID]) -> AttentionQuerySet:
    conflicts = LedgerConflict.objects.filter(account__in=accounts, accepted_at__isnull=True)
    return select_attention_columns(
        conflicts.values("account"),
        "rewrite",
        account=Cast("account", CharField()),
        since=Min("noticed_at"),
        what=Max("account__name"),
        many=Count("pk"),
    )


def attention_unpolled_jobs(tenant: UUID, now: datetime) -> AttentionQuerySet:
    """Renders that continue at the service but are no longer polled; one row each, with its own
    page."""
    stopped = Job.objects.visible().polling_stopped(now).filter(tenant=tenant)
    return select_attention_columns(
        stopped,
        "left_alone",
        ref=Cast("pk", CharField()),
        since=Coalesce("poll_failing_since", "polled_at", "created_at"),
        who=F("member__name"),
        what=F("title"),
    )


def attention_failed_jobs(tenant: UUID, now: datetime) -> AttentionQuerySet:
    """Failed renders whose credits are lost: not those that were refunded, nor clips, which only
    wait for their refund, nor runs from before an import, of which the cost is not known."""
    failed = (
        Job.objects.visible()
        .videos()
        .filter(tenant=tenant, state=JobState.FAILED, finished_at__gte=now - FAILED_JOBS_MAX_AGE)
        .exclude(origin=JobOrigin.IMPORT, started_at__isnull=True)
    )
    charges = Charge.objects.filter(job=OuterRef("pk"))
    owed = charges.filter(refund_owed_at__isnull=False)
    refunded = charges.filter(applied_at=OuterRef("started_at"), refunded_at__isnull=False)
    failed = failed.filter(~Exists(owed), ~Exists(refunded))
    return select_attention_columns(
        failed.order_by().values("tenant"),
        "failed",
        ref=Max(Cast("pk", CharField())),
        since=Max("finished_at"),
        who=Max("member__name"),
        what=Max("title"),
        many=Count("pk"),
    )


def load_outside_spend_rows(
    accounts: Sequence[UUID], month: datetime, zone: ZoneInfo
) -> Iterator[AttentionRow]:
    """A row for each account with unexpected debits of this month that no charge of any team
    explains, since the account was added; `subject` names the sources above their daily limit."""
    days = load_unexpected_days(Account.objects.filter(pk__in=accounts), month, zone)
    for account in accounts:
        own = [(day, source) for day, source in days if day.account == account]
        if own:
            yield AttentionRow(
                risk=risk_rank("outside"),
                kind="outside",
                object_id="",
                account=str(account),
                since=max(day.latest for day, _ in own),
                next_check_at=None,
                member_name="",
                subject=join_names(sorted({source.name for _, source in own if source})),
                operation_or_plan="",
                amount=sum((day.credits for day, _ in own), Decimal(0)),
                item_count=sum(day.debits for day, _ in own),
            )


def select_attention_columns(
    rows: AttentionQuerySet, kind: str, **columns: Any
) -> AttentionQuerySet:
    """`ATTENTION_COLUMNS` in order; those not given get an empty value."""
    defaults: dict[str, Any] = {
        "ref": text_column(""),
        "account": text_column(""),
        "then": Cast(Value(None), DateTimeField()),
        "who": text_column(""),
        "what": text_column(""),
        "word": text_column(""),
        "amount": Cast(Value(0), DecimalField(max_digits=14, decimal_places=4)),
        "many": Cast(Value(1), IntegerField()),
    }
    risk = Cast(Value(risk_rank(kind)), IntegerField())
    values = {"risk": risk, "kind": text_column(kind), **defaults, **columns}
    columns_by_alias = {f"c_{name}": values[name] for name in ATTENTION_COLUMNS}
    selected: AttentionQuerySet = (
        rows.order_by().annotate(**columns_by_alias).values_list(*columns_by_alias)
    )
    return selected


def risk_rank(kind: str) -> int:
    return KINDS_BY_RISK.index(kind) + (len(KINDS_BY_RISK) if kind in UNBOUNDED_KINDS else 0)


def text_column(text: str) -> Cast:
    return Cast(Value(text), CharField(max_length=200))
