"""Batches as scripts and agents make them: rows as JSON, the dry run, the progress, actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.db import IntegrityError, transaction
from django.urls import reverse

from dashboard.api_keys.team_rules import PortalTeamRules, load_active_owner
from dashboard.batches import actions
from dashboard.batches.dry_run import DryRun, PriceSpan, load_dry_run
from dashboard.batches.forms import PASTED_NAME, BatchForm, ResumeForm
from dashboard.batches.pages import (
    describe_row,
    load_batches,
    load_cost,
    load_progress,
    with_charges,
)
from dashboard.batches.row_checks import FIELD_LABELS, RowCheck, find_columns
from dashboard.batches.runner import find_runner, load_used_credits, lock_batch
from dashboard.batches.table_file import MAX_CELL_CHARACTERS, MAX_ROWS, Table
from dashboard.batches.team_limits import SecondPersonForBatch
from dashboard.models import Batch, BatchRow, BatchState, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last
from dashboard.shared.budget_usage import ApprovalRequired
from dashboard.shared.formatting import credits
from dashboard.shared.query_params import parse_small_int
from dashboard.shared.roles import Permission
from proxyapi.gateway.answers import GatewayRefusal, amount_or_none
from proxyapi.gateway.site import BATCH_NOT_STARTED, ReportPage
from proxyapi.models import ApiKey, KeyScope
from proxyapi.models.account import amount_text

Facts = dict[str, Any]
OPTIONS = ("name", "preset", "at_once", "max_credits", "max_failures")
FIELDS = {"rows", "start", *OPTIONS}
ACTION_FIELDS = {
    "start": {"max_credits", "version"},
    "resume": {"max_credits", "max_failures"},
}
# Facts that a batch has before its start, and while it runs.
OF_STATE = (
    *("price", "version", "approval_required", "credits_left", "balance_after", "top_ups"),
    *("spent", "held", "left", "finish_at"),
)
NO_ROWS = f"Send rows: a list of 1 to {MAX_ROWS} objects, with a column for each name."
UNKNOWN_COLUMN = "“{name}” is no column, or is there twice. Columns are {known}."
BAD_CELL = f"{{name}} of row {{row}} must be a text of up to {MAX_CELL_CHARACTERS:,} characters."
BAD_FIELDS = "It takes {known}, and nothing else."
NOT_WHOLE = (
    "Nothing was started or stored: {count} of {all} rows are not ready. “error.batch” says why."
)
ABOVE_LIMIT = (
    "Nothing was started. Its {count} videos usually cost {usual} cr, which is above max_credits. "
    "“error.batch” has the price of now."
)  # fmt: skip
NOT_FOUND = "This batch does not exist."


def wrong(message: str) -> GatewayRefusal:
    return GatewayRefusal(400, "GEN-WRONG-ARGS", message)


@transaction.atomic
@append_audit_rows_last()
def make_batch(key: ApiKey, fields: Mapping[str, Any], id: UUID) -> tuple[int, Facts]:
    """As `proxyapi.gateway.site.Site.make_batch`."""
    by = load_active_owner(key)
    batch = by.team.batches.select_related("member").filter(pk=id).first()
    if batch is None:
        check_fields(fields, FIELDS)
        values = {"id": id, "table": read_rows(fields.get("rows")), **read_options(by, fields)}
        try:
            with transaction.atomic():
                batch = actions.create_batch(by=by, file_name="", **values)
        except IntegrityError:  # the same request at once
            batch = find_batch(by, id)
    if fields.get("start") is not True:
        return 201, describe_batch(key, by, batch)
    status, facts = start_batch(key, by, batch, fields, is_whole=True)
    return max(status, 201), facts


def check_fields(fields: Mapping[str, Any], known: set[str]) -> None:
    values = [value for name, value in fields.items() if name != "rows"]
    if not fields.keys() <= known or not all(map(is_scalar, values)):
        raise wrong(BAD_FIELDS.format(known=", ".join(sorted(known)) or "no field"))


def is_scalar(value: Any) -> bool:
    """Whether it is null, a number, or a text that a database stores: JSON may escape NUL, and half
    of a surrogate pair."""
    is_stored = not isinstance(value, str) or value == clean_text(value)
    return value is None or (isinstance(value, str | int | float) and is_stored)


def clean_text(text: str) -> str:
    return text.replace("\0", "").encode(errors="ignore").decode()


def read_rows(rows: Any) -> Table:
    """Raises `GatewayRefusal` for what is no table; what is wrong with a cell, the dry run says."""
    is_list = isinstance(rows, list) and 0 < len(rows) <= MAX_ROWS
    if not is_list or not all(isinstance(row, dict) for row in rows):
        raise wrong(NO_ROWS)
    headers = list(dict.fromkeys(name for row in rows for name in row))
    for name, column in zip(headers, find_columns(headers), strict=True):
        if not column:
            shown = clean_text(name)[:40]
            raise wrong(UNKNOWN_COLUMN.format(name=shown, known=", ".join(FIELD_LABELS)))
    cells = {
        number: [read_cell(row.get(name), name, number) for name in headers]
        for number, row in enumerate(rows, start=1)
    }
    return Table(headers, cells)


def read_cell(value: Any, name: str, number: int) -> str:
    text = "" if value is None else str(value)
    if not is_scalar(value) or len(text) > MAX_CELL_CHARACTERS:
        raise wrong(BAD_CELL.format(name=name, row=number))
    return text


def read_options(by: Membership, fields: Mapping[str, Any]) -> Facts:
    """The settings of a batch, by the rules of its page. A preset is given by its name. Raises
    `GatewayRefusal`."""
    sent = {name: fields[name] for name in OPTIONS if fields.get(name) is not None}
    batch = Batch(team=by.team, name=PASTED_NAME)
    form = BatchForm(batch, {**BatchForm(batch).initial, **sent})
    form.fields["preset"].to_field_name = "name"  # type: ignore[attr-defined]
    check_form(form)
    return {name: form.cleaned_data[name] for name in OPTIONS}


def check_form(form: forms.Form) -> None:
    for name, errors in form.errors.items():
        raise wrong(f"{name}: {errors[0]}")


def change_batch(
    key: ApiKey, id: UUID, action: str, fields: Mapping[str, Any]
) -> tuple[int, Facts]:
    """As `proxyapi.gateway.site.Site.change_batch`."""
    by = load_active_owner(key)
    batch = find_batch(by, id)
    check_fields(fields, ACTION_FIELDS.get(action, set()))
    if action == "start":
        return start_batch(key, by, batch, fields)
    if action == "pause":
        actions.pause_by_person(by=by, batch=batch)
    elif action == "cancel" and batch.is_draft:
        actions.change_batch(by=by, batch=batch)  # which withdraws what was asked for
    elif action == "cancel":
        actions.cancel_waiting_rows(by=by, batch=batch)
    else:
        known = {"max_credits": batch.max_credits, "max_failures": batch.max_failures}
        check_form(form := ResumeForm({**known, **fields}))
        actions.resume_batch(by=by, batch=batch, key=key, **form.cleaned_data)
    return 200, show_batch(key, id)


@transaction.atomic
@append_audit_rows_last()
def start_batch(
    key: ApiKey, by: Membership, batch: Batch, fields: Mapping[str, Any], *, is_whole: bool = False
) -> tuple[int, Facts]:
    """Start it for the key within `max_credits`, or ask a person (202). A batch that has started is
    shown. Raises `GatewayRefusal`, with the dry run of now, if these credits would not do, and
    with `is_whole` if a row is not ready."""
    locked = lock_batch(batch.pk, BatchState.DRAFT)
    if locked is None:
        return 200, show_batch(key, batch.pk)
    check_form(form := ResumeForm({"max_credits": fields.get("max_credits"), "max_failures": 0}))
    limit = form.cleaned_data["max_credits"]
    actions.require_own(by, locked)
    run = load_dry_run(by, locked, list(locked.rows.all()))
    count, version = len(run.ready), actions.dry_run_version(run)
    message = ""
    if is_whole and count < len(run.checks):
        message = NOT_WHOLE.format(count=len(run.checks) - count, all=len(run.checks))
    elif fields.get("version") not in (None, version):
        message = actions.DRY_RUN_CHANGED
    elif run.total.usual > limit:
        message = ABOVE_LIMIT.format(count=count, usual=credits(run.total.usual))
    if message:
        details = {"batch": describe_batch(key, by, locked)}
        raise GatewayRefusal(409, BATCH_NOT_STARTED, message, details=details)
    if locked.approval_requested_at is not None and locked.max_credits == limit:
        return 202, describe_batch(key, by, locked)
    confirmed: Any = {"by": by, "seen": run.total.usual, "version": version}
    changed = actions.change_batch(by=by, batch=locked, max_credits=limit)
    try:
        with transaction.atomic():
            actions.start_batch(batch=changed, key=key, **confirmed)
    except (ApprovalRequired, SecondPersonForBatch):
        actions.request_batch_approval(batch=changed, **confirmed)
    shown = show_batch(key, batch.pk)
    return (202 if shown["approval_url"] else 200), shown


def find_batch(by: Membership, id: UUID) -> Batch:
    """Raises `GatewayRefusal` for a batch that the team does not have."""
    batches = by.team.batches.select_related("member", "preset", "team__tenant", "key")
    if (batch := batches.filter(pk=id).first()) is None:
        raise GatewayRefusal(404, "GEN-NOT-FOUND", NOT_FOUND)
    return batch


def list_batches(key: ApiKey, query: Mapping[str, str]) -> ReportPage:
    by, number = load_active_owner(key), parse_small_int(query.get("cursor", "1"))
    check_permission(by, Permission.VIEW)
    if query.keys() - {"cursor"} or number is None:
        raise wrong("It takes cursor, as the page before gave it, and nothing else.")
    context = load_batches(by, str(number))
    page = context["page"]
    rows = [
        describe_head(batch) | {"counts": {label: count for label, _, count in states}}
        for batch, _, states in context["batches"]
    ]
    following = str(number + 1) if number == page.number and page.has_next() else None
    return ReportPage(rows if number == page.number else [], following)


def show_batch(key: ApiKey, id: UUID) -> Facts:
    by = load_active_owner(key)
    check_permission(by, Permission.VIEW)
    return describe_batch(key, by, find_batch(by, id))


def describe_head(batch: Batch) -> Facts:
    waits = batch.is_draft and batch.approval_requested_at is not None
    url = f"{settings.PORTAL_URL}{reverse('batch', args=[batch.pk])}"
    return {
        "batch": str(batch.pk),
        "name": batch.name,
        "state": batch.state,
        "pause_reason": batch.pause_reason,
        "max_credits": amount_or_none(batch.max_credits),
        "created_at": batch.created_at,
        "started_at": batch.started_at,
        "url": url,
        "approval_url": url if waits else None,
    }


def describe_batch(key: ApiKey, by: Membership, batch: Batch) -> Facts:
    """What a script may know of a batch; amounts are credits, times UTC. What is null is not known,
    or does not apply to its state."""
    describe = describe_dry_run if batch.is_draft else describe_progress
    return describe_head(batch) | dict.fromkeys(OF_STATE) | describe(key, by, batch)


def describe_dry_run(key: ApiKey, by: Membership, batch: Batch) -> Facts:
    maker = find_runner(batch)
    run = load_dry_run(maker, batch, list(batch.rows.all()))
    cost = load_cost(maker, batch, run)
    facts: Facts = {
        "counts": dict(Counter(check.status for check in run.checks)),
        "rows": [describe_check(run, check) for check in run.checks],
        "price": describe_span(run.total),
        "max_credits": amount_or_none(cost["limit"]),
        "version": actions.dry_run_version(run),
        "finish_at": run.finished_at(batch.at_once) if run.ready else None,
        **PortalTeamRules().preview(key, cost["limit"])._asdict(),
    }
    facts["credits_left"] = amount_or_none(facts["credits_left"])
    if key.has_scope(KeyScope.CREDITS):
        facts["balance_after"] = amount_or_none(cost["credits_after"])
        facts["top_ups"] = cost["top_ups"] and cost["top_ups"].text
    return facts


def describe_check(run: DryRun, check: RowCheck) -> Facts:
    price, headers = run.prices.get(check.row.number), check.row.batch.headers
    problems = [
        {
            "column": None if one.column is None else headers[one.column],
            "message": one.sentence,
            "suggestion": one.suggestion or None,
        }
        for one in check.problems
    ]
    facts = {"row": check.row.number, "title": check.title, "state": check.status}
    facts |= {"message": check.duplicate, "problems": problems}
    facts["price"] = describe_span(price) if price else None
    return {**facts, "spent": "0", "held": "0", "job": None}


def describe_span(span: PriceSpan) -> Facts:
    return {name: amount_text(getattr(span, name)) for name in ("low", "usual", "high", "limit")}


def describe_progress(key: ApiKey, by: Membership, batch: Batch) -> Facts:
    rows = with_charges(list(batch.rows.select_related("job").order_by("number")))
    used, spent = load_used_credits([batch]), load_used_credits([batch], only_spent=True)
    sums = load_progress(by, batch, {})
    left = (batch.max_credits or Decimal(0)) - sums["spent"] - sums["held"]
    return {
        "counts": dict(Counter(row.state for row in rows)),
        "rows": [describe_row_state(row, used[row.pk], spent[row.pk]) for row in rows],
        "spent": amount_or_none(sums["spent"]),
        "held": amount_or_none(sums["held"]),
        "left": amount_or_none(left),
        "finish_at": sums["finished_at"],
    }


def describe_row_state(row: BatchRow, used: Decimal, spent: Decimal) -> Facts:
    return {
        "row": row.number,
        "title": row.title,
        "state": row.state,
        "message": describe_row(row)[2],
        "problems": [],
        "price": None,
        "spent": amount_or_none(spent),
        "held": amount_or_none(used - spent),
        "job": row.job_id and str(row.job_id),
    }
