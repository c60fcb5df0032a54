"""Fetch a row and check the permission (rule 8): a row of another team raises `Http404`, a row that
the reader may see but not change raises `PermissionDenied`. Nothing else decides either."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, F, OuterRef
from django.http import Http404

from dashboard.models import ApprovalRequest, Budget, Label, Membership, Preset, VersionGroup
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission, assignable_roles, grantable_roles, role_allows
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    CreditPack,
    Idea,
    Job,
    JobKind,
    JobPart,
    JobState,
    LedgerConflict,
    LedgerEntry,
    StoredFile,
    Storyboard,
    StoryboardScene,
    Token,
)
from proxyapi.models.ledger_entry import is_charged_by_another_team

PERMISSION_MESSAGES: dict[Permission, str] = {
    Permission.VIEW: "Only team members can see this.",
    Permission.RENDER: (
        "Your role can view videos but not create them. An owner or admin can change your role."
    ),
    Permission.RECHECK: (
        "Your role can view only; it cannot request a check. An owner or admin can change your "
        "role."
    ),
    Permission.KEEP_TOKEN: "Your role cannot add a token. An owner or admin can change your role.",
    Permission.MANAGE_MONEY: "Only treasurers and owners can change money settings.",
    Permission.MANAGE_MEMBERS: "Only owners and admins can manage members.",
    Permission.MANAGE_TEAM: "Only owners can change the team.",
    Permission.SET_BRAND_KIT: "Only owners and admins can change the brand kit.",
}

TARGET_HAS_MORE_PERMISSIONS = (
    "This member has permissions that you do not have, so you cannot change their role."
)


def check_permission(membership: Membership, permission: Permission) -> None:
    """Raise `PermissionDenied`, with a sentence for the reader, if the role lacks the
    permission."""
    if not role_allows(membership.role, permission):
        raise PermissionDenied(PERMISSION_MESSAGES[permission])


def has_permission(membership: Membership, permission: Permission) -> bool:
    return role_allows(membership.role, permission)


def fetch_job(request: TeamRequest, job_id: UUID, permission: Permission = Permission.VIEW) -> Job:
    jobs = Job.objects.visible().filter(tenant=request.team.tenant)
    related = ("member", "account", "token", "draft", "draft_origin", "version")
    job = jobs.select_related(*related, "storyboard_copy__storyboard").filter(pk=job_id).first()
    if job is None:
        raise Http404("This video does not exist in this team.")
    check_permission(request.membership, permission)
    return job


def fetch_voice(
    request: TeamRequest, job_id: UUID, permission: Permission = Permission.VIEW
) -> Job:
    """Return a voice that the team cloned, or is about to."""
    job = fetch_job(request, job_id, permission)
    if job.kind != JobKind.CLONE:
        raise Http404("This voice does not exist in this team.")
    return job


def fetch_sample(request: TeamRequest, job_id: UUID, file_id: UUID) -> StoredFile:
    """Return a sample of a voice that waits to be sent, for those who may send it."""
    job = fetch_voice(request, job_id, Permission.RENDER)
    file = job.stored_files.filter(pk=file_id).first()
    if file is None:
        raise Http404("This sample is not kept any more.")
    return file


def fetch_character(
    request: TeamRequest, job_id: UUID, permission: Permission = Permission.VIEW
) -> Job:
    """Return a character, with the record of its photo."""
    jobs = Job.objects.visible().filter(tenant=request.team.tenant, kind=JobKind.CHARACTER)
    related = ("member", "account", "token", "draft", "character_photo__confirmed_by")
    job = jobs.select_related(*related).filter(pk=job_id).first()
    if job is None:
        raise Http404("This character does not exist in this team.")
    check_permission(request.membership, permission)
    return job


def fetch_clip(request: TeamRequest, job_id: UUID, permission: Permission = Permission.VIEW) -> Job:
    """Return a clip that was composed here, or its draft."""
    job = fetch_job(request, job_id, permission)
    if job.kind != JobKind.CLIP or job.draft_or_none is None:
        raise Http404("This is no clip that was composed here.")
    return job


def find_clip_draft(request: TeamRequest, job_id: UUID) -> Job | None:
    """Return the draft with the id of a composer to save; None if nothing was saved under it."""
    check_permission(request.membership, Permission.RENDER)
    if not Job.objects.filter(pk=job_id).exists():
        return None
    return fetch_clip(request, job_id, Permission.RENDER)


def fetch_film(request: TeamRequest, job_id: UUID) -> Job:
    """Return a finished video to take a picture or film from, for a new clip."""
    job = fetch_job(request, job_id, Permission.RENDER)
    if job.state != JobState.COMPLETED or not job.media_url:
        raise Http404("This video has no file yet.")
    return job


def fetch_storyboard(
    request: TeamRequest, storyboard_id: UUID, permission: Permission = Permission.VIEW
) -> Storyboard:
    storyboards = Storyboard.objects.filter(tenant=request.team.tenant, hidden_at=None)
    related = ("member", "account", "token__account", "copy__draft", "copy__account", "copy__token")
    storyboard = storyboards.select_related(*related).filter(pk=storyboard_id).first()
    if storyboard is None:
        raise Http404("This storyboard does not exist in this team.")
    check_permission(request.membership, permission)
    return storyboard


def find_storyboard(request: TeamRequest, storyboard_id: UUID) -> Storyboard | None:
    """Return the storyboard with the id of a form of a new one; None if it was not started."""
    check_permission(request.membership, Permission.RENDER)
    if not Storyboard.objects.filter(pk=storyboard_id).exists():
        return None
    return fetch_storyboard(request, storyboard_id, Permission.RENDER)


def fetch_deleted_storyboard(request: TeamRequest, storyboard_id: UUID) -> Storyboard:
    """Return a storyboard to restore; another member may have restored it already."""
    storyboard = Storyboard.objects.filter(tenant=request.team.tenant, pk=storyboard_id).first()
    if storyboard is None:
        raise Http404("This storyboard does not exist in this team.")
    check_permission(request.membership, Permission.RENDER)
    return storyboard


def fetch_scene(
    request: TeamRequest,
    storyboard_id: UUID,
    scene_id: UUID,
    permission: Permission = Permission.VIEW,
) -> tuple[Storyboard, StoryboardScene]:
    """Return a storyboard and one of its scenes; another member may have deleted the scene."""
    storyboard = fetch_storyboard(request, storyboard_id, permission)
    scene = storyboard.scenes.select_related("edited_by", "kept_by").filter(pk=scene_id).first()
    if scene is None:
        raise Http404("This scene does not exist any more.")
    return storyboard, scene


def fetch_part(
    request: TeamRequest, job_id: UUID, part_id: UUID, permission: Permission = Permission.VIEW
) -> tuple[Job, JobPart]:
    """Return a video and one of its scene images or exports."""
    job = fetch_job(request, job_id, permission)
    part = JobPart.objects.filter(job=job, pk=part_id).first()
    if part is None:
        raise Http404("The service no longer has this part of the video.")
    return job, part


def fetch_selected_jobs(request: TeamRequest, job_ids: Collection[UUID]) -> list[Job]:
    """Return several videos to change, hidden ones too, newest first."""
    jobs = list(
        Job.objects.videos()
        .filter(tenant=request.team.tenant, pk__in=job_ids)
        .select_related("version")
        .order_by("-created_at", "-pk")
    )
    if len(jobs) != len(set(job_ids)):
        raise Http404("One of these videos does not exist in this team.")
    check_permission(request.membership, Permission.RENDER)
    return jobs


def fetch_ideas(request: TeamRequest, idea_ids: Collection[UUID]) -> list[Idea]:
    """Return ideas to make drafts of, the highest volume first."""
    ideas = Idea.objects.filter(account__tenant=request.team.tenant_id, pk__in=idea_ids)
    rows = list(ideas.order_by(F("volume").desc(nulls_last=True), "pk"))
    if len(rows) != len(set(idea_ids)):
        raise Http404("One of these ideas does not exist in this team.")
    check_permission(request.membership, Permission.RENDER)
    return rows


def fetch_label(request: TeamRequest, label_id: UUID) -> Label:
    """Return a label of the team to change."""
    label = request.team.labels.filter(pk=label_id).first()
    if label is None:
        raise Http404("This label does not exist in this team.")
    check_permission(request.membership, Permission.RENDER)
    return label


def fetch_version_group(
    request: TeamRequest, group_id: UUID, permission: Permission = Permission.VIEW
) -> VersionGroup:
    group = request.team.version_groups.filter(pk=group_id).first()
    if group is None:
        raise Http404("These versions do not exist in this team.")
    check_permission(request.membership, permission)
    return group


def require_team_labels(request: TeamRequest, label_ids: Collection[UUID]) -> None:
    """Raise `Http404` unless all of them are labels of the team."""
    if request.team.labels.filter(pk__in=label_ids).count() != len(set(label_ids)):
        raise Http404("One of these labels does not exist in this team.")


def fetch_hidden_job(request: TeamRequest, job_id: UUID) -> Job:
    """Return a video to restore; another member may have restored it already."""
    job = Job.objects.filter(tenant=request.team.tenant, pk=job_id).first()
    if job is None:
        raise Http404("This video does not exist in this team.")
    check_permission(request.membership, Permission.RENDER)
    return job


def fetch_removable_token(request: TeamRequest, token_id: UUID) -> Token:
    """Return a token that the reader may remove: their own with any role, or any token of the team
    if they manage members."""
    tokens = Token.objects.not_removed().filter(tenant=request.team.tenant, pk=token_id)
    token = tokens.select_related("owner", "account").first()
    if token is None:
        raise Http404("This token does not exist in this team.")
    if token.owner_id != request.user.pk and not has_permission(
        request.membership, Permission.MANAGE_MEMBERS
    ):
        raise PermissionDenied("Only the token’s member, an owner or an admin can remove it.")
    return token


def fetch_membership(request: TeamRequest, membership_id: int) -> Membership:
    membership = request.team.memberships.select_related("user").filter(pk=membership_id).first()
    if membership is None:
        raise Http404("This member does not exist in this team.")
    check_can_change_role(request.membership, membership.role)
    return membership


def check_can_change_role(by: Membership, current: str) -> None:
    """Raise `PermissionDenied` unless `by` may change the role of a member whose role is
    `current`."""
    if not grantable_roles(by.role):
        raise PermissionDenied(PERMISSION_MESSAGES[Permission.MANAGE_MEMBERS])
    if not assignable_roles(by.role, current):
        raise PermissionDenied(TARGET_HAS_MORE_PERMISSIONS)


def fetch_budget(request: TeamRequest, budget_id: UUID) -> Budget:
    """Return an active budget to change."""
    budgets = Budget.objects.filter(team=request.team, active=True).select_related("member")
    budget = budgets.filter(pk=budget_id).first()
    if budget is None:
        raise Http404("This budget does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return budget


def fetch_approval_request(request: TeamRequest, approval_id: UUID) -> ApprovalRequest:
    """Return an approval request to decide."""
    approval = find_approval_request(request, approval_id)
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return approval


def fetch_own_approval_request(request: TeamRequest, approval_id: UUID) -> ApprovalRequest:
    approval = find_approval_request(request, approval_id)
    if approval.member_id != request.user.pk:
        raise PermissionDenied("Only the member who made this request can withdraw it.")
    return approval


def find_approval_request(request: TeamRequest, approval_id: UUID) -> ApprovalRequest:
    approval = (
        request.team.approval_requests.select_related("member", "charge__job__draft")
        .filter(pk=approval_id)
        .first()
    )
    if approval is None:
        raise Http404("This team has no such approval request.")
    return approval


def fetch_account(
    request: TeamRequest, account_id: str, permission: Permission = Permission.VIEW
) -> tuple[Account | None, list[Account]]:
    """Return the account with this id and all accounts of the team, each annotated with
    `is_reachable`: it has a usable token.

    With an empty id the first account is chosen, or None if the team has none.
    """
    check_permission(request.membership, permission)
    usable_tokens = Token.objects.usable().filter(account=OuterRef("pk"))
    accounts = Account.objects.filter(tenant=request.team.tenant).defer("costs", "options")
    accounts = accounts.annotate(is_reachable=Exists(usable_tokens))
    accounts = accounts.select_related("tenant", "ledger", "top_up").order_by("created_at", "pk")
    rows: list[Account] = list(accounts)
    if not account_id:
        return (rows[0] if rows else None), rows
    chosen = next((row for row in rows if str(row.pk) == account_id.lower()), None)
    if chosen is None:
        raise Http404("This account does not exist in this team.")
    return chosen, rows


def fetch_preset(
    request: TeamRequest, preset_id: UUID, permission: Permission = Permission.VIEW
) -> Preset:
    preset = request.team.presets.select_related("created_by", "team").filter(pk=preset_id).first()
    if preset is None:
        raise Http404("This preset does not exist in this team.")
    check_permission(request.membership, permission)
    return preset


def fetch_credit_pack(request: TeamRequest, pack_id: int) -> CreditPack:
    pack = CreditPack.objects.filter(tenant=request.team.tenant, pk=pack_id).first()
    if pack is None:
        raise Http404("This credit pack does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return pack


def fetch_ledger_entry(request: TeamRequest, account_id: UUID, position: int) -> LedgerEntry:
    """Return a ledger row with its charge, its job and the users of both."""
    entries = LedgerEntry.objects.filter(account__tenant=request.team.tenant, account_id=account_id)
    entries = entries.annotate(is_another_teams=is_charged_by_another_team())
    entries = entries.select_related("account", "member", "job", "charge__member")
    entry = (
        entries.select_related("charge__token__owner", "charge__decided_by")
        .filter(position=position)
        .first()
    )
    if entry is None:
        raise Http404("This ledger entry does not exist in this team.")
    check_permission(request.membership, Permission.VIEW)
    return entry


def fetch_unknown_charge(
    request: TeamRequest, charge_id: UUID, permission: Permission = Permission.MANAGE_MONEY
) -> Charge:
    """Return a charge with an unknown outcome, to decide or recheck."""
    charges = Charge.objects.filter(tenant=request.team.tenant, state=ChargeState.UNKNOWN)
    charge = charges.select_related("member", "job", "token").filter(pk=charge_id).first()
    if charge is None:
        raise Http404("This open charge does not exist in this team.")
    check_permission(request.membership, permission)
    return charge


def fetch_ledger_conflict(request: TeamRequest, rewrite_id: int) -> LedgerConflict:
    """Return a ledger row that changed at the service, to accept."""
    conflicts = LedgerConflict.objects.filter(
        account__tenant=request.team.tenant, accepted_at__isnull=True
    )
    conflict = conflicts.select_related("account__ledger").filter(pk=rewrite_id).first()
    if conflict is None:
        raise Http404("This row does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return conflict
