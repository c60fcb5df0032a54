"""What is found about members: budgets past their alert or at their cap, asks and their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from django.urls import reverse

from dashboard.alerting.finding import Finding, age, page
from dashboard.caps import Standing, standings
from dashboard.models import AlertRule, Ask, Budget, Decision, Period, Team
from dashboard.templatetags.reelroom import credits

NAMES = {Period.DAY: "today", Period.WEEK: "this week", Period.MONTH: "this month"}
NEWS = timedelta(days=1)  # an answer that old is none any more
AT_THE_CAP = "Nothing more is sent before {until} without a word of the treasurer or the owner."


def budgets(team: Team, rules: Sequence[AlertRule], now: datetime) -> Iterator[Finding]:
    rows = Budget.objects.filter(team=team, active=True).select_related("member")
    for standing in standings(team, rows, now):
        limit = reached(standing)
        for rule in rules if limit is not None else ():
            yield of_budget(rule, standing, limit or Decimal(0))


def reached(standing: Standing) -> Decimal | None:
    """The higher of the limits that it is at or past."""
    limits = (standing.budget.hard, standing.budget.soft)
    return next((it for it in limits if it is not None and standing.taken >= it), None)


def of_budget(rule: AlertRule, standing: Standing, limit: Decimal) -> Finding:
    budget = standing.budget
    who = budget.member.first_name if budget.member else "The team"
    when = NAMES[Period(budget.period)]
    capped = limit == budget.hard
    of = f" of {credits(budget.hard)}" if budget.hard is not None else ""
    held = f" and {credits(standing.held)} held" if standing.held else ""
    taken = f"{credits(standing.spent)} spent{held}."
    return Finding(
        rule,
        str(budget.pk),
        f"{who} is at the limit of {credits(limit)} cr {when}"
        if capped
        else f"{who} is past {credits(limit)}{of} cr {when}",
        f"{taken} {AT_THE_CAP.format(until=standing.until)}"
        if capped
        else f"{taken} It begins anew {standing.until}.",
        "failed" if capped else "late",
        page("budgets"),
        f"{standing.span.start.astimezone(standing.zone):%Y-%m-%d}",
        limit,
        budget.member_id,
        for_money=True,
    )


def asks(team: Team, rules: Sequence[AlertRule], now: datetime) -> Iterator[Finding]:
    rows = Ask.objects.filter(team=team).select_related("member", "decided_by", "charge__job")
    for rule in rules:
        for ask in rows.filter(decision=""):
            yield asked(rule, ask, now)
        answered_since = rows.filter(decided_at__gte=now - NEWS)
        for ask in answered_since.exclude(decision=Decision.WITHDRAWN):
            yield answered(rule, ask)


def asked(rule: AlertRule, ask: Ask, now: datetime) -> Finding:
    note = f" “{ask.note}”" if ask.note else ""
    return Finding(
        rule,
        str(ask.pk),
        f"{ask.member.first_name} asks for {credits(ask.charge.hold)} cr",
        f"For {title_of(ask)}.{note}"[:400],
        "waiting",
        page("budgets"),
        age(ask.asked_at, now),
        for_money=True,
    )


def answered(rule: AlertRule, ask: Ask) -> Finding:
    """For the asker alone."""
    who = ask.decided_by.first_name if ask.decided_by else "Somebody"
    amount, title = f"{credits(ask.charge.hold)} cr", title_of(ask)
    state, head, text = {
        Decision.APPROVED: ("good", f"{who} approved {amount}", f"{title} is sent."),
        Decision.DECLINED: ("failed", f"{who} declined {amount}", f"{title}: “{ask.answer}”"),
    }.get(Decision(ask.decision), ("paused", f"{amount} were not sent", f"{title}: {ask.answer}"))
    where = reverse("video", args=[ask.charge.job_id]) if ask.charge.job_id else page("budgets")
    return Finding(
        rule, str(ask.pk), head, text[:400], state, where, "answer", member=ask.member_id
    )


def title_of(ask: Ask) -> str:
    return f"“{ask.charge.job.title}”" if ask.charge.job else "A request"
