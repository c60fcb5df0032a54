"""Change a row of a batch that has started, as long as nothing of it was sent."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from django.db import transaction

from dashboard.batches.actions import queue_row, require_own
from dashboard.batches.dry_run import load_dry_run
from dashboard.batches.runner import RETRIED_WITH, lock_batch, publish_batch
from dashboard.batches.team_limits import check_team_rules
from dashboard.library.actions import find_or_create_label
from dashboard.models import AuditAction, Batch, BatchRow, BatchRowState, BatchState, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.formatting import credits
from dashboard.shared.roles import Permission
from proxyapi.models.account import amount_text
from proxyapi.refusals import Refusal, StaleData

CHANGEABLE = (BatchRowState.WAITING, BatchRowState.FAILED)
ROW_BEGUN = "Row {number} has begun or ended meanwhile. It cannot be changed any more."
LIMIT_RISES = (
    "Not saved yet. The row may cost {limit} cr at most now, {more} cr more than was confirmed, "
    "and so may the batch. Save again to confirm this."
)


class LimitRises(Refusal):
    """`limit`, in credits, is what the row may cost and a person has to confirm."""

    def __init__(self, limit: Decimal, more: Decimal) -> None:
        super().__init__(LIMIT_RISES.format(limit=credits(limit), more=credits(more)))
        self.limit = limit


@transaction.atomic
@append_audit_rows_last()
def change_started_row(
    *,
    by: Membership,
    batch: Batch,
    number: int,
    cells: Mapping[int, str],
    confirmed: Decimal | None = None,
) -> None:
    """Change cells, by column, of a row that waits or has failed; a failed one is sent when it is
    retried, at its price then.

    `confirmed` is the limit of the row that was shown, in credits. Raises `LimitRises` if that of a
    waiting row rises to another one, else `Refusal`, also if it has begun meanwhile.
    """
    check_permission(by, Permission.RENDER)
    require_own(by, batch)
    locked = lock_batch(batch.pk, BatchState.RUNNING, BatchState.PAUSED, BatchState.FINISHED)
    related = (f"job__{name}" for name in RETRIED_WITH)
    row = BatchRow.objects.select_related("batch", *related).get(batch=batch, number=number)
    if locked is None or row.state not in CHANGEABLE:
        raise StaleData(ROW_BEGUN.format(number=number))
    row.set_cells(cells)
    run = load_dry_run(by, locked, [row])
    for problem in run.checks[0].problems:
        raise Refusal(problem.sentence, field=f"cell-{problem.column}")
    before, limit = row.limit or Decimal(0), run.total.limit
    if row.state == BatchRowState.WAITING:
        if (more := limit - before) > 0:
            if confirmed != limit:
                raise LimitRises(limit, more)
            check_team_rules(by, run, more)
            locked.max_credits = (locked.max_credits or Decimal(0)) + more
            locked.save()
        queue_row(run, row)
    if label := run.checks[0].label:
        find_or_create_label(by=by, name=label)
    row.save()
    amounts = {"before": {"limit": amount_text(before)}, "after": {"limit": amount_text(limit)}}
    record_audit_event(by, AuditAction.BATCH_CHANGE, batch.pk, row=number, **amounts)
    publish_batch(locked)
