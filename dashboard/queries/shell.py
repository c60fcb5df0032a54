"""What stands around every page: the team, the purse, what moves, whether the service answers.

`Purse` and `Counts` hold whole-team truth and may be pushed to everybody; `Service` holds the
reader's own requests and may not. `shell_of` takes four queries and one look into Redis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.roles import Permission, allows
from dashboard.templatetags.reelroom import clock, credits, day
from proxyapi import allowance
from proxyapi.models import Account, Call, Charge, ChargeState, Job, JobState, Token, Vault
from proxyapi.models.charge import HOLDING

OLD = timedelta(minutes=15)  # a balance older than that says when it was read
CALLS = 20  # the latest calls that tell whether the service answers


@dataclass(frozen=True, slots=True)
class Purse:
    """Credits of all accounts that a token of the team opens. Percent are of `total`."""

    known: bool
    balance: Decimal = Decimal(0)
    held: Decimal = Decimal(0)
    monthly: Decimal = Decimal(0)
    ends_at: datetime | None = None
    as_of: datetime | None = None

    @property
    def free(self) -> Decimal:
        return self.balance - self.held

    @property
    def total(self) -> Decimal:
        return max(self.monthly, self.balance)

    @property
    def used(self) -> Decimal:
        return self.total - self.balance

    @property
    def used_percent(self) -> str:
        return f"{100 * self.used / self.total:.2f}" if self.total else "0"

    @property
    def held_percent(self) -> str:
        return f"{100 * min(self.held, self.balance) / self.total:.2f}" if self.total else "0"

    @property
    def sentence(self) -> str:
        used, held, total = credits(self.used), credits(self.held), credits(self.total)
        return f"{used} used and {held} held of {total}"

    @property
    def note(self) -> str:
        parts = [f"{credits(self.held)} held" if self.held else "Nothing held"]
        if self.ends_at:
            parts.append(renewal(self.ends_at))
        if self.as_of and timezone.now() - self.as_of > OLD:
            parts.append(f"as of {clock(self.as_of)}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Counts:
    running: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Service:
    """`allowance` is what is left of the reader's own token, in words; empty without one."""

    answers: bool
    line: str
    allowance: str = ""

    @property
    def poll_url(self) -> str:
        return reverse("service")


@dataclass(frozen=True, slots=True)
class TeamChoice:
    id: UUID
    name: str
    current: bool


@dataclass(frozen=True, slots=True)
class ThemeChoice:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Shell:
    """`teams` is empty unless the person can choose between several."""

    team: str
    environment: str
    purse: Purse
    counts: Counts
    service: Service
    person: str
    email: str
    initials: str
    role: str
    may_render: bool
    teams: tuple[TeamChoice, ...]
    themes: tuple[ThemeChoice, ...]


def shell_of(membership: Membership) -> Shell:
    user, vault = membership.user, membership.team.vault
    held, counts = counts_of(vault)
    accounts = list(accounts_of(vault).annotate(own=own_token(membership)))
    own = next((account.own for account in accounts if account.own), None)
    return Shell(
        team=membership.team.name,
        environment=environment(),
        purse=purse_from(accounts, held),
        counts=counts,
        service=service_of(vault, own),
        person=str(user),
        email=user.email,
        initials=user.initials,
        role=membership.get_role_display(),
        may_render=allows(membership.role, Permission.RENDER),
        teams=teams_of(membership),
        themes=themes_of(user.theme),
    )


def purse_of(vault: Vault) -> Purse:
    """The purse alone, for a push: two queries."""
    return purse_from(list(accounts_of(vault)), counts_of(vault)[0])


def counts_of(vault: Vault) -> tuple[Decimal, Counts]:
    """Credits held, and what moves and what is unknown, in one query."""
    charges = Charge.objects.filter(vault=OuterRef("pk"), state__in=HOLDING).order_by()
    jobs = Job.objects.shown().filter(vault=OuterRef("pk"), state=JobState.RUNNING).order_by()
    row = (
        Vault.objects.filter(pk=vault.pk)
        .annotate(
            held=Subquery(charges.values("vault").annotate(sum=Sum("hold")).values("sum")),
            unknown=Coalesce(
                Subquery(
                    charges.filter(state=ChargeState.UNKNOWN)
                    .values("vault")
                    .annotate(n=Count("pk"))
                    .values("n")
                ),
                0,
            ),
            running=Coalesce(Subquery(jobs.values("vault").annotate(n=Count("pk")).values("n")), 0),
        )
        .values("held", "unknown", "running")
        .get()
    )
    return Decimal(row["held"] or 0), Counts(running=row["running"], unknown=row["unknown"])


def accounts_of(vault: Vault) -> QuerySet[Account]:
    """The accounts that a token of the team still opens."""
    opened = Token.objects.standing().filter(account=OuterRef("pk"))
    return Account.objects.filter(Exists(opened), vault=vault).defer("options", "costs")


def own_token(membership: Membership) -> Subquery:
    mine = Token.objects.usable().filter(account=OuterRef("pk"), owner=membership.user_id)
    return Subquery(mine.values("pk")[:1])


def purse_from(accounts: Sequence[Account], held: Decimal) -> Purse:
    if not accounts:
        return Purse(known=False)
    ends = [account.plan_ends_at for account in accounts if account.plan_ends_at]
    seen = [account.balance_as_of for account in accounts if account.balance_as_of]
    return Purse(
        known=True,
        balance=sum((account.balance for account in accounts), Decimal(0)),
        held=held,
        monthly=sum((account.monthly_credits for account in accounts), Decimal(0)),
        ends_at=min(ends, default=None),
        as_of=min(seen, default=None),
    )


def renewal(ends_at: datetime) -> str:
    days = (timezone.localdate(ends_at) - timezone.localdate()).days
    if days < 0:
        return f"the plan ended {day(ends_at)}"
    return {0: "renews today", 1: "renews tomorrow"}.get(days, f"renews in {days} days")


def service_of(vault: Vault, own_token_id: UUID | None) -> Service:
    """Judged by the latest calls of the team. A refusal is an answer, a 5xx is none."""
    latest = list(
        Call.objects.filter(vault=vault).order_by("-sent_at").values("status", "sent_at")[:CALLS]
    )
    left = allowance_left(own_token_id)
    if not latest:
        return Service(True, "The service was not asked yet", left)
    silent = []
    for call in latest:
        if call["status"] is not None and call["status"] < 500:
            break
        silent.append(call["sent_at"])
    if not silent:
        return Service(True, "Service answers", left)
    return Service(False, f"The service has not answered since {clock(silent[-1])}", left)


def allowance_left(token_id: UUID | None) -> str:
    if token_id is None:
        return ""
    try:
        level = allowance.peek(allowance.connection(), str(token_id))
    except allowance.AllowanceUnknown:
        return ""
    return f"{level.left} of {level.limit} requests left, this minute"


def environment() -> str:
    return "Reelroom, sandbox" if settings.VIDEO_API_IS_SANDBOX else "Reelroom, live account"


def teams_of(membership: Membership) -> tuple[TeamChoice, ...]:
    mine = Membership.objects.filter(user_id=membership.user_id).values_list(
        "team_id", "team__name"
    )
    teams = tuple(TeamChoice(pk, name, pk == membership.team_id) for pk, name in mine)
    return teams if len(teams) > 1 else ()


def themes_of(chosen: str) -> tuple[ThemeChoice, ...]:
    labels = {"": "System", "light": "Light", "dark": "Dark"}
    return tuple(ThemeChoice(value, label, value == chosen) for value, label in labels.items())
