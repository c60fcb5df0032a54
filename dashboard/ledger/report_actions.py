"""Who gets the monthly report, and sending it: once for each team, month and person."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from dashboard.ledger.queries.monthly_report import MonthlyReport, load_monthly_report
from dashboard.ledger.queries.report_csv import render_report_csv, report_filename
from dashboard.ledger.queries.scope import load_ledger_accounts
from dashboard.models import AlertEvent, AuditAction, Membership, NotificationKind, Team
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.formatting import credits, join_names, money
from dashboard.shared.notifications import Notification, notify_person
from dashboard.shared.roles import Permission
from proxyapi import throttle
from proxyapi.models import Account, StaleLedgerDay
from proxyapi.refusals import BY_OTHERS, StaleData
from proxyapi.rollups.daily_totals import day_bounds
from proxyapi.rollups.price_counts import next_month, previous_month

# After the end of a month: until debits of its last charges are booked and read.
LATE_BOOKING_DELAY = timedelta(minutes=10)
MAX_LEDGER_WAIT = timedelta(days=3)  # for a ledger that is not read; then it is sent as it is
ENDED_PERIOD = "month ended"
RECIPIENTS_CHANGED_MEANWHILE = (
    f"The recipients were changed {BY_OTHERS}. They are now: {{now}}. Save again to apply the "
    "choice below."
)
INCOMPLETE_TEXT = "The ledger was not read to the end of the month, so amounts may be missing."
REPORTS_PER_MINUTE = 3
TOO_MANY_REPORTS = (
    "Too many reports were sent within a minute. Nothing was sent. Try again in {wait} s."
)


@transaction.atomic
def set_report_recipients(*, by: Membership, chosen: Collection[int], drawn: str) -> bool:
    """Send the report to these members, by id of the membership; False if they are the recipients
    already. A new one gets it first for the month that ends next.

    `drawn` is the `recipients_version` that the form was built from. Raises `StaleData`.
    """
    check_permission(by, Permission.MANAGE_MONEY)
    Team.objects.select_for_update(no_key=True).get(pk=by.team_id)
    members = list(Membership.objects.filter(team=by.team_id).select_related("user"))
    before = [member for member in members if member.monthly_report_since]
    if drawn != recipients_version(before):
        now = join_names([str(member.user) for member in before]) or "nobody"
        raise StaleData(RECIPIENTS_CHANGED_MEANWHILE.format(now=now))
    after = [member for member in members if member.pk in chosen]
    if after == before:
        return False
    team = Membership.objects.filter(team=by.team_id)
    team.filter(pk__in=[member.pk for member in before if member not in after]).update(
        monthly_report_since=None
    )
    team.filter(pk__in=[member.pk for member in after if member not in before]).update(
        monthly_report_since=timezone.now()
    )
    record_audit_event(
        by,
        AuditAction.REPORT_RECIPIENTS,
        by.team_id,
        before={"recipients": [str(member.user) for member in before]},
        after={"recipients": [str(member.user) for member in after]},
    )
    return True


def recipients_version(recipients: Iterable[Membership]) -> str:
    """The recipients as text, so that a form can detect a concurrent change."""
    return " ".join(str(member.pk) for member in sorted(recipients, key=lambda member: member.pk))


@transaction.atomic
def send_report_to_reader(*, by: Membership, report: MonthlyReport) -> None:
    """Notify the reader of the report as it is now, and mail it unless they want no such mail.
    Raises `TooManyAttempts`. It is an export as the file is."""
    check_permission(by, Permission.VIEW)
    limits = {f"reports-to-member:{by.user_id}": REPORTS_PER_MINUTE}
    throttle.count_attempt(limits, TOO_MANY_REPORTS)
    period = timezone.now().isoformat()
    notify_person(by.team, by.user, build_report_notification(report, period))
    record_audit_event(by, AuditAction.LEDGER_EXPORT, report_filename(report))


def send_due_reports(team_id: UUID) -> None:
    """Send the report of the month that ended last to each recipient who has not got it, once the
    ledger is read to its end.

    Two runs at once send it once: the constraint of notifications decides.
    """
    team = Team.objects.select_related("tenant").get(pk=team_id)
    now = timezone.now()
    month = previous_month(now.astimezone(team.tenant.zone).date())
    ended_at, _ = day_bounds(next_month(month), team.tenant.zone)
    waiting = find_waiting_recipients(team, month, ended_at)
    if not waiting:
        return
    accounts = tuple(load_ledger_accounts(team.tenant))
    is_complete = is_month_complete(team, accounts, month, ended_at)
    if not is_complete and now < ended_at + MAX_LEDGER_WAIT:
        return
    days = (getattr(account, "first_day", None) for account in accounts)
    if not any(day and day < next_month(month) for day in days):
        return  # there was no entry yet
    report = load_monthly_report(team, accounts, month)
    note = build_report_notification(report, ENDED_PERIOD, "" if is_complete else INCOMPLETE_TEXT)
    for member in waiting:
        with transaction.atomic():
            notify_person(team, member.user, note)


def find_waiting_recipients(team: Team, month: date, ended_at: datetime) -> list[Membership]:
    """Two queries."""
    members = Membership.objects.filter(team=team, monthly_report_since__lt=ended_at)
    recipients = list(members.filter(user__is_active=True).select_related("user"))
    if not recipients:
        return []
    sent = AlertEvent.objects.filter(
        team=team,
        notification=NotificationKind.MONTHLY_REPORT,
        subject=f"{month:%Y-%m}",
        period=ENDED_PERIOD,
    )
    has_it = set(sent.values_list("member", flat=True))
    return [member for member in recipients if member.user_id not in has_it]


def is_month_complete(
    team: Team, accounts: Sequence[Account], month: date, ended_at: datetime
) -> bool:
    """True if the ledger of every account was read after the month's end and its sums are up to
    date. At most one query."""
    ledgers = [getattr(account, "ledger", None) for account in accounts]
    for ledger in ledgers:
        if ledger is None or not ledger.is_complete or ledger.problem:
            return False
        if ledger.read_at < ended_at + LATE_BOOKING_DELAY:
            return False
        if ledger.rollup_time_zone != team.tenant.zone.key:
            return False
    days = StaleLedgerDay.objects.filter(account__in=accounts, day__lt=next_month(month))
    return bool(ledgers) and not days.exists()


def build_report_notification(report: MonthlyReport, period: str, remark: str = "") -> Notification:
    return Notification(
        kind=NotificationKind.MONTHLY_REPORT,
        subject=report.slug,
        period=period,
        state="info",
        title=f"Report for {report.month:%B %Y}{' so far' if report.so_far else ''}",
        text=report_text(report, remark),
        url=f"{reverse('ledger-report')}?month={report.slug}",
        attachment=render_report_csv(report),
    )


def report_text(report: MonthlyReport, remark: str) -> str:
    """The totals as sentences, one in each line of a mail."""
    figures, price = report.figures, report.credit_price
    spent = figures["spent"]
    estimate = f" ({money(spent.amount, price)})" if price else ""
    percent = f", {spent.change_percent}" if spent.change_percent else ""
    before = f"{report.before.label}: {credits(spent.before)} cr{percent}"
    lines = [
        f"Spent: {credits(spent.amount)} cr{estimate}; {before}.",
        *(
            f"{figures[key].name}: {credits(figures[key].amount)} cr."
            for key in ("refunded", "outside", "added", "net")
        ),
        remark,
    ]
    return "\n".join(line for line in lines if line)
