"""Rows of the reports, from the queries of the pages that show the same figures."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Min, Q, QuerySet
from django.db.models.functions import Coalesce

from dashboard.audit.queries.action_words import action_title
from dashboard.audit.queries.export import entry_fields
from dashboard.audit.queries.filters import AuditFilters, apply_audit_filters
from dashboard.budgets.queries import load_visible_usages
from dashboard.ledger.queries.filters import LedgerFilters
from dashboard.ledger.queries.rows import query_next_rows
from dashboard.ledger.queries.scope import LedgerScope, load_ledger_scope
from dashboard.ledger.queries.totals import load_ledger_totals
from dashboard.models import Membership, User, VideoLabel
from dashboard.reports.query import ReportQuery, bad_value
from dashboard.shared.access import audit_entries, check_permission
from dashboard.shared.budget_usage import BudgetUsage
from dashboard.shared.query_params import Cursor, parse_cursor
from dashboard.shared.roles import Permission
from proxyapi.gateway.answers import amount_or_none
from proxyapi.gateway.site import ReportPage
from proxyapi.models import ApiKey, Job, LedgerEntry
from proxyapi.models.account import amount_text
from proxyapi.rollups.daily_totals import CreditSum

Row = TypeVar("Row")
ZERO, NO_ACCOUNT, ONE_MICROSECOND = Decimal(0), UUID(int=0), timedelta(microseconds=1)


def read_usage(by: Membership, query: ReportQuery) -> ReportPage:
    """What each job cost in the time range, as the ledger booked it: a row for each person and key
    that charged for it, newest first. A charge without a job has a row of its own."""
    scope = load_scope(by, query, match="yes")
    entries = scope.entries((query.since, query.until)).order_by()
    if query.key:
        entries = entries.filter(charge__api_key=query.key)
    jobs = entries.annotate(thing=Coalesce("job_id", "charge_id")).values(
        "thing", "job", "member", "charge__api_key"
    )
    rows: QuerySet[Any] = jobs.annotate(
        first=Min("happened_at"),
        row=Min("pk"),
        feature=Min("operation"),
        spent=CreditSum("amount", filter=Q(amount__lt=0)),
        refund=CreditSum("amount", filter=Q(amount__gt=0)),
    )
    if cursor := read_cursor(query, datetime, int):
        first, number = cursor
        rows = rows.filter(Q(first__lt=first) | Q(first=first, row__lt=number))
    listed, last = cut_page(list(rows.order_by("-first", "-row")[: query.limit + 1]), query)
    end = Cursor((last["first"], last["row"])) if last else None
    return ReportPage(describe_usage(by, listed), str(end) if end else None)


def cut_page(found: list[Row], query: ReportQuery) -> tuple[list[Row], Row | None]:
    """The rows of the page, and the last of them if others follow."""
    listed = found[: query.limit]
    return listed, listed[-1] if len(found) > len(listed) else None


def read_cursor(query: ReportQuery, *types: type) -> Cursor | None:
    """The end of the page before; None for the first page. Raises `GatewayRefusal`."""
    if not query.cursor:
        return None
    if (cursor := parse_cursor(query.cursor, types)) is None:
        raise bad_value("cursor", query.cursor)
    return cursor


def describe_usage(by: Membership, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Four queries."""
    jobs = Job.objects.in_bulk({row["job"] for row in rows if row["job"]})
    people = User.objects.in_bulk({row["member"] for row in rows if row["member"]})
    keys = ApiKey.objects.in_bulk(
        {row["charge__api_key"] for row in rows if row["charge__api_key"]}
    )
    labels: dict[UUID, list[str]] = {}
    of_jobs = VideoLabel.objects.filter(job__in=jobs, label__team=by.team_id)
    for job, name in of_jobs.order_by("label__key").values_list("job", "label__name"):
        labels.setdefault(job, []).append(name)
    return [
        {
            "job": describe_job(jobs.get(row["job"])),
            "operation": row["feature"] if row["job"] is None else None,
            "person": describe_person(people.get(row["member"])),
            "key": describe_key(keys.get(row["charge__api_key"])),
            "labels": labels.get(row["job"], []),
            "credits": amount_text(-(row["spent"] or ZERO)),
            "refund": amount_text(row["refund"] or ZERO),
            "first_booked_at": row["first"],
        }
        for row in rows
    ]


def read_ledger(by: Membership, query: ReportQuery) -> ReportPage:
    """The rows of the ledger page, newest first."""
    scope = load_scope(by, query)
    after = Cursor((query.until, NO_ACCOUNT, 0))  # nothing at `until` itself follows it
    if cursor := read_cursor(query, datetime, UUID, int):
        after = min(after, cursor)
    rows = query_next_rows(scope, load_ledger_totals(scope), after, query.limit + 1)
    rows = rows.select_related("member", "job", "charge__api_key")
    listed, last = cut_page([row for row in rows if row.happened_at >= query.since], query)
    names = {account.pk: account.label for account in scope.accounts}
    end = Cursor((last.happened_at, last.account_id, last.position)) if last else None
    return ReportPage([describe_entry(row, names) for row in listed], str(end) if end else None)


def describe_entry(entry: LedgerEntry, accounts: Mapping[UUID, str]) -> dict[str, Any]:
    charge = entry.charge
    return {
        "account": {"id": str(entry.account_id), "name": accounts[entry.account_id]},
        "position": entry.position,
        "happened_at": entry.happened_at,
        "label": entry.label,
        "content_type": entry.content_type,
        "transaction_type": entry.transaction_type,
        "amount": amount_text(entry.amount),
        "via_api": entry.via_api,
        "operation": entry.operation or None,
        "person": describe_person(entry.member),
        "key": describe_key(charge.api_key if charge else None),
        "job": describe_job(entry.job),
        "charge": str(charge.pk) if charge else None,
        "confidence": entry.confidence or None,
        "reason": entry.reason,
    }


def load_scope(by: Membership, query: ReportQuery, match: str = "") -> LedgerScope:
    """The scope of the ledger page for the days, in the team's time zone, of the time range."""
    check_permission(by, Permission.VIEW)
    zone = by.team.tenant.zone
    ends = (query.since, query.until - ONE_MICROSECOND)
    period = "..".join(f"{end.astimezone(zone).date()}" for end in ends)
    label = query.label.pk if query.label else None
    filters = LedgerFilters(member=query.person, video_label=label, match=match, period=period)
    return load_ledger_scope(by.team, filters)


def read_budgets(by: Membership, query: ReportQuery) -> ReportPage:
    """The budgets that the owner sees on the budgets page, with their usage now, by id."""
    check_permission(by, Permission.VIEW)
    usages = sorted(load_visible_usages(by), key=lambda usage: str(usage.budget.pk))
    if query.person is not None:
        usages = [usage for usage in usages if usage.budget.member_id == query.person]
    if query.label is not None:
        usages = [usage for usage in usages if usage.budget.label_id == query.label.pk]
    listed, last = cut_page(
        [usage for usage in usages if str(usage.budget.pk) > query.cursor], query
    )
    people = User.objects.in_bulk({usage.budget.member_id for usage in listed} - {None})
    return ReportPage(
        [describe_budget(usage, people) for usage in listed], str(last.budget.pk) if last else None
    )


def describe_budget(usage: BudgetUsage, people: Mapping[int, User]) -> dict[str, Any]:
    budget = usage.budget
    return {
        "budget": str(budget.pk),
        "person": describe_person(people.get(budget.member_id or 0)),
        "label": budget.label.name if budget.label else None,
        "period": budget.period,
        "starts_at": usage.bounds.start,
        "ends_at": usage.bounds.end,
        "limit": amount_or_none(usage.hard),
        "raised_by": amount_text(usage.raised),
        "raised_until": budget.raise_until if usage.raised else None,
        "alert_at": amount_or_none(budget.soft),
        "spent": amount_text(usage.spent),
        "held": amount_text(usage.held),
        "left": amount_or_none(usage.remaining),
    }


def read_audit(by: Membership, query: ReportQuery) -> ReportPage:
    """The entries that the owner's role may read, newest first, with every hashed field."""
    who = "" if query.person is None else str(query.person)
    entries = apply_audit_filters(
        audit_entries(by), AuditFilters(who=who, period="all"), by.team.tenant, ()
    )
    entries = entries.filter(happened_at__gte=query.since, happened_at__lt=query.until)
    if cursor := read_cursor(query, int):
        entries = entries.filter(position__lt=cursor[0])
    listed, last = cut_page(list(entries.order_by("-position")[: query.limit + 1]), query)
    rows = [{**entry_fields(event), "title": action_title(event.action)} for event in listed]
    return ReportPage(rows, str(last.position) if last else None)


def describe_person(user: User | None) -> dict[str, Any] | None:
    return {"id": user.pk, "name": str(user), "email": user.email} if user else None


def describe_key(key: ApiKey | None) -> dict[str, Any] | None:
    return {"id": str(key.pk), "name": key.name} if key else None


def describe_job(job: Job | None) -> dict[str, Any] | None:
    if job is None:
        return None
    return {"id": str(job.pk), "kind": job.kind, "service_id": job.remote_id, "title": job.title}
