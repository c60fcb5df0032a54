"""A life of the portal's engine against the sandbox: whatever people do, whatever breaks or dies.

A state machine. After every step, rule 2 and, where anything moved, the books: the sandbox's
balance = opening + entries, the mirror's too; every debit has a charge or is outside the portal;
no charge took credits twice; what is settled cost what was taken. Tasks are kept here, so they may
be lost or run twice.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from proxyapi import ledger, pricing, tasks, top_up
from proxyapi.charges import ChargeIntent
from proxyapi.kinds import faceless_draft
from proxyapi.models import (
    AutoTopUp,
    Charge,
    ChargeState,
    Job,
    JobKind,
    JobState,
    LedgerEntry,
    TopUpChange,
)
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.polling import due_work
from proxyapi.polling.poller import poll_job
from proxyapi.rate_limiter import Priority
from proxyapi.refusals import Refusal
from proxyapi.sandbox import audit
from proxyapi.top_up import TopUpSetting
from tests.admission import admit_charge
from tests.contract.staging import PROMPT
from tests.proxyapi.money.in_process_sandbox import InProcessSandbox, sandbox_with_account
from tests.proxyapi.money.operations import (
    READY_SETTINGS,
    SCRIPT,
    make_intent,
    make_job,
    path_pattern,
)
from tests.proxyapi.money.sandbox_account import FINAL_STATES, OPERATION_PRICES, SandboxAccount
from tests.reconciliation import build_reconciliation

# Shrinking takes minutes; the seed repeats a life that broke a law, and then it may be shrunk.
MONTHLY = 1000
FURNITURE = 2  # drafts to begin with
OUTSIDERS_SEARCH = 23  # credits; no price of ours is like it, or a debit could be anybody's
WORLD = {
    "render_seconds": 40,
    "clip_seconds": 40,
    "journal_lines": 50,
    "costs": {**OPERATION_PRICES, "idea_discovery": {"credits": OUTSIDERS_SEARCH}},
}
ORDERS = ("next", "next", "next", "script", "clip")
FAULTS: dict[str, dict[str, Any]] = {
    "lost": {"action": "close", "when": "after"},
    "reset": {"action": "reset", "when": "before"},
    "half": {"action": "half_body", "when": "after"},
    "500": {"action": "status", "when": "before", "code": 500},
    "502": {"action": "html", "when": "after", "code": 502},
    "429": {"action": "status", "when": "before", "code": 429, "headers": {"Retry-After": "1"}},
    "402": {"action": "status", "when": "before", "code": 402},
    "no meta": {"action": "drop_meta", "when": "after"},
}
NO_FAULT = ("",) * 6
AT_PRESS = ("", "", "intent", "enqueue")
AT_BEAT = ("", "", "", "reconcile", "publish", "sent")
AT_WORK = ("", "", "", "", "dequeue", "wire", "sent", "answered", "publish", "recorded")
SECONDS = (1, 5, 16, 31, 45, 61, 61, 130, 901, 86_400)
REST = (*(31,) * 8, *(301,) * 4)  # between the beats of twenty minutes and more
PLACE = st.integers(0, 7)
FAULT = st.sampled_from([*NO_FAULT, *FAULTS, "away"])
DEED = st.tuples(st.sampled_from(ORDERS), PLACE, FAULT, st.sampled_from(AT_WORK))


class PortalStateMachine(RuleBasedStateMachine):
    sandbox: InProcessSandbox
    told: dict[str, int]  # how often what was done, over all lives

    @initialize(credits=st.sampled_from([40, 150, 400, 5000]), minutes=st.integers(1, 4))
    def open(self, credits: int, minutes: int) -> None:
        """In one life of four the books are looked at again when only minutes went by."""
        self.exits, self.by_minutes = ExitStack(), minutes == 1
        wanted = {"credits": credits, "monthly_credits": MONTHLY}
        self.stage: SandboxAccount = self.exits.enter_context(
            sandbox_with_account(self.sandbox, WORLD, **wanted)
        )
        self.account = self.stage.token.account
        self.jobs: list[Job] = []
        self.bells = self.sandbox.bells
        self.bells.clear()
        self.taken: dict[UUID, list[Decimal]] = {}  # by charge, what the sandbox took for it
        self.known, self.outside = 0, Decimal(0)
        self.weighed: tuple[object, ...] = ()  # what had moved when the books were weighed last
        self.count_action("lives")
        for title in range(FURNITURE):
            self.draft(title, title, True)

    # What people do

    @rule(at=PLACE, title=st.integers(0, 99), new=st.booleans())
    def draft(self, at: int, title: int, new: bool) -> None:
        """A new draft, as the studio begins one, or a changed one; and then its price."""
        if new:
            started = {"type": "ai-visuals", "title": f"Tides {title}"}
            self.jobs.append(make_job(self.stage, JobKind.FACELESS, None, draft__settings=started))
        chosen = self.jobs[-1] if new else self.job_at(at)
        if chosen.state in (JobState.RUNNING, JobState.COMPLETED) or chosen.charges.open().exists():
            return
        draft = chosen.draft
        draft.settings = {**draft.settings, **READY_SETTINGS, "title": f"Tides {title}"}
        draft.estimate, draft.edited_at = None, self.sandbox.now()
        draft.save()
        faceless_draft.quote_draft(chosen)
        self.note_taken_credits(None)

    @rule(what=st.sampled_from(ORDERS), at=PLACE, dies=st.sampled_from(AT_PRESS))
    def order(self, what: str, at: int, dies: str) -> None:
        """A press of a button; its process may die."""
        wanted = self.choose_operation(what, self.job_at(at))
        if wanted is None:
            return
        refused = False
        with self.sandbox.dying_at(dies):
            try:
                with transaction.atomic():
                    charge = admit_charge(wanted)
                    tasks.enqueue_task_after_commit(tasks.dispatch_charge_task, charge.pk)
            except Refusal:
                refused = True
        there = Charge.objects.filter(nonce=wanted.nonce).exists()
        assert there == (not refused and dies != "intent"), f"{what} {dies}: lost, or there"
        self.count_action("charges" if there else "orders refused or cut off")

    @rule(deeds=st.lists(DEED, min_size=1, max_size=3))
    def order_and_work(self, deeds: list[tuple[str, int, str, str]]) -> None:
        """Most often somebody hears the doorbell at once."""
        for number, (what, at, fault, dies) in enumerate(deeds):
            if number:
                self.ledgers_agree()  # after the last one they are an invariant
            before = len(self.bells)
            self.order(what, at, "")
            if len(self.bells) > before:
                self.run_worker(before, fault, dies, False)

    def choose_operation(self, what: str, chosen: Job) -> ChargeIntent | None:
        """What `next` is depends on how far the video is; while it renders, another clip."""
        if what == "clip" or chosen.state == JobState.RUNNING:
            body: dict[str, Any] = {"model": "brook", "prompt": f"{PROMPT}, take {uuid4()}"}
            path = "/text-to-video/estimate"
            price = self.stage.response_data("GET", path, params={"model": "brook"})["cost"]
            new = make_job(self.stage, JobKind.CLIP, None, draft__settings=body)
            return make_intent(new, "text_to_video.create", price, self.stage, body=body)
        if what == "script" and chosen.remote_id:
            body = {**SCRIPT, "topic": f"why the sea has tides, {uuid4()}"}
            return make_intent(chosen, "faceless.scripts", 4, self.stage, body=body)
        if chosen.state == JobState.COMPLETED:
            body = {"caption_effect": "karaoke"}
            return make_intent(chosen, "faceless.export", 5, self.stage, body=body)
        if chosen.state == JobState.DRAFT:
            operation, price = (
                "faceless.render",
                chosen.draft.estimate if chosen.draft.has_current_estimate else None,
            )
        else:
            operation, price = "faceless.retry", pricing.estimate_retry_price(chosen)
        return make_intent(chosen, operation, price, self.stage) if price is not None else None

    @rule(units=st.sampled_from([1, 2, 5]), enabled=st.booleans(), lost=st.booleans())
    def turn_top_up(self, units: int, enabled: bool, lost: bool) -> None:
        top_up.refresh_preference(self.account)
        row = AutoTopUp.objects.filter(account=self.account).first()
        seen = TopUpSetting.from_row(row) if row else TopUpSetting()
        wanted = TopUpSetting(enabled=enabled, type="dynamic-credits", units=units)
        if lost:
            self.stage.set_fault("/v2/account/auto-topup", "close", "after")
        with suppress(Refusal):
            owner = self.stage.token.owner_id
            change, _ = top_up.request_change(self.stage.token, owner, uuid4(), wanted, seen)
            top_up.process_change(change.pk)
            self.count_action("top-ups turned")
        self.clear_faults()
        self.note_taken_credits(None)

    @rule(credits=st.sampled_from([3, 4, 10, 17]), by_api=st.booleans())
    def spend_outside(self, credits: int, by_api: bool) -> None:
        """Another program with the same token, or somebody in the service's own pages."""
        if by_api:
            body = {"keyword": f"ice {uuid4()}", "network": "youtube"}
            self.stage.direct.post("/ideas/discover", json=body)
            self.note_taken_credits(None)
        else:
            path = f"accounts/{self.stage.account_id}/spend"
            if self.stage.control.post(path, json={"credits": credits}).is_success:
                self.outside += credits
        self.count_action("debits of others")

    # What workers and the beat do

    @precondition(lambda self: self.bells)
    @rule(at=PLACE, fault=FAULT, dies=st.sampled_from(AT_WORK), twice=st.booleans())
    def run_worker(self, at: int, fault: str, dies: str, twice: bool) -> None:
        """A worker hears a doorbell; nobody takes it off the queue when the worker dies."""
        number = at % len(self.bells)
        id = self.bells[number] if twice else self.bells.pop(number)
        self.set_fault(fault, Charge.objects.get(pk=id).operation)
        self.deliver_task(tasks.dispatch_charge_task, id, dies)
        self.clear_faults()
        self.count_action("sendings")

    @rule(dies=st.sampled_from(AT_BEAT), away=st.booleans(), lost=st.booleans())
    def run_beat(self, dies: str, away: bool, lost: bool) -> None:
        """What is due and no doorbell served; all of them may have been lost with the queue."""
        if lost:
            self.bells.clear()
        self.sandbox.away = away and dies == ""
        for id, state in due_work.lease_due_charges():
            task = (
                tasks.dispatch_charge_task
                if state == ChargeState.HELD
                else tasks.reconcile_charge_task
            )
            self.deliver_task(task, id, dies)
        for change in TopUpChange.objects.due(self.sandbox.now()).values_list("pk", flat=True):
            top_up.process_change(change)
        self.sandbox.away = False
        self.note_taken_credits(None)

    @rule(seconds=st.sampled_from(SECONDS), away=st.sampled_from([False, False, True]))
    def poll_jobs(self, seconds: int, away: bool) -> None:
        self.sandbox.clock.advance(seconds)
        self.sandbox.away = away
        for lease in due_work.lease_due_jobs():
            poll_job(lease.job_id, lease.until)
        self.sandbox.away = False

    @rule(kind=st.sampled_from(["faceless", "text-to-video"]))
    def fail_next(self, kind: str) -> None:
        words = {"kind": kind, "statuses": ["rendering", "failed"]}
        assert self.stage.control.post("outcomes", json=words).is_success

    # How it is done, and what is known of it

    def job_at(self, at: int) -> Job:
        found = self.jobs[at % len(self.jobs)]
        found.refresh_from_db()
        return found

    def set_fault(self, fault: str, operation: str) -> None:
        self.sandbox.away = fault == "away"
        if rule := FAULTS.get(fault):
            self.stage.set_fault(path_pattern(operation), **rule)

    def clear_faults(self) -> None:
        self.sandbox.away = False
        self.stage.control.delete("faults")

    def deliver_task(self, task: Callable[[str], None], id: UUID, dies: str) -> None:
        with self.sandbox.dying_at(dies):
            task(str(id))
            dies = ""
        if dies:
            self.count_action("deaths")
        self.note_taken_credits(id)

    def note_taken_credits(self, id: UUID | None) -> None:
        """Whatever the sandbox took since the last time, it took for this charge, or for others."""
        everything = self.taken_by_the_sandbox()
        for credits in everything[self.known :]:
            if id is None:
                self.outside += credits
            else:
                self.taken.setdefault(id, []).append(credits)
        self.known = len(everything)

    def taken_by_the_sandbox(self) -> list[Decimal]:
        account = self.stage.account_id
        return [
            Decimal(charge.credits)
            for charge in self.sandbox.world.charges
            if charge.account_id == account
        ]

    def money(self) -> dict[str, Any]:
        account = self.sandbox.world.accounts.get(self.stage.account_id)
        assert account is not None
        return audit.audit_account(self.sandbox.world, account)

    def count_action(self, what: str) -> None:
        self.told[what] = self.told.get(what, 0) + 1

    # What holds after every step

    @precondition(lambda self: hasattr(self, "stage"))
    @invariant()
    def no_charge_took_credits_twice(self) -> None:
        charges = Charge.objects.only("operation", "state", "cost").in_bulk()
        for id, taken in self.taken.items():
            charge = charges[id]
            told = f"{charge.operation} {charge.state} {charge.cost}, the sandbox took {taken}"
            assert len(taken) <= 1, told
            if charge.state in FINAL_STATES:
                cost = charge.cost if charge.state in CHARGED_STATES else 0
                assert cost == sum(taken), told
        free = [
            charge
            for id, charge in charges.items()
            if charge.state in CHARGED_STATES and charge.cost and id not in self.taken
        ]
        assert not free, "it took nothing"

    @precondition(lambda self: hasattr(self, "stage"))
    @invariant()
    def ledgers_agree(self) -> None:
        """Where nothing moved on either side, they balance as they did."""
        self.count_action("steps")
        if self.ledger_state() == self.weighed:
            return
        self.count_action("looks at the books")
        with self.sandbox.frozen():
            # Weighing reads the end of the ledger first, so mirroring need not.
            assert ledger.take_checkpoint(self.account, Priority.PERSON), "the balance was not read"
            whole = ledger.mirror_entries(self.account, Priority.PERSON, 5, newest=False)
            assert whole, "the mirror is not whole"
            theirs, ours = self.money(), build_reconciliation(self.account)
        assert theirs["balanced"], theirs
        sums = (ours.opening_balance, ours.entries_sum, ours.balance_exact, ours.difference)
        wanted = (theirs["opening"], theirs["ledger_sum"], theirs["balance"], 0)
        assert sums == wanted, f"{sums}, the sandbox has {wanted}"
        assert ours.unexplained == 0, f"{ours.unexplained} cr of settled charges without a debit"
        outside = self.outside + self.undecided()
        assert ours.outside == outside, f"{ours.outside} cr are outside, not {outside}"
        charges = Charge.objects.filter(entries__amount__lt=0).distinct().count()
        debits = LedgerEntry.objects.filter(amount__lt=0, charge__isnull=False).count()
        assert charges == debits, f"{debits} debits for {charges} charges"
        self.weighed = self.ledger_state()

    def ledger_state(self) -> tuple[object, ...]:
        """What the books are made of, theirs and ours. Some things come late: here and there the
        minute, too, and at the end of every life."""
        charges = Charge.objects.order_by("pk").values_list("pk", "state", "cost")
        entries = LedgerEntry.objects.order_by("pk").values_list("pk", "amount", "charge")
        world, account = self.sandbox.world, self.stage.account_id
        balance = world.accounts.rows[account].balance
        rows = [(row.id, row.credits) for row in world.ledgers[account]]
        minute = int(self.sandbox.clock.now() // 60) if self.by_minutes else 0
        return (*charges, *entries, *rows, balance, minute)

    def undecided(self) -> Decimal:
        """What was taken for charges that we do not know the outcome of yet."""
        open_ones = Charge.objects.exclude(state__in=FINAL_STATES).values_list("pk", flat=True)
        taken = (credits for id in open_ones for credits in self.taken.get(id, ()))
        return sum(taken, Decimal(0))

    def teardown(self) -> None:
        if not hasattr(self, "stage"):
            return
        try:
            self.settle_everything()
        finally:
            self.exits.close()

    def settle_everything(self) -> None:
        """Twenty minutes of fair weather: what is not settled then waits for a person."""
        for seconds in REST:
            if not Charge.objects.holding().exists():
                break
            self.sandbox.clock.advance(seconds)
            self.run_beat("", False, True)
        self.weighed = ()
        self.ledgers_agree()
        self.no_charge_took_credits_twice()
        for charge in Charge.objects.holding():
            assert charge.state == ChargeState.UNKNOWN, f"{charge.operation} is {charge.state}"
            self.count_action("left to a person")
        for state in Charge.objects.values_list("state", flat=True):
            self.count_action(state)
