"""Asks: approved once, with more budget or above it; declined with a sentence; taken back.

Budgets are locked before the ask, the ask before the account (see `charging`).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from dashboard import doorbell
from dashboard.access import can, check
from dashboard.actions.audit import note
from dashboard.actions.budgets import change_budget
from dashboard.actions.charging import locked
from dashboard.caps import Standing, above, named
from dashboard.models import Ask, Decision, Membership
from dashboard.roles import Permission
from dashboard.visible_text import line_of
from proxyapi import pricing, tasks
from proxyapi.charges import approve_draft_charge, withdraw_draft_charge
from proxyapi.events import EventType, publish_event
from proxyapi.models import Charge
from proxyapi.models.account import amount_text
from proxyapi.refusals import Refusal, StaleData, format_credits

DECIDED = "This was decided already. Nothing was changed."
CHANGED = "The video or its price changed since it was asked for. Nothing was sent."
DEARER = "It was asked for at {seen} cr and costs {now} cr now. Nothing was sent. Ask again."
NOT_A_MAKER = "Whoever asked makes no videos in this team any more. Nothing was sent."
SEVERAL = (
    "It goes above more than one budget. Raise these first, or approve it this once. Nothing was "
    "sent."
)
OTHER = (
    "The budget in the way is not as it was shown any more. It is shown as it is now; look and "
    "approve again. Nothing was sent."
)
LOWER = "A raised limit is above {limit} cr. Nothing was sent."
WHY = "Say in a sentence why not."
TAKEN_BACK = "Taken back before it was decided. Nothing was sent."


@transaction.atomic
def approve(
    *, by: Membership, ask: Ask, hard: Decimal | None = None, drawn: str | None = None
) -> Ask:
    """Send what was asked for, this once, also above budgets; `hard` first raises the one that is
    in the way, where it is only one.

    `drawn` names the budgets that were shown in the way, as `caps.named` does, "" for none.
    It ends as `STALE` when it is not what was asked for any more, or dearer: then nothing is sent.
    Raises `Stale` when somebody decided it before or other budgets are in the way,
    `NotEnoughCredits` when the account is short.
    """
    check(by, Permission.MANAGE_MONEY)
    asker = Membership.objects.filter(team=by.team, user=ask.member_id).first()
    over = above(locked(asker), ask.charge.hold) if asker else []
    ask = waiting(ask)
    if asker is None or not can(asker, Permission.RENDER):
        return closed(by, ask, Decision.STALE, NOT_A_MAKER)
    check_shown(over, hard, drawn)
    try:
        approve_draft_charge(ask.charge, lower_price(ask.charge))
    except StaleData as stale:
        return closed(by, ask, Decision.STALE, stale.sentence)
    if over and hard is not None:
        check_raise(over, hard)
        raised = over[0].budget
        change_budget(by=by, budget=raised, soft=raised.soft, hard=hard)
    tasks.enqueue_task_after_commit(tasks.choose_send_task(ask.charge), ask.charge.pk)
    return decided(by, ask, Decision.APPROVED, "", **sides(over, ask.charge.hold))


def check_shown(over: Sequence[Standing], hard: Decimal | None, drawn: str | None) -> None:
    """What is in the way is what the decider saw there. That nothing is by now hinders no sending,
    only a raise."""
    fits = not over and hard is None
    if drawn is not None and not fits and drawn != named(over):
        raise StaleData(OTHER)


def check_raise(over: Sequence[Standing], hard: Decimal) -> None:
    """One raise is not to seem to make room where it makes none."""
    if len(over) > 1:
        raise StaleData(SEVERAL)
    limit = over[0].budget.hard
    if limit is not None and hard <= limit:
        raise Refusal(LOWER.format(limit=format_credits(limit)), field="hard")


def sides(over: Sequence[Standing], hold: Decimal) -> dict[str, object]:
    """What of the budgets was gone before and after, for the audit: of the tightest, and `also`."""
    each = [sides_of(one, hold) for one in over]
    also = {"also": each[1:]} if each[1:] else {}
    return {**each[0], **also} if each else {}


def sides_of(standing: Standing, hold: Decimal) -> dict[str, object]:
    limit, taken = amount_text(standing.budget.hard or hold), standing.taken
    return {
        "budget": str(standing.budget.pk),
        "before": {"hard": limit, "taken": amount_text(taken), "state": "draft"},
        "after": {"hard": limit, "taken": amount_text(taken + hold), "state": "held"},
    }


@transaction.atomic
def decline(*, by: Membership, ask: Ask, words: str) -> Ask:
    """Say no, with a sentence that the asker reads. Nothing is sent."""
    check(by, Permission.MANAGE_MONEY)
    words = line_of(words, max_length=300, field="answer")
    if not words:
        raise Refusal(WHY, field="answer")
    return closed(by, waiting(ask), Decision.DECLINED, words)


@transaction.atomic
def take_back(*, by: Membership, ask: Ask) -> Ask:
    """The asker's own: it waits no more, and the draft can be changed again."""
    return closed(by, waiting(ask), Decision.WITHDRAWN, TAKEN_BACK)


def waiting(ask: Ask) -> Ask:
    """The ask as it is now, locked. Raises `Stale` when it was decided."""
    row = (
        Ask.objects.select_for_update(of=("self",))
        .select_related("charge__job", "member")
        .get(pk=ask.pk)
    )
    if not row.is_waiting:
        raise StaleData(DECIDED)
    return row


def lower_price(charge: Charge) -> Decimal | None:
    """It goes at the price of now; None where that is as seen. Raises `Stale` when it is dearer by
    now, has no price any more, or its video is gone."""
    seen, now = charge.price, price_of(charge)
    if now is None or (charge.job and charge.job.hidden_at):
        raise StaleData(CHANGED)
    if now > seen:
        raise StaleData(DEARER.format(seen=format_credits(seen), now=format_credits(now)))
    return now if now < seen else None


def price_of(charge: Charge) -> Decimal | None:
    """What that which was asked for costs now; None where nothing tells it."""
    if charge.operation in pricing.SCRIPT_OPERATIONS:
        return pricing.script_credits(charge.account)
    if charge.job is None:
        return charge.price
    return (
        pricing.estimate_retry_price(charge.job)
        if charge.operation == "faceless.retry"
        else charge.job.estimate
    )


def closed(by: Membership, ask: Ask, decision: Decision, words: str) -> Ask:
    """The draft ends as refused, and says why."""
    said = words if decision != Decision.DECLINED else f"{by.user.first_name} declined: “{words}”"
    withdraw_draft_charge(ask.charge, said)
    return decided(by, ask, decision, words)


def decided(by: Membership, ask: Ask, decision: Decision, words: str, **audit: object) -> Ask:
    ask.decision, ask.answer = decision, words
    ask.decided_by, ask.decided_at = by.user, timezone.now()
    ask.save(update_fields=["decision", "answer", "decided_by", "decided_at"])
    charge = ask.charge
    note(
        by,
        f"ask.{decision.value}",
        ask.pk,
        member=ask.member.first_name,
        charge=str(charge.pk),
        hold=str(charge.hold),
        answer=words,
        **audit,
    )
    publish_event(charge.vault_id, EventType.BUDGET, ask.pk)
    doorbell.ring(doorbell.EVALUATE, by.team_id)
    if charge.job_id:
        publish_event(charge.vault_id, EventType.JOB, charge.job_id)
    return ask
