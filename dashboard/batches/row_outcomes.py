"""What a row in progress waits for, and how it ended, from what is known of its job.

The rows come with their jobs, drafts, plans, page reads and charges; nothing here asks the
database.
"""

from __future__ import annotations

from dashboard.models import BatchRow, BatchRowState
from dashboard.shared.videos.status_text import failure_reason
from dashboard.studio.queries.price import price_state_and_reason
from proxyapi.models import ChargeState, Job, JobState, PageReadState
from proxyapi.models.charge import HOLDING_STATES
from proxyapi.operations import SCRIPT_OPERATIONS

DRAFT_DELETED = "Its draft was deleted."
NO_IMAGES = "The service found no images on its page."
PAGE_NOT_READ = "Its page was not read."
NOT_RENDERED = "Its script was written, and its render was not sent."
UNDECIDED = ChargeState.DRAFT, *HOLDING_STATES


def is_render_due(row: BatchRow) -> bool:
    """Whether a row waits for its render alone: its script is known and priced, and nothing of it
    is planned, sent or undecided."""
    job = row.job
    if row.state != BatchRowState.BEGUN or job is None or job.state != JobState.DRAFT:
        return False
    if not job.draft.settings.get("script") or not job.draft.has_current_estimate:
        return False
    return is_unsent(job)


def is_page_script_due(row: BatchRow) -> bool:
    """Whether the images of a row's web page are there, and its script is not requested yet."""
    job = row.job
    page_read = getattr(job, "page_read", None)
    if job is None or page_read is None or page_read.state != PageReadState.DONE:
        return False
    is_ready = bool(job.draft.settings.get("assets")) and not job.draft.settings.get("script")
    return is_ready and job.state == JobState.DRAFT and is_unsent(job)


def is_unsent(job: Job) -> bool:
    """Whether nothing of a draft is planned, sent or undecided."""
    return getattr(job, "planned_render", None) is None and not job.charges.all()


def find_outcome(job: Job) -> tuple[BatchRowState, str]:
    """Return how a row that has begun ended, and why it failed; `BEGUN` while it goes on. A charge
    whose outcome is not known is no failure."""
    if job.state == JobState.COMPLETED:
        return BatchRowState.DONE, ""
    charges = sorted(job.charges.all(), key=lambda charge: charge.created_at)
    plan = getattr(job, "planned_render", None)
    is_planned = plan is not None and plan.is_active
    if (
        job.state == JobState.RUNNING
        or is_planned
        or any(one.state in UNDECIDED for one in charges)
    ):
        return BatchRowState.BEGUN, ""
    if job.state == JobState.FAILED:
        return BatchRowState.FAILED, failure_reason(job.failure_message)
    if job.hidden_at is not None:
        return BatchRowState.FAILED, DRAFT_DELETED
    if charges and charges[-1].state == ChargeState.REFUSED:
        return BatchRowState.FAILED, charges[-1].reason or "It was refused."
    if plan is not None:
        return BatchRowState.FAILED, plan.reason
    if charges:
        is_script = charges[-1].operation in SCRIPT_OPERATIONS
        return (BatchRowState.FAILED, NOT_RENDERED) if is_script else (BatchRowState.BEGUN, "")
    if page_read := getattr(job, "page_read", None):
        if page_read.state in (PageReadState.FAILED, PageReadState.STOPPED):
            return BatchRowState.FAILED, page_read.message or PAGE_NOT_READ
        if page_read.state != PageReadState.DONE or not job.draft.settings.get("script"):
            has_images = page_read.state != PageReadState.DONE or job.draft.settings.get("assets")
            return (BatchRowState.BEGUN, "") if has_images else (BatchRowState.FAILED, NO_IMAGES)
    price, reason = price_state_and_reason(job)
    return (BatchRowState.FAILED, reason) if price == "none" else (BatchRowState.BEGUN, "")
