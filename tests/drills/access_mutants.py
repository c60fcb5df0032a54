"""Faults in who may fetch what: rows of other teams, roles without the permission."""

from __future__ import annotations

from collections.abc import Mapping

from tests.drills.mutation import Mutant

FETCH = "dashboard/shared/test_fetch.py"
MONEY, PEOPLE = "dashboard/shared/access/money.py", "dashboard/shared/access/people.py"
VIDEOS, ASSETS = "dashboard/shared/access/videos.py", "dashboard/shared/access/assets.py"
STORYBOARDS = "dashboard/shared/access/storyboards.py"

ACCESS: Mapping[str, Mutant] = {
    "every role has every permission": Mutant(
        "dashboard/shared/access/permissions.py",
        "        raise PermissionDenied(PERMISSION_MESSAGES[permission])\n",
        "        pass\n",
        FETCH,
    ),
    "pages exist for every role": Mutant(
        "dashboard/shared/access/permissions.py",
        '        raise Http404("This page does not exist for your role.")\n',
        "        pass\n",
        FETCH,
    ),
    "budgets of every team": Mutant(
        MONEY, "filter(team=request.team, active=True)", "filter(active=True)", FETCH
    ),
    "unknown charges of every team": Mutant(
        MONEY,
        "filter(tenant=request.team.tenant, state=ChargeState.UNKNOWN)",
        "filter(state=ChargeState.UNKNOWN)",
        FETCH,
    ),
    "ledgers of every team": Mutant(
        MONEY,
        "filter(account__tenant=request.team.tenant, account_id=account_id)",
        "filter(account_id=account_id)",
        FETCH,
    ),
    "credit packs of every team": Mutant(
        MONEY, "filter(tenant=request.team.tenant, pk=pack_id)", "filter(pk=pack_id)", FETCH
    ),
    "requests are withdrawn by anybody": Mutant(
        MONEY,
        'raise PermissionDenied("Only the member who made this request can withdraw it.")\n',
        "pass\n",
        FETCH,
    ),
    "tokens of every team": Mutant(
        PEOPLE, "filter(tenant=request.team.tenant, pk=token_id)", "filter(pk=token_id)", FETCH
    ),
    "tokens of others are removed by anybody": Mutant(
        PEOPLE,
        "    if token.owner_id != request.user.pk and not has_permission(\n",
        "    if False and not has_permission(\n",
        FETCH,
    ),
    "an admin removes an owner": Mutant(
        PEOPLE,
        "    if not assignable_roles(by.role, current):\n",
        "    if False:\n",
        FETCH,
    ),
    "videos of every team": Mutant(
        VIDEOS,
        "    jobs = Job.objects.visible().filter(tenant=request.team.tenant)\n    related",
        "    jobs = Job.objects.visible()\n    related",
        FETCH,
    ),
    "labels of every team": Mutant(
        VIDEOS,
        "    label = request.team.labels.filter(pk=label_id).first()\n",
        "    label = Label.objects.filter(pk=label_id).first()\n",
        FETCH,
    ),
    "selected videos of every team": Mutant(
        VIDEOS,
        "        .filter(tenant=request.team.tenant, pk__in=job_ids)\n",
        "        .filter(pk__in=job_ids)\n",
        FETCH,
    ),
    "deleted videos of every team": Mutant(
        VIDEOS,
        "    job = Job.objects.filter(tenant=request.team.tenant, pk=job_id).first()\n",
        "    job = Job.objects.filter(pk=job_id).first()\n",
        FETCH,
    ),
    "parts of every video": Mutant(
        VIDEOS,
        "    part = JobPart.objects.filter(job=job, pk=part_id).first()\n",
        "    part = JobPart.objects.filter(pk=part_id).first()\n",
        FETCH,
    ),
    "labels of other teams are given": Mutant(
        VIDEOS,
        "    if request.team.labels.filter(pk__in=label_ids).count() != len(set(label_ids)):\n",
        "    if Label.objects.filter(pk__in=label_ids).count() != len(set(label_ids)):\n",
        FETCH,
    ),
    "storyboards of every team": Mutant(
        STORYBOARDS,
        "    storyboards = Storyboard.objects.filter(tenant=request.team.tenant, hidden_at=None)\n",
        "    storyboards = Storyboard.objects.filter(hidden_at=None)\n",
        FETCH,
    ),
    "scenes of every storyboard": Mutant(
        STORYBOARDS,
        "    scene = storyboard.scenes.select_related(",
        "    scene = StoryboardScene.objects.select_related(",
        FETCH,
    ),
    "characters of every team": Mutant(
        ASSETS,
        "filter(tenant=request.team.tenant, kind=JobKind.CHARACTER)",
        "filter(kind=JobKind.CHARACTER)",
        FETCH,
    ),
    "ideas of every team": Mutant(
        ASSETS,
        "filter(account__tenant=request.team.tenant_id, pk__in=ids)",
        "filter(pk__in=ids)",
        FETCH,
    ),
    "samples of every voice": Mutant(
        ASSETS,
        "    file = job.stored_files.filter(pk=file_id).first()\n",
        "    file = StoredFile.objects.filter(pk=file_id).first()\n",
        FETCH,
    ),
    "viewers hear samples": Mutant(
        ASSETS,
        "    job = fetch_voice(request, job_id, Permission.RENDER)\n",
        "    job = fetch_voice(request, job_id)\n",
        FETCH,
    ),
    "webhooks of every team": Mutant(
        MONEY,
        "    hook = AlertWebhook.objects.filter(team=request.team, pk=webhook_id).first()\n",
        "    hook = AlertWebhook.objects.filter(pk=webhook_id).first()\n",
        FETCH,
    ),
    "deliveries of every team": Mutant(
        MONEY,
        "Delivery.objects.filter(event__team=request.team).select_related",
        "Delivery.objects.select_related",
        FETCH,
    ),
    "anybody reads a request": Mutant(
        MONEY,
        "    if approval.member_id != request.user.pk:\n"
        "        check_permission(request.membership, Permission.MANAGE_MONEY)\n"
        "    return approval\n",
        "    return approval\n",
        FETCH,
    ),
    "accounts of every team are archived": Mutant(
        MONEY,
        "    account = Account.objects.filter(tenant=request.team.tenant, pk=account_id).first()\n",
        "    account = Account.objects.filter(pk=account_id).first()\n",
        FETCH,
    ),
    "anybody accepts a transfer": Mutant(
        PEOPLE, "    if transfer.to_user_id != request.user.pk:\n", "    if False:\n", FETCH
    ),
    "treasurers read the whole audit log": Mutant(
        PEOPLE,
        "    if not has_permission(membership, Permission.OPERATE):\n",
        "    if False:\n",
        FETCH,
    ),
    "the audit log of every team": Mutant(
        PEOPLE,
        "    entries = AuditEvent.objects.filter(team_id=membership.team_id)\n",
        "    entries = AuditEvent.objects.all()\n",
        FETCH,
    ),
    "everybody operates the installation": Mutant(
        "dashboard/shared/access/permissions.py",
        "    if not user.is_superuser:\n",
        "    if user is None:\n",
        FETCH,
    ),
}
