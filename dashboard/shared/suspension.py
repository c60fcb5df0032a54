"""A team that the operator of the installation suspended: who did it, when and why."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from dashboard.models import Membership
from dashboard.shared.formatting import clock
from proxyapi.models import Tenant

TITLE = "{team} is suspended"
TEXT = (
    "{who}, who operates this installation, suspended the team {at}: “{reason}” Nothing is "
    "charged. Renders that run are still watched, and nothing is lost."
)


@dataclass(frozen=True, slots=True)
class SuspensionNotice:
    """`other_teams`: id and name of the teams that the reader can switch to."""

    title: str
    text: str
    other_teams: tuple[tuple[UUID, str], ...] = ()


def is_suspended(tenant: Tenant) -> bool:
    return tenant.suspended_at is not None


def build_suspension_notice(membership: Membership) -> SuspensionNotice:
    """One query."""
    team = membership.team
    others = Membership.objects.filter(user_id=membership.user_id).exclude(pk=membership.pk)
    return SuspensionNotice(
        title=TITLE.format(team=team),
        text=suspension_text(team.tenant),
        other_teams=tuple(others.values_list("team_id", "team__name")),
    )


def suspension_text(tenant: Tenant) -> str:
    return TEXT.format(
        who=tenant.suspended_by,
        at=f"at {clock(tenant.suspended_at)}",
        reason=tenant.suspension_reason,
    )
