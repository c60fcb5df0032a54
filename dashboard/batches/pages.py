"""What the pages of batches show."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from dashboard.batches.actions import max_credits_of
from dashboard.batches.dry_run import DryRun, load_dry_run
from dashboard.batches.forms import BatchForm
from dashboard.batches.runner import find_runner, load_used_credits
from dashboard.forecast.queries import BatchInput, BatchVerdict, build_batch_verdict
from dashboard.models import (
    MAX_AT_ONCE,
    Batch,
    BatchRow,
    BatchRowState,
    BatchState,
    Membership,
    PlannedRender,
)
from dashboard.shared.access import has_permission
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.file_export import PlainNumber
from dashboard.shared.forecast import (
    build_simulated_account,
    build_top_up_offer,
    load_credit_packs,
)
from dashboard.shared.formatting import credits
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.lists import ListTab
from dashboard.shared.roles import Permission
from proxyapi.models import AutoTopUp, Charge, ChargeState, JobState, LedgerEntry
from proxyapi.models.account import amount_text, quantize_credits
from proxyapi.models.page_read import ACTIVE_PAGE_READS
from proxyapi.refusals import Refusal
from proxyapi.top_up import TopUpSetting, infer_top_up_state

BATCHES_PER_PAGE, ROWS_PER_PAGE = 20, 20
STATE_GLYPHS = {
    BatchRowState.FAILED: "failed",
    BatchRowState.BEGUN: "running",
    BatchRowState.WAITING: "waiting",
    BatchRowState.DONE: "completed",
    BatchRowState.CANCELLED: "paused",
    BatchRowState.LEFT_OUT: "draft",
    BatchRowState.NEW: "draft",
}
DRAFT_TABS = {
    "problem": ("Problems", "failed"),
    "duplicate": ("Duplicates", "late"),
    "left_out": ("Left out", "draft"),
    "ready": ("Ready", "completed"),
}
RESULT_COLUMNS = ("state", "credits", "video", "reason", "ledger entry")


def load_batches(reader: Membership, page: str) -> dict[str, Any]:
    """Return a page of the team's batches, the newest first, with the states of their rows. Four
    queries."""
    batches = Paginator(
        reader.team.batches.select_related("member", "team__tenant"), BATCHES_PER_PAGE
    )
    rows = batches.get_page(page)
    counts: dict[Any, Counter[str]] = {batch.pk: Counter() for batch in rows}
    grouped = BatchRow.objects.filter(batch__in=counts).order_by().values_list("batch", "state")
    for batch_id, state, count in grouped.annotate(count=Count("pk")):
        counts[batch_id][state] = count
    listed = [(batch, counts[batch.pk].total(), count_states(counts[batch.pk])) for batch in rows]
    return {"batches": listed, "page": rows, "may_make": has_permission(reader, Permission.RENDER)}


def count_states(counts: Mapping[str, int]) -> list[tuple[str, str, int]]:
    """Return label, glyph and number of each state that rows have."""
    known = ((state, STATE_GLYPHS[state], counts.get(state, 0)) for state in STATE_GLYPHS)
    return [(str(state.label).lower(), glyph, count) for state, glyph, count in known if count]


def load_batch(reader: Membership, batch: Batch, params: Mapping[str, str]) -> dict[str, Any]:
    """Return the dry run of a batch that has not started, else its progress."""
    may_change = has_permission(reader, Permission.RENDER)
    context = {
        "batch": batch,
        "may_change": may_change,
        "is_own": may_change and batch.member_id == reader.user_id,
        "may_approve": batch.approval_requested_at is not None
        and batch.is_draft
        and batch.member_id != reader.user_id
        and has_permission(reader, Permission.MANAGE_MONEY),
    }
    load = load_dry_run_page if batch.is_draft else load_progress
    return {**context, **load(reader, batch, params)}


def load_dry_run_page(
    reader: Membership, batch: Batch, params: Mapping[str, str]
) -> dict[str, Any]:
    context: dict[str, Any] = {"settings_form": BatchForm(batch)}
    try:
        maker = find_runner(batch)
        run = load_dry_run(maker, batch, list(batch.rows.all()))
    except Refusal as refusal:
        return {**context, "refusal": refusal.sentence, "row_count": batch.rows.count()}
    counts = Counter(check.status for check in run.checks)
    show = params.get("show", "") if params.get("show") in DRAFT_TABS else ""
    order = list(DRAFT_TABS)
    checks = [check for check in run.checks if not show or check.status == show]
    checks.sort(key=lambda check: order.index(check.status))
    page = Paginator(checks, ROWS_PER_PAGE).get_page(params.get("page"))
    shown = [(check, run.prices.get(check.row.number)) for check in page]
    return {
        **context,
        "row_count": len(run.checks),
        "ready_count": counts["ready"],
        "tabs": build_tabs(batch, DRAFT_TABS, counts, show),
        "page": page,
        "show": show,
        "query": f"show={show}&" if show else "",
        "rows": shown,
        **load_cost(maker, batch, run),
    }


def load_cost(maker: Membership, batch: Batch, run: DryRun) -> dict[str, Any]:
    """Return the total, the credits before and after, and when it is done."""
    account, limit = run.token.account, max_credits_of(batch, run)
    held, _ = account.held_by_all_and_others()
    check = account.check_credits(limit, account.balance - held)
    paces = [(count, run.finished_at(count)) for count in range(1, MAX_AT_ONCE + 1)]
    return {
        "total": run.total,
        "span": span_text(run.total.low, run.total.high),
        "limit": limit,
        "credit_check": check,
        "credits_after": check.available - limit,
        "budget": build_budget_impact(maker, limit, run.largest_limit),
        "paces": [(count, end) for count, end in paces if end and run.ready],
        "top_ups": forecast_top_ups(run, check.available),
    }


def forecast_top_ups(run: DryRun, available: Decimal) -> BatchVerdict | None:
    """Return whether the batch fits the credits, and the automatic top-ups that it causes; None if
    none is set up. Up to three queries."""
    account, now, count = run.token.account, timezone.now(), len(run.ready)
    row = AutoTopUp.objects.filter(account=account).exclude(read_at=None).first()
    if row is None or not row.enabled or not run.total.usual:
        return None
    setting, inferred = TopUpSetting.from_row(row), infer_top_up_state(account, row, now)
    offer = build_top_up_offer(account, setting, load_credit_packs(account))
    start = build_simulated_account(account, row, inferred, available, now)
    each = quantize_credits(run.total.usual / count)
    return build_batch_verdict(start, offer, now, BatchInput(count, each))


def build_tabs(
    batch: Batch, labels: Mapping[str, tuple[str, str]], counts: Mapping[str, int], show: str
) -> list[ListTab]:
    url = reverse("batch", args=[batch.pk])
    tabs = [ListTab("All", "", sum(counts.values()), url, not show)]
    return tabs + [
        ListTab(label, glyph, counts[key], f"{url}?{urlencode({'show': key})}", key == show)
        for key, (label, glyph) in labels.items()
        if counts.get(key)
    ]


def load_progress(reader: Membership, batch: Batch, params: Mapping[str, str]) -> dict[str, Any]:
    """Return a started batch: its sums, its rows, and when it is done. The same queries whatever
    the number of rows."""
    rows = list(batch.rows.select_related("job__page_read").order_by("number"))
    used, spent = load_used_credits([batch]), load_used_credits([batch], only_spent=True)
    labels = {str(state): (str(state.label), glyph) for state, glyph in STATE_GLYPHS.items()}
    counts, order = Counter(row.state for row in rows), list(labels)
    show = params.get("show", "") if params.get("show") in labels else ""
    shown = [row for row in rows if not show or row.state == show]
    shown.sort(key=lambda row: order.index(row.state))
    page = Paginator(shown, ROWS_PER_PAGE).get_page(params.get("page"))
    total_spent = sum(spent.values(), Decimal(0))
    waiting = [row for row in rows if row.state in (BatchRowState.WAITING, BatchRowState.BEGUN)]
    made = len(rows) - counts[BatchRowState.LEFT_OUT]
    return {
        "state_counts": count_states(counts),
        "done_count": counts[BatchRowState.DONE],
        "made_count": made,
        "failed_count": counts[BatchRowState.FAILED],
        "waiting_count": counts[BatchRowState.WAITING],
        "bar": build_bar(counts, made),
        "tabs": build_tabs(batch, labels, counts, show),
        "page": page,
        "query": f"show={show}&" if show else "",
        "rows": [(row, *describe_row(row), used[row.pk]) for row in with_charges(list(page))],
        "spent": total_spent,
        "held": sum(used.values(), Decimal(0)) - total_spent,
        "likely": sum((max(row.usual or Decimal(0), used[row.pk]) for row in waiting), Decimal(0))
        + sum((used[row.pk] for row in rows if row not in waiting), Decimal(0)),
        "finished_at": expected_end(waiting, batch.at_once)
        if batch.state == BatchState.RUNNING
        else None,
    }


def build_bar(counts: Mapping[str, int], total: int) -> list[tuple[str, float, float]]:
    """Return glyph, start and width of each part of the bar, in percent."""
    parts: list[tuple[str, float, float]] = []
    start = 0.0
    for state in (BatchRowState.DONE, BatchRowState.FAILED, BatchRowState.BEGUN):
        width = 100 * counts.get(state, 0) / total if total else 0.0
        parts.append((STATE_GLYPHS[state], round(start, 2), round(width, 2)))
        start += width
    return parts


def with_charges(rows: Sequence[BatchRow]) -> Sequence[BatchRow]:
    """Read the charges and plans of the jobs of these rows. Two queries."""
    jobs = {row.job_id: row.job for row in rows if row.job is not None}
    unknown = Charge.objects.filter(job__in=jobs, state=ChargeState.UNKNOWN)
    planned = PlannedRender.objects.active().filter(pk__in=jobs)
    unknown_ids = set(unknown.values_list("job_id", flat=True))
    planned_ids = set(planned.values_list("pk", flat=True))
    for row in rows:
        row.is_unknown = row.job_id in unknown_ids  # type: ignore[attr-defined]
        row.is_planned = row.job_id in planned_ids  # type: ignore[attr-defined]
    return rows


def describe_row(row: Any) -> tuple[str, str, str, str]:
    """Return glyph, state, what is to be said and the page of the video."""
    glyph, label, text = STATE_GLYPHS[row.state], str(row.get_state_display()), row.reason
    url = job_page_url(row.job)
    if row.state != BatchRowState.BEGUN:
        return glyph, label, text, url
    if row.is_unknown:
        text = "No answer came. It is not sent again; the ledger decides."
        return "unknown", "Unknown", text, url
    if row.job.state == JobState.RUNNING:
        return glyph, "Rendering", "", url
    page_read = getattr(row.job, "page_read", None)
    if page_read is not None and page_read.state in ACTIVE_PAGE_READS:
        text = "Its page is read."
    else:
        text = "Its script is written." if row.is_planned else "Its price is requested."
    return "waiting", "Preparing", text, url


def expected_end(rows: Iterable[BatchRow], at_once: int) -> datetime | None:
    """Return when the last of these rows ends, if each takes its usual time; None if that is not
    known. A render that takes longer than usual is taken to end now."""
    now, ends = timezone.now(), [0.0] * at_once
    listed = sorted(rows, key=lambda row: row.state != BatchRowState.BEGUN)
    if not listed or any(row.usual_s is None for row in listed):
        return None
    for row in listed:
        since = row.job.started_at or row.job.created_at if row.job else now
        left = max(float(row.usual_s or 0) - (now - since).total_seconds(), 0.0)
        heapq.heapreplace(ends, ends[0] + left)
    return now + timedelta(seconds=max(ends))


def result_rows(batch: Batch) -> list[list[str]]:
    """Return the lines of the file of results: the file's own columns, and what became of them."""
    rows = list(batch.rows.select_related("job").order_by("number"))
    used = load_used_credits([batch], only_spent=True)
    entries = load_entries(rows)
    lines: list[list[str]] = [[*batch.headers, *RESULT_COLUMNS]]
    for row in rows:
        path = job_page_url(row.job)
        lines.append(
            [
                *(row.cell(at) for at in range(len(batch.headers))),
                str(row.get_state_display()),
                PlainNumber(amount_text(used[row.pk])),
                f"{settings.PORTAL_URL.rstrip('/')}{path}" if path else "",
                row.reason,
                " ".join(entries.get(row.pk, ())),
            ]
        )
    return lines


def load_entries(rows: Sequence[BatchRow]) -> dict[int, list[str]]:
    """Return the addresses of the ledger entries of each row's video, also of earlier attempts."""
    row_of_job = {row.job_id: row.pk for row in rows if row.job_id}
    earlier = BatchRow.earlier_jobs.through.objects.filter(batchrow__in=[row.pk for row in rows])
    row_of_job |= dict(earlier.values_list("job_id", "batchrow_id"))
    entries = LedgerEntry.objects.filter(charge__job__in=row_of_job).order_by("happened_at")
    found: dict[int, list[str]] = {}
    for job_id, account_id, position in entries.values_list(
        "charge__job", "account_id", "position"
    ):
        path = reverse("ledger-entry", args=[account_id, position])
        url = f"{settings.PORTAL_URL.rstrip('/')}{path}"
        found.setdefault(row_of_job[job_id], []).append(url)
    return found


def span_text(low: Decimal, high: Decimal) -> str:
    """Return `92 to 108`, or one number."""
    first, last = credits(low), credits(high)
    return first if first == last else f"{first} to {last}"
