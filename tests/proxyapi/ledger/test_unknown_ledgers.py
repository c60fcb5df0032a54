"""Whatever rows, balances and purses a ledger shows: no exception, no charge booked or refunded
twice, no match of ledger and balance that the service's own rows do not confirm, and every credit
is explained or counted as received.

What is right, is added up here from what the scripted service holds, not from what was mirrored.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import httpx
from django.db import transaction
from django.db.models import Count, QuerySet, Sum
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as some

from dashboard.reconciliation.queries.page import load_balance_statement
from dashboard.shared.ledger_agreement import check_ledger_agreement
from proxyapi import ledger
from proxyapi.ledger.conflicts import count_open_conflicts
from proxyapi.models import Account, Charge, LedgerEntry, LedgerMirror
from proxyapi.upstream import errors
from tests.examples import WITHOUT_SHRINKING, examples
from tests.external_state import empty_external_state
from tests.factories import UserFactory
from tests.proxyapi.ledger.conftest import MakeConfirmedCharge, ScriptedLedger, ledger_row
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response

FUZZ = settings(
    max_examples=examples(3, 100),
    phases=WITHOUT_SHRINKING,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
AMOUNTS = some.sampled_from(["4", "13", "30", "13.5", "0.68", "1000"])
TEXTS = some.sampled_from(
    [None, "", 7, "Debit", "Credit", "Refund", "AUTO TOP-UP", "Gutschrift", "x" * 4096]
) | some.sampled_from(
    ["Credits refunded to user", "Release of monthly credits", "Prorated Credits", "Video"]
)
WORDS = some.fixed_dictionaries(
    {}, optional={"label": TEXTS, "content_type": TEXTS, "transaction_type": TEXTS, "more": TEXTS}
)
# What a service without fixed shapes may do between two readings.
STEPS = some.one_of(
    some.tuples(some.just("row"), some.sampled_from(["-", "+", ""]), AMOUNTS, WORDS),
    some.tuples(some.sampled_from(["script", "failed clip"]), AMOUNTS),
    some.tuples(some.just("late row"), AMOUNTS, some.integers(0, 9)),
    some.tuples(some.just("changed row"), AMOUNTS, some.integers(0, 9)),
    some.tuples(some.just("other order of a second")),
    some.tuples(some.just("lost row"), some.integers(0, 9)),
    some.tuples(some.just("balance alone"), some.sampled_from([-941, 120, 1])),
    some.tuples(some.just("purse"), some.sampled_from([None, "NaN", [], -5, 10**13, {"a": 1}])),
    some.tuples(some.just("accepted by a person")),
)


class UnknownService:
    """The scripted ledger and the portal's charges, changed a step at a time."""

    def __init__(self, book: ScriptedLedger, account: Account, charge: Any, owed: Any) -> None:
        self.book, self.account, self.charge, self.owed = book, account, charge, owed
        self.remaining: list[Any] = []  # what /me says once instead of the balance
        book.rows, book.web, book.pages, book.balance = [], set(), [], Decimal(10_000)

    @property
    def minute(self) -> int:
        return len(self.book.rows) // 3  # three rows have the same time

    def add(self, amount: str, at: int | None = None, **words: Any) -> None:
        row = ledger_row(amount, self.minute, **words)
        self.book.rows.insert(len(self.book.rows) if at is None else at, row)
        self.book.balance += Decimal(amount)

    def take(self, name: str, *values: Any) -> None:
        rows = self.book.rows
        if name == "row":
            sign, amount, words = values
            self.add(sign + amount, **words)
        elif name in ("script", "failed clip"):
            (self.charge if name == "script" else self.owed)(values[0], self.minute)
            self.add(f"-{values[0]}")
        elif name == "late row":
            self.add(f"-{values[0]}", max(0, len(rows) - values[1]))
        elif name == "balance alone":
            self.book.balance += values[0]
        elif name == "purse":
            self.remaining = [values[0]]
        elif name == "accepted by a person":
            mark = count_open_conflicts(self.account).fingerprint
            ledger.accept_all_upstream_versions(self.account, UserFactory().pk, mark)
        elif rows and name == "other order of a second":
            times = [row["created_at"] for row in rows]
            rows.sort(key=lambda row: (times.index(row["created_at"]), str(row["credit_spend"])))
        elif rows:
            at = max(0, len(rows) - 1 - values[-1])
            removed = rows.pop(at)
            if name == "changed row":
                rows.insert(at, {**removed, "credit_spend": f"-{values[0]}"})

    def me_response(self, request: httpx.Request) -> httpx.Response:
        """Once a strange purse, then the balance again."""
        shown = self.remaining.pop() if self.remaining else str(self.book.balance)
        credits = {"remaining": shown, "extra": 250, "total": shown}
        return make_response({"id": 7, "credits": credits if self.book.rows else None})

    def read(self) -> bool:
        """Read as a worker does; whether the balance was compared at the end of the ledger."""
        try:
            ledger.mirror_entries(self.account)
            return ledger.take_checkpoint(self.account)
        except errors.UpstreamError:
            return False

    def check(self, is_compared: bool) -> None:
        account = Account.objects.select_related("ledger").get(pk=self.account.pk)
        mirror = LedgerMirror.objects.filter(pk=account.pk).first()
        agreement = check_ledger_agreement([account])
        if mirror and is_compared and agreement and agreement.state == "good":
            shown = [Decimal(row["credit_spend"]) for row in self.book.rows]
            known = list(entries_of(account).values_list("amount", flat=True))
            assert sorted(known) == sorted(shown), agreement.sentence
            assert mirror.anchor_balance is not None
            before = sum(known[: mirror.anchor_high])  # rows of one second have no fixed order
            own = mirror.anchor_balance + sum(shown) - before
            assert own == self.book.balance, agreement.sentence
        check_each_row_is_counted_once(account, mirror or LedgerMirror(account=account))


def entries_of(account: Account) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(account=account).order_by("position")


def check_each_row_is_counted_once(account: Account, mirror: LedgerMirror) -> None:
    entries = entries_of(account)
    debits = entries.filter(amount__lt=0, charge__isnull=False)
    per_charge = debits.order_by().values("charge").annotate(rows=Count("pk"))
    assert all(found["rows"] == 1 for found in per_charge)
    refunds = entries.filter(amount__gt=0, charge__isnull=False)
    for found in refunds.order_by().values("charge").annotate(sum=Sum("amount")):
        charge = Charge.objects.get(pk=found["charge"])
        booked = debits.filter(charge=charge).first()
        assert found["sum"] <= max(charge.cost or 0, -booked.amount if booked else 0)
    assert not refunds.filter(reason="").exists(), "each match says why"
    statement = load_balance_statement(account, mirror)
    received = sum(entries.filter(amount__gt=0).values_list("amount", flat=True))
    assert statement.received + statement.refunded == received
    assert statement.spent == -sum(entries.filter(amount__lt=0).values_list("amount", flat=True))


@FUZZ
@given(readings=some.lists(some.lists(STEPS, min_size=1, max_size=4), min_size=2, max_size=3))
def test_no_ledger_breaks_the_reading_or_is_called_a_match_that_it_is_not(
    account: Account,
    scripted_ledger: ScriptedLedger,
    make_confirmed_charge: MakeConfirmedCharge,
    make_owed_clip: MakeConfirmedCharge,
    upstream: ScriptedUpstream,
    readings: list[list[tuple[Any, ...]]],
) -> None:
    with transaction.atomic():
        empty_external_state()
        service = UnknownService(scripted_ledger, account, make_confirmed_charge, make_owed_clip)
        upstream.respond("GET", "/me", service.me_response)
        note(f"{readings}")
        for steps in readings:  # a reading takes some eighty queries
            for step in steps:
                service.take(*step)
            service.check(service.read())
        transaction.set_rollback(True)
