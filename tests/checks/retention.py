"""docs/reference/retention.md: which rows are deleted, and when; every other table is kept.

A new table gets a row in `PRUNED` or a name in `KEPT`, so that none grows without a decision.
Written by `python -m tests.checks.retention` (and by `make fix`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
RETENTION_PAGE = "docs/reference/retention.md"
INTRO = """\
<!-- Written by `python -m tests.checks.retention`; change the code instead. -->

# How long rows are kept

Old rows are deleted at most a thousand at a time, each batch in a transaction of its own
(`proxyapi/pruning.py`), by the worker of the queue `slow`. Days of a setting are its default.

| what | table | deleted after | setting | checked every |
|---|---|---|---|---|
"""
END = """
Everything else is kept: the audit log, whose chain would break; ledger, charges, jobs and their
sums, which explain each other; calls that charged; and what members made or set. A row of these
goes with what it belongs to, or when a person deletes it.
"""
KEPT = """
    Account AgentApproval AgentApprovalItem AlertRule AlertWebhook ApiKey ApprovalComment
    ApprovalRequest AuditChainCheck AuditChainHead AuditEvent AutoTopUp BalanceRebase Batch
    BatchRow BrandKit Budget BudgetChange CharacterGenres CharacterPhoto Charge ClonedVoice
    CreditPack DailyBreakdown DailyTotal DailyTotalByContentType DailyTotalByLabel
    DailyTotalByMember DailyTotalByOperation DatabaseEpoch Draft DraftOrigin Idea IdeaRefresh
    InstallationSetup Invitation Job JobPart KeyRotation Label LedgerConflict LedgerEntry
    LedgerMirror Membership MonthlyPriceCount MonthlyTotalByOperation NewMemberBudget
    NotificationPreference OutsideSource OwnershipTransfer PageRead PlannedRender PolledAnswer
    Preset RenderDurations ScriptVersion SecondFactorSecret Series SignInDomain SingleSignOn
    SingleSignOnGroup SingleSignOnLink SingleSignOnSecret StaleLedgerDay Storyboard StoryboardCopy
    StoryboardScene Team TeamSecurity Tenant Token TopUpChange Upload User VersionGroup VideoLabel
    VideoVersion VoiceConsent VoiceSlots
"""


class Pruned(NamedTuple):
    """`task`: name of the task that deletes the rows."""

    what: str
    table: str
    age: str
    setting: str
    task: str


def find_retention_problems(root: Path) -> Iterator[str]:
    from django.apps import apps

    tables = {
        model.__name__
        for app in ("dashboard", "proxyapi")
        for model in apps.get_app_config(app).get_models()
    }
    kept, pruned = set(KEPT.split()), {row.table for row in pruned_rows()}
    for name in sorted(tables - kept - pruned):
        yield f"{__name__}: say in PRUNED or KEPT how long rows of {name} are kept"
    for name in sorted(kept - tables):
        yield f"{__name__}: there is no table {name}"
    for name in sorted(kept & pruned):
        yield f"{__name__}: {name} is pruned and kept"
    if (root / RETENTION_PAGE).read_text(encoding="utf-8") != render_retention_page():
        yield f"{RETENTION_PAGE} is not what the code says. Run: make fix"


def pruned_rows() -> list[Pruned]:
    from django.conf import settings

    from dashboard.agents.endpoints import USED_TOKEN_MEMORY
    from proxyapi import call_retention, charge_log, service_quarters, stored_files
    from proxyapi.gateway import idempotency, quotes

    proxy, site = "proxyapi.tasks.", "dashboard.tasks."
    calls, people = f"{proxy}prune_calls", f"{site}prune_sign_ins"
    requests = f"{site}prune_gateway_requests"
    reads = call_retention.READS_KEPT_FOR
    read_age = f"{age_text(reads['failures'])}, or {age_text(reads['all'])}"
    rows = [
        ("answered calls that read", "ApiCall", read_age, "LOG_CALLS", calls),
        ("failed calls that read", "ApiCall", "", "API_CALL_RETENTION_DAYS", calls),
        (
            *("sums of calls by quarter of an hour", "ServiceQuarter"),
            *(age_text(service_quarters.QUARTERS_KEPT_FOR), ""),
            f"{proxy}count_service_quarters",
        ),
        ("requests to the gateway", "GatewayRequest", "", "GATEWAY_LOG_DAYS", requests),
        ("events, and their deliveries", "ApiEvent", "", "GATEWAY_EVENT_DAYS", requests),
        ("answers by idempotency key", "StoredAnswer", age_text(idempotency.KEPT), "", requests),
        ("quotes, after their end", "Quote", age_text(quotes.KEPT), "", requests),
        ("alerts that ended", "AlertEvent", "", "ALERT_RETENTION_DAYS", f"{site}prune_alerts"),
        ("their deliveries", "Delivery", "", "ALERT_RETENTION_DAYS", f"{site}prune_alerts"),
        ("sign-ins", "SignInEvent", "", "SIGN_IN_RETENTION_DAYS", people),
        ("sessions", "Session, UserSession", "their end", "", people),
        ("tokens of agents", "Token of allauth", "their end", "", people),
        (
            *("used refresh tokens", "Token of allauth"),
            *(f"{age_text(USED_TOKEN_MEMORY)} more", "", people),
        ),
        (
            *("files that nobody sent", "StoredFile", age_text(stored_files.RETENTION), ""),
            f"{proxy}prune_stored_files_task",
        ),
        (
            *("files of the charge log", "—", f"{charge_log.RETENTION_DAYS} days", ""),
            f"{proxy}prune_charge_log",
        ),
    ]
    return [
        Pruned(what, table, age or f"{getattr(settings, setting)} days", setting, task)
        for what, table, age, setting, task in rows
    ]


def age_text(age: timedelta) -> str:
    hours = round(age / timedelta(hours=1))
    count, unit = (hours // 24, "day") if hours % 24 == 0 else (hours, "hour")
    return f"{count} {unit}{'' if count == 1 else 's'}"


def render_retention_page() -> str:
    from dashboard.celery import app

    every = {
        entry["task"]: age_text(timedelta(seconds=entry["schedule"]))
        if entry["schedule"] >= 3600
        else f"{entry['schedule'] / 60:.0f} min"
        for entry in app.conf.beat_schedule.values()
    }
    rows = "".join(
        f"| {row.what} | {row.table} | {row.age} | {f'`{row.setting}`' if row.setting else ''} "
        f"| {every[row.task]} |\n"
        for row in pruned_rows()
    )
    return f"{INTRO}{rows}{END}"


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    (ROOT / RETENTION_PAGE).write_text(render_retention_page(), encoding="utf-8")
