"""What waits for a person, as rows: every kind of it in one statement.

All kinds answer the same columns. Kinds of which there can be very many are counted, not listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from django.db.models import (
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
    Sum,
    Value,
)
from django.db.models.functions import Cast, Coalesce, Greatest, Round

from dashboard.models import ApprovalRequest, Team
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    Job,
    JobState,
    LedgerConflict,
    LedgerEntry,
    Token,
    TokenState,
)
from proxyapi.models.account import is_shared_with_another_team
from proxyapi.models.ledger_entry import is_charged_by_another_team

FAILED_JOBS_MAX_AGE = timedelta(days=14)
UNIDENTIFIED_RESOURCES_MAX_AGE = timedelta(days=30)
MAX_ATTENTION_ROWS = 200  # rows of the statement; a page shows far fewer
# The greatest first. "problem" and "top_up" are told of accounts, without a row here.
KINDS_BY_RISK = (
    *("rewrite", "problem", "unknown", "orphan", "refund", "ask"),
    *("token", "plan", "left_alone", "top_up", "failed", "outside"),
)
UNBOUNDED_KINDS = (
    "refund",
    "left_alone",
)  # a row each, however many; where not all fit, these go last
AttentionQuerySet: TypeAlias = QuerySet[Any, Any]
ATTENTION_COLUMNS = (
    *("risk", "kind", "ref", "account", "since", "then"),
    *("who", "what", "word", "amount", "many"),
)


class AttentionRow(NamedTuple):
    """`risk`: the place of its kind where not all fit. `ref` and `account` are ids as text;
    `amount` positive credits; `many`: what the row stands for, counted."""

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
    """One query, the greatest risk first, so that nothing hides it. `month`: since when what was
    spent outside is told."""
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
        attention_tokens(tenant),
        attention_plans(tenant),
        attention_ledger_conflicts(accounts),
        attention_unpolled_jobs(tenant, now),
        attention_failed_jobs(tenant, now),
        attention_outside_spend(accounts, month),
    )
    unknown = attention_charges(tenant, "unknown", Q(state=ChargeState.UNKNOWN), "sent_at")
    found = unknown.union(*kinds, all=True).order_by("c_risk", "c_since")
    return [AttentionRow(*row) for row in found[:MAX_ATTENTION_ROWS]]


def attention_charges(tenant: UUID, kind: str, those: Q, since: str) -> AttentionQuerySet:
    return select_attention_columns(
        Charge.objects.filter(those, tenant=tenant),
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


def attention_tokens(tenant: UUID) -> AttentionQuerySet:
    """Those that the service does not know any more, with the renders they leave out of sight."""
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


def attention_plans(tenant: UUID) -> AttentionQuerySet:
    return select_attention_columns(
        Token.objects.filter(tenant=tenant, state=TokenState.PAUSED).values("account"),
        "plan",
        account=Cast("account", CharField()),
        since=Min("state_since"),
        what=Max("account__name"),
        word=Max("account__plan"),
        many=Count("pk"),
    )


def attention_ledger_conflicts(accounts: Sequence[UUID]) -> AttentionQuerySet:
    found = LedgerConflict.objects.filter(account__in=accounts, accepted_at__isnull=True)
    return select_attention_columns(
        found.values("account"),
        "rewrite",
        account=Cast("account", CharField()),
        since=Min("noticed_at"),
        what=Max("account__name"),
        many=Count("pk"),
    )


def attention_unpolled_jobs(tenant: UUID, now: datetime) -> AttentionQuerySet:
    """Renders that go on at the service, and nobody looks at any more: each has its own page."""
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
    """A clip whose credits come back waits for the refund, not for anybody."""
    failed = Job.objects.visible().filter(
        tenant=tenant, state=JobState.FAILED, finished_at__gte=now - FAILED_JOBS_MAX_AGE
    )
    owed = Charge.objects.filter(job=OuterRef("pk"), refund_owed_at__isnull=False)
    failed = failed.filter(~Exists(owed))
    return select_attention_columns(
        failed.order_by().values("tenant"),
        "failed",
        ref=Max(Cast("pk", CharField())),
        since=Max("finished_at"),
        who=Max("member__name"),
        what=Max("title"),
        many=Count("pk"),
    )


def attention_outside_spend(accounts: Sequence[UUID], month: datetime) -> AttentionQuerySet:
    """Debits of this month that no charge explains, of whichever team, since the account is known
    here."""
    # Only of accounts that several teams use each row is looked for in the other mirrors: they are
    # few, and the rows may be tens of thousands.
    shared = Account.objects.filter(is_shared_with_another_team(), pk__in=accounts)
    spent = LedgerEntry.objects.filter(
        ~(Q(account__in=shared) & Q(is_charged_by_another_team())),
        account__in=accounts,
        charge__isnull=True,
        amount__lt=0,
        # Said twice, so that an index finds the month.
        happened_at__gt=month - timedelta(microseconds=1),
        happened_at__gte=Greatest(
            F("account__created_at"), Value(month, output_field=DateTimeField())
        ),
    )
    return select_attention_columns(
        spent.values("account"),
        "outside",
        account=Cast("account", CharField()),
        since=Max("happened_at"),
        what=Max("account__name"),
        amount=Round(-Sum("amount"), precision=4),
        many=Count("pk"),
    )


def select_attention_columns(
    rows: AttentionQuerySet, kind: str, **columns: Any
) -> AttentionQuerySet:
    """The columns in their order, with the given ones filled."""
    nothing: dict[str, Any] = {
        "ref": text_column(""),
        "account": text_column(""),
        "then": Cast(Value(None), DateTimeField()),
        "who": text_column(""),
        "what": text_column(""),
        "word": text_column(""),
        "amount": Cast(Value(0), DecimalField(max_digits=14, decimal_places=4)),
        "many": Cast(Value(1), IntegerField()),
    }
    place = KINDS_BY_RISK.index(kind) + (len(KINDS_BY_RISK) if kind in UNBOUNDED_KINDS else 0)
    risk = Cast(Value(place), IntegerField())
    given = {"risk": risk, "kind": text_column(kind), **nothing, **columns}
    named = {f"c_{name}": given[name] for name in ATTENTION_COLUMNS}
    answer: AttentionQuerySet = rows.order_by().annotate(**named).values_list(*named)
    return answer


def text_column(words: str) -> Cast:
    return Cast(Value(words), CharField(max_length=200))
