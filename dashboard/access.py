"""Fetch with permission: what a member may not see does not exist (404), what they may see but not
do
is refused (403). Both are decided here and nowhere else (law 8)."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404

from dashboard.http import TeamRequest
from dashboard.models import Membership
from dashboard.roles import Permission, allows
from proxyapi.models import Job, Token

REFUSALS: dict[Permission, str] = {
    Permission.SEE: "Only members of the team see this.",
    Permission.RENDER: (
        "Your role looks at videos and does not make them. An owner or admin can change that."
    ),
    Permission.KEEP_TOKEN: "Your role keeps no token. An owner or admin can change that.",
    Permission.MANAGE_MONEY: "Only the treasurer and the owner change money settings.",
    Permission.MANAGE_MEMBERS: "Only owners and admins manage members.",
    Permission.MANAGE_TEAM: "Only the owner changes the team.",
}


def check(membership: Membership, permission: Permission) -> None:
    """Raise with the sentence a person reads when the role does not allow it."""
    if not allows(membership.role, permission):
        raise PermissionDenied(REFUSALS[permission])


def can(membership: Membership, permission: Permission) -> bool:
    return allows(membership.role, permission)


def fetch_job(request: TeamRequest, job_id: UUID, permission: Permission = Permission.SEE) -> Job:
    jobs = Job.objects.shown().filter(vault=request.team.vault)
    job = jobs.select_related("member", "account", "token").filter(pk=job_id).first()
    if job is None:
        raise Http404("There is no such video in this team.")
    check(request.membership, permission)
    return job


def fetch_own_token(request: TeamRequest, token_id: UUID) -> Token:
    token = Token.objects.standing().filter(vault=request.team.vault, pk=token_id).first()
    if token is None:
        raise Http404("There is no such token in this team.")
    check(request.membership, Permission.KEEP_TOKEN)
    if token.owner_id != request.user.pk:
        raise PermissionDenied("A token is removed by the member it belongs to.")
    return token


def fetch_membership(request: TeamRequest, membership_id: int) -> Membership:
    membership = request.team.memberships.select_related("user").filter(pk=membership_id).first()
    if membership is None:
        raise Http404("There is no such member in this team.")
    check(request.membership, Permission.MANAGE_MEMBERS)
    return membership
