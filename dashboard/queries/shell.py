"""What stands around every page: the team, the purse, what moves, whether the service answers.

`Purse`, `Counts` (queries/purse.py) and `Service` (queries/service.py) may be pushed to everybody;
`Allowance` is the reader's own. `shell_of` takes four queries and one look into Redis.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from dashboard.models import AlertEvent, Membership
from dashboard.queries.purse import Counts, Purse, accounts_of, counts_of, purse_from
from dashboard.queries.service import Allowance, Service, allowance_of, service_of
from dashboard.roles import Permission, allows
from proxyapi.models import Account, Token


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
    """`teams` is empty unless the person can choose between several. `accounts`: those that the
    purse is of, for a page that tells more of them."""

    team: str
    environment: str
    purse: Purse
    counts: Counts
    service: Service
    allowance: Allowance | None
    person: str
    email: str
    initials: str
    role: str
    may_render: bool
    may_manage_money: bool
    unread: int  # alerts, of the reader
    teams: tuple[TeamChoice, ...]
    themes: tuple[ThemeChoice, ...]
    accounts: tuple[Account, ...]

    @property
    def paused(self) -> str:
        """The addresses of accounts that belong to another upstream; empty where all are in use."""
        paused = {it.environment for it in self.accounts if not it.is_of_current_upstream}
        return ", ".join(sorted(paused))


def shell_of(membership: Membership, rows: QuerySet[Account] | None = None) -> Shell:
    """`rows`: `accounts_of` or `known_accounts_of` the vault, with what else the page wants."""
    user, vault = membership.user, membership.team.vault
    held, counts = counts_of(vault)
    wanted = accounts_of(vault) if rows is None else rows
    accounts = list(wanted.annotate(own=own_bucket(membership)))
    teams, unread = teams_of(membership)
    own = next((account.own for account in accounts if account.own), None)
    return Shell(
        team=membership.team.name,
        environment=environment(),
        purse=purse_from(accounts, held),
        counts=counts,
        service=service_of(vault),
        allowance=allowance_of(own),
        person=str(user),
        email=user.email,
        initials=user.initials,
        role=membership.get_role_display(),
        may_render=allows(membership.role, Permission.RENDER),
        may_manage_money=allows(membership.role, Permission.MANAGE_MONEY),
        unread=unread,
        teams=teams,
        themes=themes_of(user.theme),
        accounts=tuple(accounts),
    )


def own_bucket(membership: Membership) -> Subquery:
    """The name of an allowance, that of a token of the member's."""
    mine = Token.objects.usable().filter(account=OuterRef("pk"), owner=membership.user_id)
    return Subquery(mine.values("fingerprint")[:1])


def own_allowance(membership: Membership) -> Allowance | None:
    """The same as in the shell, alone: one query."""
    rows = accounts_of(membership.team.vault).annotate(own=own_bucket(membership))
    return allowance_of(next((own for own in rows.values_list("own", flat=True) if own), None))


def environment() -> str:
    return "Reelroom, sandbox" if settings.VIDEO_API_IS_SANDBOX else "Reelroom, live account"


def teams_of(membership: Membership) -> tuple[tuple[TeamChoice, ...], int]:
    """The teams to choose from, and how many alerts of this one are not read: one query."""
    rows = Membership.objects.filter(user_id=membership.user_id)
    rows = rows.annotate(unread=Coalesce(unread_of(membership), 0))
    mine = rows.values_list("team_id", "team__name", "unread")
    teams = tuple(TeamChoice(pk, name, pk == membership.team_id) for pk, name, _ in mine)
    unread = sum(count for pk, _, count in mine if pk == membership.team_id)
    return teams if len(teams) > 1 else (), unread


def unread_of(reader: Membership) -> Subquery:
    money = allows(reader.role, Permission.MANAGE_MONEY)
    since = reader.notices_read_at or reader.joined_at
    events = AlertEvent.objects.seen_by(reader, money=money).filter(happened_at__gt=since)
    return Subquery(events.order_by().values("team").annotate(n=Count("pk")).values("n"))


def themes_of(chosen: str) -> tuple[ThemeChoice, ...]:
    labels = {"": "System", "light": "Light", "dark": "Dark"}
    return tuple(ThemeChoice(value, label, value == chosen) for value, label in labels.items())
