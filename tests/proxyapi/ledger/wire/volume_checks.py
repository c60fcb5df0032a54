"""What the mirror is held to, at any size: a little in `make test`, the whole in `make drill`."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from random import Random

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Q
from django.test import override_settings
from django.utils import timezone

from proxyapi import ledger
from proxyapi.charges import ChargeIntent, dispatch_charge
from proxyapi.ledger import recheck_old_pages
from proxyapi.ledger.page_reader import LEDGER_PAGE_SIZE
from proxyapi.models import Charge, ChargeState, Job, LedgerEntry, LedgerMirror
from proxyapi.models.charge import CHARGED_STATES
from tests.admission import admit_charge
from tests.proxyapi.ledger.wire.sandbox_service import (
    TWIN,
    SandboxService,
    Words,
    mirrored_texts,
    unmatched_debits,
)

SCRIPT = {"topic": "ice", "duration": 30}


@dataclass(frozen=True)
class MirrorVolume:
    """What mirroring so many rows took, and what is there afterwards."""

    requests: int  # for the whole ledger
    of_api: int  # for the view `source=api`
    readings: int  # for both, by the service's journal
    again: int  # requests of a re-run
    twins: int
    missing: Counter[Words]
    added: Counter[Words]


def measure_volume(service: SandboxService, rows: int, twins: int, chance: Random) -> MirrorVolume:
    """Mirror a long ledger at once, then once more; a part of it is equal to the last letter."""
    amounts = [-chance.choice((1, 2, 3, 4, 15, 96)) for _ in range(rows - twins)]
    at = chance.randrange(len(amounts))
    service.insert_rows(*amounts[:at], *[TWIN] * twins, *amounts[at:])
    service.forget_requests()
    assert ledger.mirror_entries(service.account)
    requests, readings = len(service.full_ledger_pages()), service.count_ledger_reads()
    of_api = len(service.asked) - requests
    service.asked.clear()
    assert ledger.mirror_entries(service.account)
    there, here = service.row_texts(), mirrored_texts(service.account)
    return MirrorVolume(
        requests,
        of_api,
        readings,
        len(service.asked),
        LedgerEntry.objects.filter(account=service.account, amount=TWIN).count(),
        there - here,
        here - there,
    )


@dataclass(frozen=True)
class RewriteDetection:
    """A row that the service rewrote, and what it took to notice it."""

    number: int  # as people count
    problem: str  # what is told of it; empty: it was not noticed
    requests: int  # by the service's journal
    simulated: timedelta

    @property
    def is_detected(self) -> bool:
        return f"Row {self.number} of the service's ledger has changed" in self.problem


def detect_by_recheck(
    service: SandboxService, at: int, monkeypatch: pytest.MonkeyPatch
) -> RewriteDetection:
    """Rewrite that row of a mirrored ledger; then a reading every ten minutes, by a simulated
    clock, until the patrol came round once."""
    began = now = timezone.now()
    rewrite_row(service, at)
    ledger_of = LedgerMirror.objects.filter(pk=service.account.pk)
    with monkeypatch.context() as patch:
        patch.setattr(timezone, "now", lambda: now)
        for _ in range(ledger_of.get().high // LEDGER_PAGE_SIZE + 1):
            now += recheck_old_pages.RECHECK_INTERVAL
            if not ledger.mirror_entries(service.account):
                break
    return RewriteDetection(
        at + 1, ledger_of.get().problem, service.count_ledger_reads(), now - began
    )


def detect_by_request(service: SandboxService, at: int) -> RewriteDetection:
    """The same, but by a person who asks for it."""
    rewrite_row(service, at)
    out = StringIO()
    with suppress(CommandError):
        call_command("verify_ledger", "--reread", stdout=out)
    return RewriteDetection(at + 1, out.getvalue(), service.count_ledger_reads(), timedelta(0))


def rewrite_row(service: SandboxService, at: int) -> None:
    """It takes one credit more now."""
    service.change_entries(lambda entries: entries[at].update(credits=entries[at]["credits"] - 1))
    service.forget_requests()


def mirror_while_inserting(
    service: SandboxService, rows: int, new: int
) -> tuple[Counter[Words], Counter[Words]]:
    """Mirror while rows arrive all the time; what is missing and what is too much afterwards."""
    service.insert_rows(*[-4] * rows)

    def spend() -> None:
        for _ in range(new):
            service.spend_outside(1)

    spender = threading.Thread(target=spend)
    spender.start()
    while spender.is_alive():
        ledger.mirror_entries(service.account)
    spender.join()
    assert ledger.mirror_entries(service.account)
    there, here = service.row_texts(), mirrored_texts(service.account)
    return there - here, here - there


@dataclass(frozen=True)
class SpenderResult:
    """What the portal made of its own charges among those of others."""

    theirs: int
    outside: int
    outside_sum: Decimal
    theirs_sum: Decimal
    taken: int  # of their debits, taken for a charge's
    unmatched: int  # of our charges
    twice: int  # charges with more than one debit


def run_spenders(
    service: SandboxService, job: Job, theirs: int, ours: int, chance: Random
) -> SpenderResult:
    """Others spend with the same token and elsewhere, in between and for the same prices."""
    turns = ["theirs"] * theirs + ["ours"] * ours
    chance.shuffle(turns)
    mine: dict[int, Charge] = {}
    for position, turn in enumerate(turns):
        if turn == "ours":
            mine[position] = charge_job(job)
        else:
            chance.choice(
                (
                    service.spend_by_script,
                    lambda: service.search_ideas(chance),
                    lambda: web_rows(service),
                )
            )()
        if chance.random() < 0.05:
            ledger.mirror_entries(service.account)
    with override_settings(CHARGE_BOOKING_GRACE_S=0):  # as half a minute later: nothing is fresh
        ledger.mirror_entries(service.account)
    count, total = unmatched_debits(service.account)
    their_sum = sum(row["credits"] for at, row in enumerate(service.rows()) if at not in mine)
    matched = LedgerEntry.objects.filter(
        account=service.account, amount__lt=0, charge__isnull=False
    )
    charges = Charge.objects.filter(account=service.account, state__in=CHARGED_STATES)
    return SpenderResult(
        theirs, count, -total, -Decimal(their_sum), foreign_matches(service, mine),
        ours - matched.count(), matched.count() - charges.filter(own_charges()).distinct().count(),
    )  # fmt: skip


def own_charges() -> Q:
    return Q(entries__amount__lt=0)


def web_rows(service: SandboxService) -> None:
    service.spend_outside(4)


def charge_job(job: Job) -> Charge:
    intent = ChargeIntent(
        job=job, operation="faceless.scripts", nonce=uuid.uuid4(),
        hold=Decimal(4), quote=Decimal(4), body=SCRIPT,
    )  # fmt: skip
    charge = admit_charge(intent)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.CONFIRMED, charge.reason
    return charge


def foreign_matches(service: SandboxService, mine: dict[int, Charge]) -> int:
    """Charges that have a debit of others; not such as reads like their own, but for a second.

    The service's times are whole seconds: two debits of the same words in one second, or at its
    border, cannot be told from each other by anybody.
    """
    rows = LedgerEntry.objects.filter(account=service.account)
    own = {row.position: row for row in rows.filter(position__in=mine)}
    has = {row.charge_id: row for row in rows.filter(charge__isnull=False)}
    pairs = [(own[at], has[charge.pk]) for at, charge in mine.items() if charge.pk in has]
    return sum(not are_alike(one, other) for one, other in pairs)


def are_alike(one: LedgerEntry, other: LedgerEntry) -> bool:
    words = [(it.credit_spend, it.label, it.content_type, it.via_api) for it in (one, other)]
    return words[0] == words[1] and abs(one.happened_at - other.happened_at) <= timedelta(seconds=1)
