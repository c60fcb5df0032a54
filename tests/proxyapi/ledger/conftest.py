"""A scripted ledger behind the real client: rows that a test adds, changes and takes away."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any

import httpx
import pytest

from proxyapi import calls
from proxyapi.ledger import conflicts, mirror_range, page_reader, recheck_old_pages, row_order
from proxyapi.models import Account, Charge, ChargeState, LedgerEntry, LedgerMirror
from proxyapi.rate_limiter import Permit
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response

LEDGER_START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
MakeConfirmedCharge = Callable[..., Charge]
HISTORY = ("GET", "/credits/history")


def ledger_row(amount: object = "-4", minute: float = 0, **words: Any) -> dict[str, Any]:
    """A row in the service's words, so many minutes after the ledger's start."""
    booked = LEDGER_START + timedelta(minutes=minute)
    return {
        "label": "Script generation",
        "content_type": "content-prompt",
        "credit_spend": str(amount),
        "transaction_type": "Debit" if str(amount).startswith("-") else "Credit",
        "created_at": booked.isoformat().replace("+00:00", "Z"),
        **words,
    }


@dataclass
class ScriptedLedger:
    """The service's ledger. `before_page` runs before each answer, as an insert while paging."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    web: set[int] = field(default_factory=set)  # positions of spend made outside the API
    view: list[dict[str, Any]] | None = None  # what source=api shows; None: rows not of the web
    balance: Decimal = Decimal(10_000)
    pages: list[tuple[int, str]] = field(default_factory=list)
    before_page: Callable[[], None] = lambda: None
    cut_after: int | None = None  # pages, then the line breaks
    chance: random.Random | None = None  # orders the rows of one second anew for each page

    def add_row(self, *rows: dict[str, Any], web: bool = False) -> None:
        if web:
            self.web |= set(range(len(self.rows), len(self.rows) + len(rows)))
        self.rows += rows

    def history_response(self, request: httpx.Request) -> httpx.Response:
        self.before_page()
        if self.cut_after is not None and len(self.pages) >= self.cut_after:
            raise httpx.ReadError("the wire broke")
        asked = request.url.params
        page, size, source = int(asked["page"]), int(asked["per_page"]), asked.get("source", "")
        self.pages.append((page, source))
        rows = [row for at, row in enumerate(self.rows) if not source or at not in self.web]
        rows = self.view if source and self.view is not None else rows
        if self.chance:
            seconds = [list(rows) for _, rows in groupby(rows, key=itemgetter("created_at"))]
            rows = [row for rows in seconds for row in self.chance.sample(rows, len(rows))]
        if asked.get("order", "DESC") != "ASC":
            rows = rows[::-1]
        shown = rows[size * (page - 1) : size * page]
        return make_response(shown, total=len(rows), per_page=size, current_page=page)

    def me_response(self, request: httpx.Request) -> httpx.Response:
        beside = {"total": 12_000, "extra": 250}  # what they are to it is not shown
        return make_response({"id": 7, "credits": {"remaining": str(self.balance), **beside}})

    def all_pages(self) -> list[int]:
        """The pages that were asked of the whole ledger."""
        return [page for page, source in self.pages if not source]


@pytest.fixture
def account(db: None) -> Account:
    account: Account = AccountFactory(balance=Decimal(1000))
    TokenFactory(account=account)
    return account


@pytest.fixture
def scripted_ledger(upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch) -> ScriptedLedger:
    """The ledger that the upstream shows; requests are not counted here."""
    monkeypatch.setattr(calls, "acquire_permit", lambda *_: Permit(True, 0))
    monkeypatch.setattr(mirror_range, "CONTRADICTIONS_TO_BELIEVE", 1)  # see test_wrong_pages
    book = ScriptedLedger()
    upstream.respond(*HISTORY, book.history_response)
    upstream.respond("GET", "/me", book.me_response)
    return book


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of ten rows, not of fifty: a ledger of several pages has fewer rows to be written."""
    set_page_size(monkeypatch, 10)


def set_page_size(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    for module in (page_reader, recheck_old_pages, conflicts, row_order):
        monkeypatch.setattr(module, "LEDGER_PAGE_SIZE", size)


@pytest.fixture
def make_confirmed_charge(account: Account) -> MakeConfirmedCharge:
    """A charge that was answered, so many minutes after the ledger's start."""

    def make(cost: object = 4, minute: float = 0, **fields: Any) -> Charge:
        sent_at = LEDGER_START + timedelta(minutes=minute)
        token = account.tokens.get()
        job = JobFactory(account=account, token=token, remote_id=uuid.uuid4().hex)
        given = {
            "operation": "faceless.scripts",
            "state": ChargeState.CONFIRMED,
            "cost": None if cost is None else Decimal(str(cost)),
            "sent_at": sent_at,
            "settled_at": sent_at + timedelta(seconds=3),
        }
        charge: Charge = ChargeFactory(job=job, **{**given, **fields})
        return charge

    return make


@pytest.fixture
def make_owed_clip(make_confirmed_charge: MakeConfirmedCharge) -> MakeConfirmedCharge:
    """A text-to-video that failed, and is to be given back."""

    def make(cost: object = 30, minute: float = 0) -> Charge:
        failed_at = LEDGER_START + timedelta(minutes=minute + 3)
        return make_confirmed_charge(
            cost, minute, operation="text_to_video.create", refund_owed_at=failed_at
        )

    return make


def make_lost_retry(confirmed: MakeConfirmedCharge, **fields: Any) -> Charge:
    """Sent a few seconds after a charge of the first minute; nobody knows what became of it."""
    given = {"operation": "faceless.retry", "hold": Decimal(4), "quote": Decimal(4)}
    sent_at = LEDGER_START + timedelta(seconds=66)
    lost = {"state": ChargeState.UNKNOWN, "settled_at": None, "sent_at": sent_at}
    return confirmed(None, **{**given, **lost, **fields})


def mark_read_to(account: Account, read_at: datetime) -> None:
    LedgerMirror.objects.update_or_create(account=account, defaults={"read_at": read_at, "low": 0})


def make_mirrored_row(
    account: Account, position: int, seconds: int, via_api: bool | None = True, amount: int = -4
) -> LedgerEntry:
    """A mirrored row, so many seconds after the ledger's start."""
    happened_at = LEDGER_START + timedelta(seconds=seconds)
    return LedgerEntry.objects.create(
        account=account, position=position, credit_spend=str(amount), amount=Decimal(amount),
        happened_at=happened_at, booked_at=happened_at.isoformat(), via_api=via_api,
    )  # fmt: skip


def matched_positions() -> list[tuple[int, str]]:
    """Positions that have a charge, with the confidence."""
    rows = LedgerEntry.objects.filter(charge__isnull=False).order_by("position")
    return list(rows.values_list("position", "confidence"))


def mirrored_amounts(account: Account) -> list[str]:
    """The mirrored amounts in the service's words, by position."""
    entries = LedgerEntry.objects.filter(account=account).order_by("position")
    assert [entry.position for entry in entries] == list(
        range(entries[0].position, entries[0].position + len(entries)) if entries else []
    )
    return [entry.credit_spend for entry in entries]
