"""All teams of the installation: members, what they use, when they last did something; and whether
the installation works."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from dashboard import __version__
from dashboard.models import AuditEvent, BudgetPeriod, Invitation, Membership, SignInEvent, Team
from dashboard.operations.queries.processes import load_processes
from dashboard.security.queries.sign_ins import load_recent_sign_ins
from dashboard.shared.budget_usage import period_bounds
from dashboard.shared.formatting import clock
from proxyapi.models import Charge, Job, JobState
from proxyapi.models.charge import CHARGED_STATES

NO_CREDITS = Decimal(0)
MIN_TEAMS_FOR_SEARCH = 5


def load_instance(search: str = "") -> dict[str, Any]:
    """What the page shows, whatever dialog is open on it. `teams` are those that the search finds;
    `note` counts all. Six queries for the teams, however many there are."""
    members, invited = load_members_by_team(), load_invited_owners()
    teams = list(Team.objects.select_related("tenant").order_by("name"))
    credits = load_month_credits(teams, timezone.now())
    videos, activity = load_video_counts(), load_last_activity()
    rows = [
        {
            "team": team,
            "members": members.get(team.pk, []),
            "invited": invited.get(team.pk, ""),  # the first owner, until they join
            "credits": credits.get(team.tenant_id, NO_CREDITS),
            "videos": videos.get(team.tenant_id, 0),
            "active_at": activity.get(team.pk),
            **describe_state(team, has_members=team.pk in members),
        }
        for team in teams
    ]
    people = len({member.user_id for team in teams for member in members.get(team.pk, ())})
    operators = SignInEvent.objects.filter(user__is_superuser=True)
    return {
        "teams": [row for row in rows if is_match(row, search)],
        "search": search,
        "has_search": bool(search) or len(rows) >= MIN_TEAMS_FOR_SEARCH,
        "note": f"{'One team' if len(rows) == 1 else f'{len(rows)} teams'}, "
        f"{'one person' if people == 1 else f'{people} people'}.",
        "version": __version__,
        "service_address": settings.VIDEO_API_BASE_URL.partition("://")[2],
        "processes": load_processes(),
        "sign_ins": load_recent_sign_ins(operators),
        "mail": load_mail_setting(),
    }


def describe_state(team: Team, *, has_members: bool) -> dict[str, str]:
    if (since := team.tenant.suspended_at) is not None:
        return {"state": "paused", "word": f"Suspended since {clock(since)}"}
    if not has_members:
        return {"state": "waiting", "word": "Waits for its owner"}
    return {"state": "completed", "word": "Active"}


def is_match(row: dict[str, Any], search: str) -> bool:
    """True if each word of the search is in a name or an e-mail address of the team."""
    names = " ".join(f"{member.user} {member.user.email}" for member in row["members"])
    text = f"{row['team'].name} {row['invited']} {names}".casefold()
    return all(word in text for word in search.casefold().split())


def load_mail_setting() -> dict[str, str]:
    """`server` is empty if e-mails are written to the log. Without user and password."""
    is_sent = settings.EMAIL_BACKEND.endswith("smtp.EmailBackend")
    return {
        "server": f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}" if is_sent else "",
        "sender": settings.DEFAULT_FROM_EMAIL,
        "portal": settings.PORTAL_URL,
    }


def load_members_by_team() -> Mapping[UUID, list[Membership]]:
    members: defaultdict[UUID, list[Membership]] = defaultdict(list)
    for row in Membership.objects.select_related("user").order_by("joined_at", "pk"):
        members[row.team_id].append(row)
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
