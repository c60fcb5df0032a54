"""The data of the page shell: team, balance, activity, service status and rate limit.

`TeamBalance`, `ActivityCounts` and `ServiceAvailability` may be pushed to all members;
`ReaderRateLimit` is the reader's own. `build_app_shell` takes four queries and one read from Redis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from dashboard.models import AlertEvent, Membership
from dashboard.shared.access import sees_api_keys
from dashboard.shared.charge_stop import (
    ChargeStopNotice,
    build_charge_pause_notice,
    build_charge_stop_notice,
)
from dashboard.shared.roles import Permission, role_allows
from dashboard.shared.service_status import (
    ReaderRateLimit,
    ServiceAvailability,
    load_reader_rate_limit,
    load_service_availability,
)
from dashboard.shared.team_balance import (
    ActivityCounts,
    TeamBalance,
    all_team_accounts,
    load_balance_and_counts,
)
from proxyapi.models import Account, SpendingObstacle, Token


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
class AppShell:
    """`teams` is empty unless the user can choose between several. `accounts` are those of the
    balance, for pages that show more of them."""

    team: str
    environment: str
    team_balance: TeamBalance
    counts: ActivityCounts
    service: ServiceAvailability
    rate_limit: ReaderRateLimit | None
    charge_stop: ChargeStopNotice
    charge_pause: ChargeStopNotice  # of the reader alone
    person: str
    email: str
    initials: str
    role: str
    may_render: bool
    may_keep_token: bool
    may_manage_money: bool
    may_use_keys: bool
    may_view_audit: bool
    may_operate: bool
    may_manage_security: bool
    is_operator: bool  # of the installation
    unread: int  # number of the reader's alerts
    teams: tuple[TeamChoice, ...]
    themes: tuple[ThemeChoice, ...]
    accounts: tuple[Account, ...]

    @property
    def paused_upstreams(self) -> str:
        """Return the addresses of the upstreams of paused accounts; empty if all accounts are in
        use."""
        paused = {
            account.environment
            for account in self.accounts
            if account.spending_obstacle == SpendingObstacle.OTHER_UPSTREAM
        }
        return ", ".join(sorted(paused))


def build_app_shell(membership: Membership, rows: QuerySet[Account] | None = None) -> AppShell:
    """`rows` are the tenant's accounts, annotated with what the page needs besides; by default
    those of `all_team_accounts`."""
    user, tenant = membership.user, membership.team.tenant
    queryset = all_team_accounts(tenant) if rows is None else rows
    accounts = list(queryset.annotate(own=own_bucket_subquery(membership)))
    team_balance, counts = load_balance_and_counts(tenant, accounts)
    bucket = next((account.own for account in accounts if account.own), None)
    return AppShell(
        team=membership.team.name,
        environment=environment_label(),
        team_balance=team_balance,
        counts=counts,
        service=load_service_availability(tenant),
        rate_limit=load_reader_rate_limit(bucket),
        charge_stop=build_charge_stop_notice(tenant),
        charge_pause=build_charge_pause_notice(membership),
        person=str(user),
        email=user.email,
        initials=user.initials,
        role=membership.get_role_display(),
        may_render=role_allows(membership.role, Permission.RENDER),
        may_keep_token=role_allows(membership.role, Permission.KEEP_TOKEN),
        may_manage_money=role_allows(membership.role, Permission.MANAGE_MONEY),
        may_use_keys=sees_api_keys(membership),
        may_view_audit=role_allows(membership.role, Permission.VIEW_AUDIT),
        may_operate=role_allows(membership.role, Permission.OPERATE),
        may_manage_security=role_allows(membership.role, Permission.MANAGE_SECURITY),
        is_operator=user.is_superuser,
        unread=count_unread_alerts(membership),
        teams=load_team_choices(membership),
        themes=build_theme_choices(user.theme),
        accounts=tuple(accounts),
    )


def own_bucket_subquery(membership: Membership) -> Subquery:
    """Return the rate limit bucket of one of the member's tokens."""
    own_tokens = Token.objects.usable().filter(account=OuterRef("pk"), owner=membership.user_id)
    return Subquery(own_tokens.values("fingerprint")[:1])


def load_own_rate_limit(membership: Membership) -> ReaderRateLimit | None:
    """Return the shell's rate limit alone; one query."""
    rows = all_team_accounts(membership.team.tenant).annotate(own=own_bucket_subquery(membership))
    return load_reader_rate_limit(
        next((bucket for bucket in rows.values_list("own", flat=True) if bucket), None)
    )


def environment_label() -> str:
    return "Reelroom, sandbox" if settings.VIDEO_API_IS_SANDBOX else "Reelroom, live account"


def load_team_choices(membership: Membership) -> tuple[TeamChoice, ...]:
    """Return the teams of the user; none if there is nothing to choose. One query."""
    rows = Membership.objects.filter(user_id=membership.user_id).values_list("team", "team__name")
    teams = tuple(TeamChoice(pk, name, pk == membership.team_id) for pk, name in rows)
    return teams if len(teams) > 1 else ()


def count_unread_alerts(reader: Membership) -> int:
    money = role_allows(reader.role, Permission.MANAGE_MONEY)
    since = reader.alerts_read_at or reader.joined_at
    return AlertEvent.objects.visible_to(reader, money=money).filter(happened_at__gt=since).count()


def build_theme_choices(chosen: str) -> tuple[ThemeChoice, ...]:
    labels = {"": "System", "light": "Light", "dark": "Dark"}
    return tuple(ThemeChoice(value, label, value == chosen) for value, label in labels.items())


def shell_context(request: HttpRequest) -> dict[str, Any]:
    membership = getattr(request, "membership", None)
    demo_mails = settings.DEMO_SHOWS_MAILS
    # Nothing of the team is shown to a member who lacks the second factor that it requires.
    if membership is None or getattr(request, "lacks_second_factor", False):
        sandbox = settings.VIDEO_API_IS_SANDBOX
        demo = sandbox and (settings.VAR / "demo.json").is_file()
        return {"shell": None, "sandbox": sandbox, "demo": demo, "demo_mails": demo_mails}
    return {
        "demo_mails": demo_mails,
        "shell": SimpleLazyObject(lambda: build_app_shell(membership)),
        "stream": SimpleLazyObject(lambda: describe_event_stream(request, membership)),
    }


def describe_event_stream(request: HttpRequest, reader: Membership) -> dict[str, object]:
    """Return the address of the page's event stream, and the id of the video that the page shows.

    Windows with the same address share one stream (static/js/shell/stream_election.js). So it has
    all that decides what is sent: team, user, and whether it is an operator's page of all teams.
    """
    page = request.resolver_match  # None on some error pages
    address = f"{reverse('live')}?team={reader.team_id}&user={reader.user_id}"
    if page and page.route.startswith("instance/"):
        address += "&instance=1"
    return {"address": address, "video": page.kwargs.get("job_id", "") if page else ""}
