"""Charging: the one way from what a member does to a charge, through the budgets that bind them.

The budgets are locked in order of their keys and before the account, so nobody waits in a ring and
no two charges pass on the same last credit, of a budget or of an account.
"""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from dashboard import doorbell
from dashboard.actions.audit import note
from dashboard.caps import OverBudget, Standing, approvers_of, standings, tightest
from dashboard.models import Ask, Budget, Membership
from dashboard.visible_text import line_of
from proxyapi import tasks
from proxyapi.charges import ChargeIntent, admit_charge, create_draft_charge
from proxyapi.charges.admission import find_existing_charge, lock_intent_account
from proxyapi.events import EventType, publish_event
from proxyapi.models import Charge
from proxyapi.refusals import AlreadyInProgress, StaleData

ROOM = "There is room for it by now. Nothing was sent; press once more."
SENT = "This was sent already. Nothing was sent twice."


@transaction.atomic
def charge(by: Membership, intent: ChargeIntent) -> Charge:
    """The intent row and its audit row, then the doorbell once both are committed.

    Raises `OverBudget` when the hold does not fit under a hard limit, else what `record` raises.
    A form that comes twice gets the charge it made, whatever is left by then.
    """
    found = locked(by)
    if sent := pressed_before(intent):
        return sent
    if over := in_the_way(found, intent.hold):
        raise OverBudget(intent.hold, over, approvers_of(by.team))
    charge = admit_charge(intent)
    job = intent.job.pk if intent.job else ""
    note(by, intent.operation, charge.pk, hold=str(intent.hold), job=str(job))
    tasks.enqueue_task_after_commit(tasks.choose_send_task(charge), charge.pk)
    doorbell.ring(doorbell.EVALUATE, by.team_id)
    return charge


def locked(by: Membership) -> list[Standing]:
    """How the budgets that bind this member stand, locked until the transaction ends."""
    budgets = list(Budget.objects.select_for_update().binding(by.team_id, by.user_id))
    # The clock after the lock: who waited for it over midnight is counted with the new day.
    return standings(by.team, budgets, timezone.now())


def pressed_before(intent: ChargeIntent) -> Charge | None:
    """What an equal press made, the account locked before it is looked for: of presses at once the
    first makes the charge and its audit row, also where no budget binds."""
    lock_intent_account(intent)
    return find_existing_charge(intent)


def in_the_way(found: list[Standing], hold: Decimal) -> Standing | None:
    """The tightest of those that the hold does not fit into."""
    return tightest(standing for standing in found if not standing.takes(hold))


def charge_or_ask(by: Membership, intent: ChargeIntent, words: str | None) -> Charge:
    """With `words`, be they empty, it is asked for; without them it is charged."""
    return charge(by, intent) if words is None else ask_for(by, intent, words).charge


@transaction.atomic
def ask_for(by: Membership, intent: ChargeIntent, words: str = "") -> Ask:
    """Have what the budget refuses wait for the treasurer's or the owner's word, at this price.

    Raises `Stale` when there is room for it by now, else what
    `proxyapi.charges.admission.create_draft_charge` raises.
    """
    found = locked(by)
    if sent := pressed_before(intent):
        return asked_before(sent)
    over = in_the_way(found, intent.hold)
    if over is None:
        raise StaleData(ROOM)
    words = line_of(words, max_length=300, field="note")
    charge = create_draft_charge(intent)
    asked = Ask.objects.create(team=by.team, charge=charge, member=by.user, note=words)
    note(by, "ask.make", asked.pk, charge=str(charge.pk), hold=str(charge.hold), note=asked.note)
    publish_event(charge.vault_id, EventType.BUDGET, asked.pk)
    doorbell.ring(doorbell.EVALUATE, by.team_id)
    return asked


def asked_before(charge: Charge) -> Ask:
    found = Ask.objects.filter(charge=charge).first()
    if found is None:
        raise AlreadyInProgress(SENT)
    return found
