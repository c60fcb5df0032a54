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

from dashboard.models import Ask, Team
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

FAILED_WITHIN = timedelta(days=14)
ORPHANS_WITHIN = timedelta(days=30)
MOST = 200  # rows of the statement; a page shows far fewer
# The greatest first. "problem" and "top_up" are told of accounts, without a row here.
RISK = (
    *("rewrite", "problem", "unknown", "orphan", "refund", "ask"),
    *("token", "plan", "left_alone", "top_up", "failed", "outside"),
)
COUNTLESS = ("refund", "left_alone")  # a row each, however many; where not all fit, these go last
Rows: TypeAlias = QuerySet[Any, Any]
COLUMNS = (
    *("risk", "kind", "ref", "account", "since", "then"),
    *("who", "what", "word", "amount", "many"),
)


class Concern(NamedTuple):
    """`risk`: the place of its kind where not all fit. `ref` and `account` are ids as text;
    `amount` positive credits; `many`: what the row stands for, counted."""

    risk: int
    kind: str
    ref: str
    account: str
    since: datetime
    then: datetime | None
    who: str
    what: str
    word: str
    amount: Decimal
    many: int

    @property
    def id(self) -> UUID:
        return UUID(self.ref)


def concerns_of(
    team: Team, accounts: Sequence[UUID], month: datetime, now: datetime
) -> list[Concern]:
    """One query, the greatest risk first, so that nothing hides it. `month`: since when what was
    spent outside is told."""
    vault = team.vault_id
    kinds = (
        charges(
            vault,
            "orphan",
            Q(orphan_at__gte=now - ORPHANS_WITHIN, refunded_at__isnull=True),
            "orphan_at",
        ),
        charges(
            vault,
            "refund",
            Q(refund_owed_at__isnull=False, refunded_at__isnull=True),
            "refund_owed_at",
        ),
        asks(team),
        tokens(vault),
        plans(vault),
        rewrites(accounts),
        left_alone(vault, now),
        failures(vault, now),
        outside(accounts, month),
    )
    unknown = charges(vault, "unknown", Q(state=ChargeState.UNKNOWN), "sent_at")
    found = unknown.union(*kinds, all=True).order_by("c_risk", "c_since")
    return [Concern(*row) for row in found[:MOST]]


def charges(vault: UUID, kind: str, those: Q, since: str) -> Rows:
    return row(
        Charge.objects.filter(those, vault=vault),
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


def asks(team: Team) -> Rows:
    return row(
        Ask.objects.filter(team=team, decision=""),
        "ask",
        ref=Cast("pk", CharField()),
        since=F("asked_at"),
        who=F("member__name"),
        what=Coalesce(F("charge__job__title"), Value("")),
        word=F("charge__operation"),
        amount=F("charge__hold"),
    )


def tokens(vault: UUID) -> Rows:
    """Those that the service does not know any more, with the renders they leave out of sight."""
    running = Job.objects.visible().filter(token=OuterRef("pk"), state=JobState.RUNNING).order_by()
    counted = running.values("token").annotate(n=Count("pk")).values("n")
    return row(
        Token.objects.filter(vault=vault, state=TokenState.REVOKED),
        "token",
        ref=Cast("pk", CharField()),
        since=F("state_since"),
        who=F("owner__name"),
        what=F("last_four"),
        many=Coalesce(Subquery(counted), 0),
    )


def plans(vault: UUID) -> Rows:
    return row(
        Token.objects.filter(vault=vault, state=TokenState.PAUSED).values("account"),
        "plan",
        account=Cast("account", CharField()),
        since=Min("state_since"),
        what=Max("account__name"),
        word=Max("account__plan"),
        many=Count("pk"),
    )


def rewrites(accounts: Sequence[UUID]) -> Rows:
    found = LedgerConflict.objects.filter(account__in=accounts, accepted_at__isnull=True)
    return row(
        found.values("account"),
        "rewrite",
        account=Cast("account", CharField()),
        since=Min("noticed_at"),
        what=Max("account__name"),
        many=Count("pk"),
    )


def left_alone(vault: UUID, now: datetime) -> Rows:
    """Renders that go on at the service, and nobody looks at any more: each has its own page."""
    stopped = Job.objects.visible().polling_stopped(now).filter(vault=vault)
    return row(
        stopped,
        "left_alone",
        ref=Cast("pk", CharField()),
        since=Coalesce("look_error_since", "looked_at", "created_at"),
        who=F("member__name"),
        what=F("title"),
    )


def failures(vault: UUID, now: datetime) -> Rows:
    """A clip whose credits come back waits for the refund, not for anybody."""
    failed = Job.objects.visible().filter(
        vault=vault, state=JobState.FAILED, finished_at__gte=now - FAILED_WITHIN
    )
    owed = Charge.objects.filter(job=OuterRef("pk"), refund_owed_at__isnull=False)
    failed = failed.filter(~Exists(owed))
    return row(
        failed.order_by().values("vault"),
        "failed",
        ref=Max(Cast("pk", CharField())),
        since=Max("finished_at"),
        who=Max("member__name"),
        what=Max("title"),
        many=Count("pk"),
    )


def outside(accounts: Sequence[UUID], month: datetime) -> Rows:
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
    return row(
        spent.values("account"),
        "outside",
        account=Cast("account", CharField()),
        since=Max("happened_at"),
        what=Max("account__name"),
        amount=Round(-Sum("amount"), precision=4),
        many=Count("pk"),
    )


def row(rows: Rows, kind: str, **columns: Any) -> Rows:
    """The columns in their order, with the given ones filled."""
    nothing: dict[str, Any] = {
        "ref": text(""),
        "account": text(""),
        "then": Cast(Value(None), DateTimeField()),
        "who": text(""),
        "what": text(""),
        "word": text(""),
        "amount": Cast(Value(0), DecimalField(max_digits=14, decimal_places=4)),
        "many": Cast(Value(1), IntegerField()),
    }
    place = RISK.index(kind) + (len(RISK) if kind in COUNTLESS else 0)
    risk = Cast(Value(place), IntegerField())
    given = {"risk": risk, "kind": text(kind), **nothing, **columns}
    named = {f"c_{name}": given[name] for name in COLUMNS}
    answer: Rows = rows.order_by().annotate(**named).values_list(*named)
    return answer


def text(words: str) -> Cast:
    return Cast(Value(words), CharField(max_length=200))
