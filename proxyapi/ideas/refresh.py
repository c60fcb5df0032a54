"""Read an account's list of ideas, one page with each task, at a low priority (rule 5).

Reading ends at the page after which everything is stored: an idea stays in the list, so the
number of stored ones against the service's total tells. A read that fails changes only when the
next one is due, and what is shown as the reason (rule 6).
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from proxyapi import calls
from proxyapi.credentials import token_vault
from proxyapi.events import EventType, publish_event
from proxyapi.ideas.records import parse_ideas
from proxyapi.ideas.store import store_ideas
from proxyapi.models import AccountPlan, IdeaRefresh, Token
from proxyapi.operations import EVIDENCE_READS, ExecutionEvidence, get_operation
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.top_up import ACCOUNT_UNREADABLE, PLAN_REQUIRED_MESSAGES
from proxyapi.upstream import errors
from proxyapi.upstream.reply import Reply

LIST_OPERATION = EVIDENCE_READS[ExecutionEvidence.IDEAS]
PAGE_SIZE = 50  # the most that the ledger's pages allow; the spec names no limit of this list
MAX_PAGES = 60  # 3,000 ideas
REFRESH_INTERVAL = timedelta(hours=6)  # only a search adds ideas, and ours store theirs at once
UNREADABLE_INTERVAL = timedelta(minutes=10)  # nothing is sent without a token or a paid plan
FIRST_RETRY_DELAY = timedelta(seconds=30)
PERMIT_TIMEOUT_S = 2.0  # seconds to wait for a permit


def refresh_ideas(account_id: UUID) -> None:
    """Read the next page of the list, and store it. Raises nothing of the service."""
    row = IdeaRefresh.objects.select_related("account").get(pk=account_id)
    account = row.account
    usable = account.tokens.usable().select_related("account").order_by("state_since")
    token = token_vault.first_decryptable(usable)
    if token is None or account.plan != AccountPlan.PAID:
        sentence = (
            ACCOUNT_UNREADABLE
            if token is None
            else PLAN_REQUIRED_MESSAGES[AccountPlan(account.plan)]
        )
        postpone(row, UNREADABLE_INTERVAL, error=sentence)
        return
    try:
        reply = fetch_page(token, row)
    except RateLimitExhausted as exhausted:
        postpone(row, timedelta(seconds=max(1.0, exhausted.wait)), error=row.error)
    except errors.UpstreamError as error:
        delay = min(FIRST_RETRY_DELAY * 2 ** min(row.failures, 10), REFRESH_INTERVAL)
        requested = timedelta(seconds=error.retry_after or 0)
        failures = min(row.failures + 1, 100)
        postpone(row, max(delay, requested), error=error.user_message, failures=failures)
    else:
        store_page(row, reply)


def fetch_page(token: Token, row: IdeaRefresh) -> Reply:
    """Raises `errors.UpstreamError`, also for an answer that is no list, or
    `RateLimitExhausted`."""
    priority = Priority.POLLING if row.requested_at else Priority.LEDGER_SYNC
    query = {"per_page": PAGE_SIZE, "page": row.next_page}
    reply = calls.call_upstream(
        token, LIST_OPERATION, priority, patience=PERMIT_TIMEOUT_S, query=query
    )
    if not isinstance(reply.data, list):
        raise errors.ResponseLost(get_operation(LIST_OPERATION))
    return reply


def store_page(row: IdeaRefresh, reply: Reply) -> None:
    store_ideas(row.account, parse_ideas(reply.data, {}))
    total = reply.meta.get("total")
    is_all_stored = isinstance(total, int) and row.account.ideas.count() >= total
    now = timezone.now()
    if reply.data and row.next_page < MAX_PAGES and not is_all_stored:
        save_if_current(row, next_page=row.next_page + 1, due_at=now, failures=0, error="")
        return
    read = {"next_page": 1, "read_at": now, "requested_at": None, "failures": 0, "error": ""}
    if save_if_current(row, due_at=now + REFRESH_INTERVAL, **read):
        publish_event(row.account.tenant_id, EventType.IDEA, row.pk)


def postpone(row: IdeaRefresh, delay: timedelta, **changes: object) -> None:
    if save_if_current(row, due_at=timezone.now() + delay, **changes) and (
        changes["error"] != row.error
    ):
        publish_event(row.account.tenant_id, EventType.IDEA, row.pk)


def save_if_current(row: IdeaRefresh, **changes: object) -> bool:
    """Save the outcome unless the reading was requested anew meanwhile."""
    current = IdeaRefresh.objects.filter(
        pk=row.pk, next_page=row.next_page, requested_at=row.requested_at
    )
    return bool(current.update(**changes))
