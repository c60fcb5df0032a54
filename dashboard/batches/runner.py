"""Advance batches that were started: begin the next rows, send what is priced, note what ended.

Each step is one transaction under the lock of the batch, which is taken before all others. The
row's state, its draft and its charge are written together by the admission that a person's press
uses, so a row is sent once or not at all, whenever a worker dies. Tasks only say that a batch is to
be looked at; a sweep says so for every batch that is in progress.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from dashboard.batches.row_checks import RowCheck, RowProblem, RowRules, paid_script
from dashboard.batches.row_outcomes import find_outcome, is_page_script_due, is_render_due
from dashboard.batches.stop_loss import RowFacts, StepKind, decide_next_step
from dashboard.models import (
    AuditAction,
    Batch,
    BatchRow,
    BatchRowState,
    BatchState,
    Membership,
    VideoLabel,
    settings_digest,
)
from dashboard.models.label import label_key
from dashboard.shared import enqueue
from dashboard.shared.access import has_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event, system_actor
from dashboard.shared.charging import check_room_for
from dashboard.shared.formatting import credits
from dashboard.shared.key_limits import require_usable_key
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.shared.start_times import StartTime
from dashboard.shared.video_options import account_options
from dashboard.studio import actions
from dashboard.studio.flows import flow_of
from dashboard.studio.planned_renders import ABOVE_LIMIT, plan_render
from dashboard.studio.queries.price import token_requirement
from proxyapi import pricing
from proxyapi.events import EventType, publish_event
from proxyapi.kinds.page_reading import request_page_read
from proxyapi.models import ApiKey, Charge, DatabaseEpoch, Job
from proxyapi.models.charge import CHARGED_STATES, HOLDING_STATES
from proxyapi.refusals import NotReady, Refusal

MAX_STEPS_PER_RUN = 40
ATTEMPTS = ("job__batch_row", "job__earlier_batch_rows")  # the present one, those before
RETRIED_WITH = ("draft", "draft_origin", "page_read")  # of a job: its script and what asked for it
MEMBER_GONE = "{name} is no longer in the team, or may no longer render."
PRESET_GONE = "The preset “{name}” was deleted. What has begun goes on."
FAILURES_REACHED = "{count} videos failed, as many as this batch allows."
CREDITS_REACHED = (
    "The next video may cost {next} cr. With the {used} cr that were spent, that is more than the "
    "{limit} cr that were confirmed."
)
DATABASE_RESTORED = (
    "The database was restored from a backup. Rows that wait here may have been sent since. Look "
    "for their videos in the library before you resume."
)
RulesOfRun = dict[tuple[UUID, UUID | None], RowRules]  # read once a run, by token and preset


def advance_batch(batch_id: UUID) -> None:
    """Do all that can be done now for a batch. May run twice at once, and be killed anywhere."""
    settle_rows(batch_id)
    rules: RulesOfRun = {}
    for _ in range(MAX_STEPS_PER_RUN):
        try:
            if not advance_once(batch_id, rules):
                return
        except Refusal as refusal:
            pause_batch(batch_id, refusal.sentence)
            return


def lock_batch(batch_id: UUID, *states: BatchState) -> Batch | None:
    """Return the batch, locked until the transaction ends; None if it is in another state."""
    batches = Batch.objects.select_for_update(of=("self",)).filter(pk=batch_id, state__in=states)
    return batches.select_related("team__tenant", "member", "preset", "key").first()


@transaction.atomic
@append_audit_rows_last()
def advance_once(batch_id: UUID, rules: RulesOfRun) -> bool:
    """Send a priced render, or begin the next row, or stop; return whether there may be more to do
    at once. Raises `Refusal` for what stands in the way of the batch: nothing was sent then."""
    batch = lock_batch(batch_id, BatchState.RUNNING)
    if batch is None:
        return False
    begun = load_begun_rows(batch)
    if priced := next(filter(is_render_due, begun), None):
        send_render(batch, priced)
        return True
    if read := next(filter(is_page_script_due, begun), None):
        write_page_script(batch, read, rules)
        return True
    facts = load_facts(batch)
    step = decide_next_step(
        facts,
        at_once=batch.at_once,
        max_credits=batch.max_credits or Decimal(0),
        max_failures=batch.max_failures,
    )
    match step.kind:
        case StepKind.BEGIN:
            row = batch.rows.get(number=step.number)
            begin_row(batch, row, reserved_credits(facts), rules)
            return True
        case StepKind.STOP_FAILURES:
            raise NotReady(FAILURES_REACHED.format(count=batch.max_failures))
        case StepKind.STOP_CREDITS:
            raise NotReady(limit_text(batch, facts))
        case StepKind.FINISH:
            finish_batch(batch)
    return False


def limit_text(batch: Batch, facts: Sequence[RowFacts]) -> str:
    next_row = next(row for row in facts if row.state == BatchRowState.WAITING)
    used = sum((row.committed for row in facts), Decimal(0))
    amounts = {"next": next_row.limit, "used": used, "limit": batch.max_credits}
    return CREDITS_REACHED.format(**{name: credits(one) for name, one in amounts.items()})


def load_facts(batch: Batch) -> list[RowFacts]:
    """Return what the rows of a batch have used, in the order of the file. Three queries, which
    read no texts."""
    used, earlier = (load_used_credits([batch], attempts=(one,)) for one in ATTEMPTS)
    rows = batch.rows.values_list("pk", "number", "state", "limit")
    return [
        RowFacts(number, state, used[pk], limit or Decimal(0), earlier[pk])
        for pk, number, state, limit in rows
    ]


def load_used_credits(
    batches: Collection[Batch], *, only_spent: bool = False, attempts: Iterable[str] = ATTEMPTS
) -> defaultdict[int, Decimal]:
    """Return the credits that the rows of batches have spent and hold, also in earlier attempts, by
    their id. A query for each kind of attempt."""
    used: defaultdict[int, Decimal] = defaultdict(Decimal)
    counted = Q(state__in=CHARGED_STATES) | Q(state__in=HOLDING_STATES)
    for path in attempts:
        charges = Charge.objects.filter(counted, **{f"{path}__batch__in": batches})
        for row_id, state, hold, cost in charges.values_list(path, "state", "hold", "cost"):
            if state in CHARGED_STATES and cost is not None:
                used[row_id] += cost
            elif not only_spent:
                used[row_id] += hold
    return used


def reserved_credits(facts: Iterable[RowFacts]) -> Decimal:
    """Return what rows in progress may still need, besides what they have spent and hold."""
    begun = (row for row in facts if row.state == BatchRowState.BEGUN)
    return sum((max(row.limit - row.used, Decimal(0)) for row in begun), Decimal(0))


def find_runner(batch: Batch) -> Membership:
    """Return the member whose token and budgets the batch uses. Raises `NotReady`, also if the
    database was restored: what rows have sent since the backup is not known here."""
    if not batch.is_draft and batch.epoch != DatabaseEpoch.objects.get_or_create_current().number:
        raise NotReady(DATABASE_RESTORED)
    members = Membership.objects.select_related("team__tenant", "user", "default_preset")
    by = members.filter(team=batch.team_id, user=batch.member_id).first()
    if by is None or not by.user.is_active or not has_permission(by, Permission.RENDER):
        raise NotReady(MEMBER_GONE.format(name=batch.member.first_name))
    if batch.key is not None and not batch.is_draft:
        require_usable_key(batch.key, require_member_token(by))
    return by


def begin_row(batch: Batch, row: BatchRow, reserved: Decimal, known: RulesOfRun) -> None:
    """Start the draft of a row, and admit the charge of its script with the render that follows.

    A row whose script is known only gets its price now. A row that is not legal any more fails.
    Raises `Refusal` if something stands in the way of the whole batch.
    """
    by = find_runner(batch)
    if batch.lost_preset:
        raise NotReady(PRESET_GONE.format(name=batch.preset_name))
    rules = load_rules(by, batch, known)
    check = rules.check(row)
    if check.problems:
        fail_row(batch, row, check.problems[0])
        return
    row.job = start_row_draft(by, batch, row, check, rules)
    if stopped := token_requirement(row.job):
        raise NotReady(f"{stopped.label}.")
    check_whole_limit(by, row, row.job, reserved, batch.key)
    save_row(batch, row, BatchRowState.BEGUN, "")
    if check.link:
        request_page_read(row.job, check.link)
    elif check.topic and not row.job.draft.settings.get("script"):
        plan_row_render(by, batch, row, row.job, check)


def load_rules(by: Membership, batch: Batch, known: RulesOfRun) -> RowRules:
    token = require_member_token(by)
    key = token.pk, batch.preset_id
    rules = known[key] = known.get(key) or RowRules(by, token, batch)
    return rules


def fail_row(batch: Batch, row: BatchRow, problem: RowProblem) -> None:
    place = f"{problem.cell}: " if problem.cell else ""
    save_row(batch, row, BatchRowState.FAILED, f"{place}{problem.sentence}")


def write_page_script(batch: Batch, row: BatchRow, known: RulesOfRun) -> None:
    """Admit the charge of a script from a web page with the render that follows, as `begin_row`
    does for a topic: the images, which are settings, are there first."""
    by = find_runner(batch)
    check = load_rules(by, batch, known).check(row)
    if check.problems or row.job is None:
        fail_row(batch, row, check.problems[0])
        return
    plan_row_render(by, batch, row, row.job, check)
    publish_batch(batch)


def check_whole_limit(
    by: Membership, row: BatchRow, job: Job, reserved: Decimal, key: ApiKey | None
) -> None:
    """Raise `Refusal` unless the row may be paid to its end: its script alone would fit, and its
    render would then be refused. The job has its label: budgets of labels are locked with others,
    before the account."""
    check_room_for(by, job.account_id, (row.limit or Decimal(0)) + reserved, job, key)


def start_row_draft(
    by: Membership, batch: Batch, row: BatchRow, check: RowCheck, rules: RowRules
) -> Job:
    """Start the draft with the settings that were checked. A script that an earlier attempt paid
    for is used again."""
    chosen = dict(check.chosen)
    earlier = row.earlier_jobs.select_related(*RETRIED_WITH).order_by("-created_at")
    if script := next(filter(None, (paid_script(check, job) for job in earlier)), ""):
        chosen["script"] = script
    fallback = rules.of_type(str(chosen["type"])).fallback
    job = actions.start_draft(
        by=by,
        title=check.title,
        chosen=chosen,
        script_request={**check.script_request},
        preset=batch.preset,
        idea=row.idea,
        fallback=fallback,
    )
    Job.objects.filter(pk=job.pk).update(api_key=batch.key, is_unattended=True)
    keys = [label_key(check.label), label_key(batch.key.job_label if batch.key else "")]
    of_row = batch.team.labels.filter(key__in=keys).values_list("pk", flat=True)
    for label_id in {*of_row, *([batch.label_id] if batch.label_id else [])}:
        VideoLabel.objects.create(label_id=label_id, job=job)
    return job


def plan_row_render(
    by: Membership, batch: Batch, row: BatchRow, started: Job, check: RowCheck
) -> None:
    job = Job.objects.select_related("draft", "account", "token").get(pk=started.pk)
    price = batch.script_price or Decimal(0)
    script_hold = pricing.hold_for_operation(flow_of(job).script_operation, price)
    plan_render(
        by=by,
        job=job,
        nonce=uuid4(),
        seen=price,
        chosen={"topic": check.topic, "url": check.link, **check.script_request},
        limit=max((row.limit or Decimal(0)) - script_hold, Decimal(0)),
        digest=settings_digest(job.draft.settings),
        key=batch.key,
    )


def send_render(batch: Batch, row: BatchRow) -> None:
    """Admit the render of a row whose script is known, or fail the row if it is too dear."""
    by, job = find_runner(batch), row.job
    estimate = job.draft.estimate if job else None
    if job is None or estimate is None:
        return
    if reason := find_render_problem(job, estimate, row.limit or Decimal(0)):
        save_row(batch, row, BatchRowState.FAILED, reason)
        return
    actions.render_video(by=by, job=job, nonce=uuid4(), seen=estimate, key=batch.key)
    publish_batch(batch)


def find_render_problem(job: Job, estimate: Decimal, limit: Decimal) -> str:
    """Return why a row cannot be rendered, whatever becomes of the others; empty if it can."""
    options, hold = account_options(job.account), pricing.hold_for_estimate(estimate)
    for need in flow_of(job).preconditions:
        if refusal := need.find_refusal(job.draft.settings, options):
            return refusal
    if hold > limit:
        return ABOVE_LIMIT.format(hold=credits(hold), limit=credits(limit))
    return ""


def save_row(batch: Batch, row: BatchRow, state: BatchRowState, reason: str) -> None:
    row.state, row.reason = state, reason
    row.save(update_fields=["state", "reason", "job"])
    publish_batch(batch)


def load_begun_rows(batch: Batch) -> list[BatchRow]:
    """Return the rows in progress with all that is known of their jobs. Two queries."""
    jobs = ("draft", "account", "token", "planned_render", "page_read")
    related = [f"job__{name}" for name in jobs]
    begun = batch.rows.filter(state=BatchRowState.BEGUN).select_related(*related)
    return list(begun.prefetch_related("job__charges"))


@transaction.atomic
def settle_rows(batch_id: UUID) -> None:
    """Note which rows have ended, also while the batch is paused."""
    batch = lock_batch(batch_id, BatchState.RUNNING, BatchState.PAUSED)
    if batch is None:
        return
    for row in load_begun_rows(batch):
        state, reason = find_outcome(row.job) if row.job else (BatchRowState.BEGUN, "")
        if state != BatchRowState.BEGUN:
            if row.job:
                Job.objects.filter(pk=row.job.pk).update(is_unattended=False)  # a person may retry
            save_row(batch, row, state, reason)


@transaction.atomic
def pause_batch(batch_id: UUID, reason: str, state: BatchState = BatchState.RUNNING) -> None:
    """Pause a batch in this state by itself, with a sentence, and have its member notified."""
    if batch := lock_batch(batch_id, state):
        change_state(batch, BatchState.PAUSED, reason)
        actor = system_actor(batch.team, "Batches")
        record_audit_event(actor, AuditAction.BATCH_PAUSE, batch.pk, reason=reason)


def run_batch(batch: Batch, start: StartTime | None = None) -> None:
    """Let a batch run now, or by itself at `start`."""
    batch.epoch = DatabaseEpoch.objects.get_or_create_current().number
    batch.starts_at, batch.gives_up_at = start or (None, None)
    change_state(batch, BatchState.SCHEDULED if start else BatchState.RUNNING)
    enqueue.enqueue_after_commit(enqueue.ADVANCE_BATCH_TASK, batch.pk)


def finish_batch(batch: Batch) -> None:
    change_state(batch, BatchState.FINISHED)


def change_state(batch: Batch, state: BatchState, reason: str = "") -> None:
    batch.state, batch.pause_reason, batch.state_since = state, reason, timezone.now()
    batch.save()
    publish_batch(batch)
    enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, batch.team_id)


def publish_batch(batch: Batch) -> None:
    publish_event(batch.team.tenant_id, EventType.BATCH, batch.pk)
