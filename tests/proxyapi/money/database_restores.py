"""A database that goes back in time: a backup at one point of a charge's life, put back at another.

On the sandbox in this process (`indoors`). A person presses the button again as soon as the
restored page lets them, and once more when they are told that nothing was charged. Where neither
the backup nor a log knows of the press, its debit stands in the ledger as outside the portal; there
they look first, as docs/backup.md says.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import combinations
from typing import Any
from uuid import uuid4

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import QuerySet

from proxyapi import ledger, redis_client, tasks
from proxyapi.charges import ChargeIntent, recovery
from proxyapi.models import Charge, ChargeState, Job
from proxyapi.models.charge import CHARGED_STATES, HOLDING_STATES
from proxyapi.polling import due_work
from proxyapi.rate_limiter import Priority
from proxyapi.refusals import Refusal
from tests.admission import admit_charge
from tests.proxyapi.money.in_process_sandbox import InProcessSandbox, sandbox_with_account
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.proxyapi.money.sandbox_account import FINAL_STATES, SandboxAccount
from tests.reconciliation import build_reconciliation

# In the order in which a charge passes them; "made" is before its draft, "pressed" before the
# worker, "done" a while after it was settled.
POINTS = ("made", "drafted", "pressed", "dequeue", "sent", "answered", "recorded", "done")
BEAT_S = 10
BEATS = 130  # as long as it takes a charge to be settled, or to wait for a person
Rows = list[tuple[type[Any], list[dict[str, Any]]]]


def take_backup() -> Rows:
    models = list(apps.get_app_config("proxyapi").get_models())
    return [(model, list(model._base_manager.values())) for model in models]


def restore_backup(rows: Rows) -> None:
    with transaction.atomic():
        for model, _ in rows:
            found = model._base_manager.all()
            found._raw_delete(using=found.db)
        for model, values in rows:
            model._base_manager.bulk_create([model(**value) for value in values])


def restart_processes() -> None:
    recovery.recover_at_startup()


def empty_redis() -> None:
    redis_client.connect_redis().flushall()
    recovery.recover_at_startup()


def delete_charge_log() -> None:
    """Another machine: the backup alone was brought there."""
    shutil.rmtree(settings.CHARGE_LOG_DIR, ignore_errors=True)
    empty_redis()


def use_stale_replica() -> None:
    """A replica takes over that lacks the last seconds; every process runs on."""


# What happens at the moment of the restoration, besides it.
RESTORE_KINDS: dict[str, Callable[[], None]] = {
    "restored and started": restart_processes,
    "restored, Redis empty": empty_redis,
    "restored without the charge log": delete_charge_log,
    "failover": use_stale_replica,
}


@dataclass
class RestoreTally:
    """What became of the charges; `wrong` tells the ones that break the promise."""

    rounds: int = 0
    settled: int = 0
    to_a_person: int = 0
    wrong: list[str] = field(default_factory=list)


def point_pairs() -> Iterator[tuple[str, str]]:
    """A point of the backup, and a later one, after the press, at which it is put back."""
    return (pair for pair in combinations(POINTS, 2) if pair[1] != "drafted")


@dataclass
class InterruptedOrder:
    """One press of a button, whose life is interrupted by a restoration."""

    sandbox: InProcessSandbox
    stage: SandboxAccount
    taken_at: str
    put_back_at: str
    way: str
    rows: Rows | None = None
    is_restored: bool = False

    @property
    def is_unknown_everywhere(self) -> bool:
        return RESTORE_KINDS[self.way] is delete_charge_log and self.taken_at in ("made", "drafted")

    def reach_point(self, point: str) -> None:
        if point == self.taken_at and self.rows is None:
            self.rows = take_backup()
        elif point == self.put_back_at and not self.is_restored and self.rows is not None:
            self.is_restored = True
            restore_backup(self.rows)
            RESTORE_KINDS[self.way]()


def order_with_restore(
    sandbox: InProcessSandbox,
    operation: str,
    taken_at: str,
    put_back_at: str,
    way: str,
    found: RestoreTally,
) -> None:
    """One order with one restoration, judged by what the sandbox took."""
    with sandbox_with_account(sandbox, {}, credits=10**7) as stage:
        order = InterruptedOrder(sandbox, stage, taken_at, put_back_at, way)
        order.reach_point("made")
        intent = INTENT_MAKERS[operation](stage)
        already = stage.spent_credits()
        order.reach_point("drafted")
        run_order(order, intent)
        assert order.is_restored
        for _ in range(2):
            if not is_shown_as_done(intent) and not order.is_unknown_everywhere:
                press_button(intent)
            run_beat(sandbox)
        what = f"{operation}, backup at {taken_at}, put back at {put_back_at}, {way}"
        judge_restore(stage, charges_of_press(intent), stage.spent_credits() - already, what, found)


def run_order(order: InterruptedOrder, intent: ChargeIntent) -> None:
    """The press, the worker, and half an hour of the beat; its points are told to the order."""
    sandbox = order.sandbox
    sandbox.on_point = order.reach_point
    try:
        charge = admit_charge(intent)
        order.reach_point("pressed")
        # The worker may find its charge gone with the database: its task fails, as any may.
        with suppress(ObjectDoesNotExist):
            tasks.dispatch_charge_task(str(charge.pk))
    finally:
        sandbox.on_point = None
    if not order.is_restored:
        run_beat(sandbox)
        order.reach_point("done")


def press_button(intent: ChargeIntent) -> None:
    """Again, from the restored page: another nonce, the job as it is there, if it is there."""
    with suppress(Refusal, Job.DoesNotExist, ValueError):
        job = Job.objects.get(pk=intent.job.pk) if intent.job else None
        if job is not None and intent.job is not None and job.state != intent.job.state:
            return  # the page shows that it was done
        again = admit_charge(replace(intent, nonce=uuid4(), job=job))
        tasks.dispatch_charge_task(str(again.pk))


def is_shown_as_done(intent: ChargeIntent) -> bool:
    """Whether the page shows that it was done: nobody presses again then."""
    return charges_of_press(intent).filter(state__in=CHARGED_STATES).exists()


def charges_of_press(intent: ChargeIntent) -> QuerySet[Charge]:
    """Those of this press and of its repetitions."""
    job = intent.job.pk if intent.job else None
    return Charge.objects.filter(operation=intent.operation, body=intent.body, job=job)


def run_beat(sandbox: InProcessSandbox) -> None:
    for _ in range(BEATS):
        sandbox.clock.advance(BEAT_S)
        tasks.check_database_restored()
        for id, state in due_work.lease_due_charges():
            task = (
                tasks.dispatch_charge_task
                if state == ChargeState.HELD
                else tasks.reconcile_charge_task
            )
            task(str(id))
        if not Charge.objects.filter(state__in=HOLDING_STATES).exists():
            return


def judge_restore(
    stage: SandboxAccount, charges: QuerySet[Charge], taken: Decimal, what: str, found: RestoreTally
) -> None:
    """At most one price was taken, and each credit of it has its charge, or is shown to people."""
    found.rounds += 1
    price = max([charge.hold for charge in charges], default=taken)
    left = charges.exclude(state__in=FINAL_STATES).count()
    costs = sum(charge.cost or 0 for charge in charges.filter(state__in=CHARGED_STATES))
    account = stage.token.account
    account.refresh_from_db()
    ledger.mirror_entries(account, Priority.PERSON, 5)
    outside = build_reconciliation(account).outside - stage.aside
    told = f"{what}: the sandbox took {taken}, settled {costs}, outside {outside}, open {left}"
    if taken > price or stage.account_money()["same_intent"]:
        found.wrong.append(f"{told}: paid twice")
    elif left or outside:
        found.to_a_person += 1
    elif costs != taken:
        found.wrong.append(f"{told}: not explained")
    else:
        found.settled += 1
