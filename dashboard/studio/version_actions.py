"""Actions on versions: create them as drafts, free of charge, and render them with one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from uuid import UUID, uuid5

from django.db import transaction
from django.db.models import QuerySet

from dashboard.models import AuditAction, Membership, VersionDifference, VersionGroup, VideoVersion
from dashboard.models.video_version import MAX_VERSIONS, MIN_VERSIONS
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.budget_impact import budget_left_text
from dashboard.shared.charging import CONFIRMED, ConfirmAnswer, lock_spending_rules
from dashboard.shared.formatting import credits
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.studio import actions
from proxyapi import pricing
from proxyapi.charges import check_hold_fits
from proxyapi.models import Account, Charge, Job, JobState
from proxyapi.refusals import NotReady, Refusal, StaleData

HAS_VERSIONS = "This video is already one of several versions. Use New from this to start others."
WRONG_NUMBER = f"Choose {MIN_VERSIONS} to {MAX_VERSIONS} versions."
OTHER_ACCOUNT = (
    "Your token belongs to another account than this draft, so there would not be one price. Use "
    "New from this first, and make versions of the copy."
)
VERSIONS_CHANGED = "The versions have changed. Nothing was sent. Review them and their prices."
OVER_BUDGET = (
    "No version was sent. Together they need {hold} cr, and {left}. You can request an approval of "
    "each."
)


@transaction.atomic
def create_versions(
    *,
    by: Membership,
    job: Job,
    nonce: UUID,
    difference: VersionDifference,
    values: Sequence[int | str],
) -> VersionGroup:
    """Make a video version 1, and create a draft for each further version; free of charge.

    `values` are those of the setting that differs, in the upstream's format, one for each further
    version; they are not used where nothing differs. A form that is sent twice gets the versions
    that it created. Raises `Refusal`.
    """
    check_permission(by, Permission.RENDER)
    job = Job.objects.select_for_update().get(pk=job.pk)
    if group := VersionGroup.objects.filter(team=by.team, nonce=nonce).first():
        return group
    if VideoVersion.objects.filter(job=job).exists():
        raise NotReady(HAS_VERSIONS)
    size = len(values) + 1
    if not MIN_VERSIONS <= size <= MAX_VERSIONS:
        raise Refusal(WRONG_NUMBER)
    if job.state == JobState.DRAFT and require_member_token(by).account_id != job.account_id:
        raise NotReady(OTHER_ACCOUNT)
    group = VersionGroup.objects.create(
        team=by.team, difference=difference, size=size, nonce=nonce, created_by=by.user
    )
    VideoVersion.objects.create(job=job, group=group, number=1)
    with append_audit_rows_last():
        record_audit_event(by, AuditAction.VERSIONS_CREATE, group.pk, job=job.pk, size=size)
        for number, value in enumerate(values, start=2):
            changes = {} if difference == VersionDifference.NONE else {difference.value: value}
            copy = actions.copy_draft(by=by, job=job, changes=changes)
            VideoVersion.objects.create(job=copy, group=group, number=number)
    return group


@transaction.atomic
def render_versions(
    *,
    by: Membership,
    group: VersionGroup,
    nonce: UUID,
    seen: Mapping[UUID, Decimal],
    answer: ConfirmAnswer = CONFIRMED,
) -> list[Charge]:
    """Render versions, each with its own charge, all or none of them. If the answer has a note, an
    approval of each is requested instead, because together they are over budget.

    `seen` has the price that was shown for each job, in credits. Each charge has a key of its own
    that follows from `nonce`, so that a form that is sent twice gets the charges it created. They
    are written in one transaction: a refusal or a crash leaves none. Raises `Refusal`.
    """
    check_permission(by, Permission.RENDER)
    keys = {job_id: uuid5(nonce, str(job_id)) for job_id in sorted(seen)}
    jobs = {job.pk: job for job in version_jobs(group).filter(pk__in=keys)}
    accounts = {job.account_id for job in jobs.values()}
    if not keys or len(jobs) != len(keys) or len(accounts) != 1:
        raise StaleData(VERSIONS_CHANGED)
    # Before the account, in the order of all charges.
    usages = lock_spending_rules(by).usages
    account = Account.objects.get_locked(accounts.pop())
    if sent := list(Charge.objects.filter(tenant=by.team.tenant_id, nonce__in=keys.values())):
        return sent
    # All together first: the refusal of one would tell what the others before it had left.
    holds = {job_id: pricing.hold_for_estimate(price) for job_id, price in seen.items()}
    hold = sum(holds.values(), Decimal(0))
    for usage in usages:
        if answer.note is None and not usage.has_room_for(hold):
            left = budget_left_text(usage)
            raise Refusal(OVER_BUDGET.format(hold=credits(hold), left=left))
    check_hold_fits(account, hold, beyond_balance=answer.beyond_balance)
    with append_audit_rows_last():
        return [
            actions.render_video(
                by=by,
                job=jobs[job_id],
                nonce=key,
                seen=seen[job_id],
                answer=answer,
                beside=hold - holds[job_id],
            )
            for job_id, key in keys.items()
        ]


def version_jobs(group: VersionGroup) -> QuerySet[Job]:
    """Return the versions that are not hidden, with all that a render needs, by number."""
    jobs = Job.objects.visible().filter(version__group=group, tenant=group.team.tenant_id)
    return jobs.select_related("account", "token", "draft", "version").order_by("version__number")
