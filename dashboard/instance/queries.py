"""All teams of the installation: members, what they use, when they last did something; and whether
the installation works."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Count, Max, Q, Sum
from django.urls import reverse
from django.utils import timezone

from dashboard import __version__
from dashboard.models import AuditEvent, BudgetPeriod, Invitation, Membership, SignInEvent, Team
from dashboard.operations.queries.processes import load_processes
from dashboard.security.queries.sign_ins import load_recent_sign_ins
from dashboard.shared.budget_usage import period_bounds
from dashboard.shared.formatting import clock, day
from proxyapi.models import Charge, Job, JobState
from proxyapi.models.charge import CHARGED_STATES

NO_CREDITS = Decimal(0)
MIN_TEAMS_FOR_SEARCH = 5


@dataclass(frozen=True, slots=True)
class TeamMember:
    name: str
    email: str
    role: str


@dataclass(frozen=True, slots=True)
class TeamRow:
    """`invited` is the address of the first owner, until they join. `state`: completed | paused |
    waiting."""

    id: UUID
    name: str
    created: str
    members: tuple[TeamMember, ...]
    invited: str
    credits: Decimal
    videos: int
    last_activity: str
    state: str
    word: str
    reason: str

    @property
    def is_suspended(self) -> bool:
        return self.state == "paused"

    @property
    def act_label(self) -> str:
        return "End suspension" if self.is_suspended else "Suspend"

    @property
    def act_url(self) -> str:
        name = "team-restorations" if self.is_suspended else "team-suspensions"
        return reverse(name, args=[self.id])

    @property
    def members_text(self) -> str:
        count = len(self.members)
        return "1 member" if count == 1 else f"{count} members"

    def matches(self, search: str) -> bool:
        """True if each word of the search is in a name or an e-mail address of the team."""
        names = " ".join(f"{member.name} {member.email}" for member in self.members)
        text = f"{self.name} {self.invited} {names}".casefold()
        return all(word in text for word in search.casefold().split())


@dataclass(frozen=True, slots=True)
class InstancePage:
    """`teams` are those that the search finds; `total` and `people` count all."""

    teams: tuple[TeamRow, ...]
    search: str
    total: int
    people: int
    version: str
    service_address: str

    @property
    def has_search(self) -> bool:
        return bool(self.search) or self.total >= MIN_TEAMS_FOR_SEARCH

    @property
    def note(self) -> str:
        teams = "One team" if self.total == 1 else f"{self.total} teams"
        people = "one person" if self.people == 1 else f"{self.people} people"
        return f"{teams}, {people}."


def load_instance(search: str = "") -> dict[str, Any]:
    """What the page shows, whatever dialog is open on it."""
    operators = SignInEvent.objects.filter(user__is_superuser=True)
    return {
        "page": build_instance_page(search),
        "processes": load_processes(),
        "sign_ins": load_recent_sign_ins(operators),
        "mail": load_mail_setting(),
    }


def load_mail_setting() -> dict[str, str]:
    """`server` is empty if e-mails are written to the log. Without user and password."""
    is_sent = settings.EMAIL_BACKEND.endswith("smtp.EmailBackend")
    return {
        "server": f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}" if is_sent else "",
        "sender": settings.DEFAULT_FROM_EMAIL,
        "portal": settings.PORTAL_URL,
    }


def build_instance_page(search: str = "") -> InstancePage:
    """Six queries, however many teams there are."""
    members = load_members_by_team()
    invited = load_invited_owners()
    teams = list(Team.objects.select_related("tenant").order_by("name"))
    credits = load_month_credits(teams, timezone.now())
    videos = load_video_counts()
    activity = load_last_activity()
    rows = tuple(
        build_team_row(
            team,
            tuple(members.get(team.pk, ())),
            invited.get(team.pk, ""),
            credits.get(team.tenant_id, NO_CREDITS),
            videos.get(team.tenant_id, 0),
            activity.get(team.pk),
        )
        for team in teams
    )
    return InstancePage(
        teams=tuple(row for row in rows if row.matches(search)),
        search=search,
        total=len(rows),
        people=len({member.email for row in rows for member in row.members}),
        version=__version__,
        service_address=settings.VIDEO_API_BASE_URL.partition("://")[2],
    )


def build_team_row(
    team: Team,
    members: tuple[TeamMember, ...],
    invited: str,
    credits: Decimal,
    videos: int,
    active_at: datetime | None,
) -> TeamRow:
    tenant = team.tenant
    state, word = "completed", "Active"
    if tenant.suspended_at is not None:
        state, word = "paused", f"Suspended since {clock(tenant.suspended_at)}"
    elif not members:
        state, word = "waiting", "Waits for its owner"
    return TeamRow(
        id=team.pk,
        name=team.name,
        created=day(team.created_at),
        members=members,
        invited=invited,
        credits=credits,
        videos=videos,
        last_activity=clock(active_at) or "never",
        state=state,
        word=word,
        reason=tenant.suspension_reason,
    )


def load_members_by_team() -> Mapping[UUID, list[TeamMember]]:
    members: defaultdict[UUID, list[TeamMember]] = defaultdict(list)
    for row in Membership.objects.select_related("user").order_by("joined_at", "pk"):
        member = TeamMember(str(row.user), row.user.email, row.get_role_display())
        members[row.team_id].append(member)
    return members


def load_invited_owners() -> Mapping[UUID, str]:
    rows = Invitation.objects.pending().filter(founds_team=True)
    return dict(rows.values_list("team_id", "address"))


def load_month_credits(teams: Iterable[Team], at: datetime) -> Mapping[UUID, Decimal]:
    """Return what the charges of each team cost in the month of `at`, counted as on its members
    page, by tenant."""
    tenants: defaultdict[ZoneInfo, list[UUID]] = defaultdict(list)
    for team in teams:
        tenants[team.tenant.zone].append(team.tenant_id)
    of_month = Q()
    for zone, tenant_ids in tenants.items():
        start = period_bounds(BudgetPeriod.MONTH, zone, at).start
        of_month |= Q(tenant__in=tenant_ids, created_at__gte=start)
    charges = Charge.objects.filter(of_month, state__in=CHARGED_STATES, refunded_at=None)
    sums = charges.order_by().values_list("tenant_id").annotate(Sum("cost"))
    return {tenant_id: cost or NO_CREDITS for tenant_id, cost in sums}


def load_video_counts() -> Mapping[UUID, int]:
    videos = Job.objects.videos().filter(state=JobState.COMPLETED)
    return dict(videos.order_by().values_list("tenant_id").annotate(Count("pk")))


def load_last_activity() -> Mapping[UUID, datetime]:
    """Return the time of the last entry in each team's audit log: whatever was done leaves one."""
    entries = AuditEvent.objects.order_by().values_list("team_id")
    return dict(entries.annotate(Max("happened_at")))
