"""Budgets: set, changed, ended by those who manage the money, each with what it was before."""

from __future__ import annotations

from decimal import Decimal

from django.db import IntegrityError, transaction

from dashboard import doorbell
from dashboard.access import check
from dashboard.actions.audit import note
from dashboard.models import Budget, Membership, Period, User
from dashboard.roles import Permission
from proxyapi.events import EventType, publish_event
from proxyapi.models.account import amount_text
from proxyapi.refusals import Refusal, StaleData, format_credits

TWICE = "There is a budget for that already. Change it instead of adding another one."
NO_LIMIT = "Set one of the two limits."
TURNED = "The limit that refuses is not below the one that warns."
POSITIVE = "A limit is above 0."
CHANGED = (
    "Somebody changed this budget meanwhile: it is {now} now. Save again to set what is below."
)
ENDED = "Somebody ended this budget meanwhile. Add it again to set its limits."
LIMITS = ("soft", "hard")


@transaction.atomic
def add_budget(
    *,
    by: Membership,
    member: User | None,
    period: Period,
    soft: Decimal | None,
    hard: Decimal | None,
) -> Budget:
    """A new one, for a member or (None) for the whole team. An ended one begins again."""
    check(by, Permission.MANAGE_MONEY)
    check_limits(soft, hard)
    same = Budget.objects.select_for_update().filter(team=by.team, member=member, period=period)
    budget = same.first() or Budget(team=by.team, member=member, period=period, active=False)
    if budget.active:
        raise Refusal(TWICE, field="period")
    budget.soft, budget.hard, budget.active = soft, hard, True
    try:
        with transaction.atomic():
            budget.save()
    except IntegrityError:
        raise Refusal(TWICE, field="period") from None
    told(by, "budget.add", budget, before={})
    return budget


@transaction.atomic
def change_budget(
    *,
    by: Membership,
    budget: Budget,
    soft: Decimal | None,
    hard: Decimal | None,
    drawn: str = "",
) -> bool:
    """Other limits; False when they are the same. `drawn` names those the form was drawn with,
    as `Budget.in_a_word` does; somebody else's change meanwhile wins once."""
    check(by, Permission.MANAGE_MONEY)
    check_limits(soft, hard)
    row = Budget.objects.select_for_update(of=("self",)).get(pk=budget.pk)
    if not row.active:
        raise StaleData(ENDED)
    if drawn not in ("", row.in_a_word):
        raise StaleData(CHANGED.format(now=in_words(row)))
    if (row.soft, row.hard) == (soft, hard):
        return False
    before = limits(row)
    row.soft, row.hard = soft, hard
    row.save(update_fields=LIMITS)
    told(by, "budget.change", row, before=before)
    return True


@transaction.atomic
def end_budget(*, by: Membership, budget: Budget) -> None:
    """It binds nobody any more. The row stays: what it was is part of the history."""
    check(by, Permission.MANAGE_MONEY)
    row = Budget.objects.select_for_update(of=("self",)).get(pk=budget.pk)
    if row.active:
        row.active = False
        row.save(update_fields=["active"])
        told(by, "budget.end", row, before=limits(row))


def check_limits(soft: Decimal | None, hard: Decimal | None) -> None:
    if soft is None and hard is None:
        raise Refusal(NO_LIMIT, field="hard")
    if any(limit is not None and limit <= 0 for limit in (soft, hard)):
        raise Refusal(POSITIVE, field="hard")
    if soft is not None and hard is not None and hard < soft:
        raise Refusal(TURNED, field="hard")


def told(by: Membership, action: str, budget: Budget, before: dict[str, str]) -> None:
    after = limits(budget) if budget.active else {}
    whose = str(budget.member) if budget.member else ""
    note(by, action, budget.pk, member=whose, period=budget.period, before=before, after=after)
    publish_event(by.team.vault_id, EventType.BUDGET, budget.pk)
    doorbell.ring(doorbell.EVALUATE, by.team_id)


def limits(budget: Budget) -> dict[str, str]:
    return {
        name: amount_text(value) for name in LIMITS if (value := getattr(budget, name)) is not None
    }


def in_words(budget: Budget) -> str:
    """ "2,500 cr at most and an alert at 2,000"."""
    hard, soft = budget.hard, budget.soft
    most = "" if hard is None else f"{format_credits(hard)} cr at most"
    alert = "" if soft is None else f"an alert at {format_credits(soft)}"
    return " and ".join(filter(None, (most, alert)))
