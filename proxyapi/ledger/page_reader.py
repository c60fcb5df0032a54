"""One page of the ledger, asked for in ascending order: rows with their positions.

In that order a page stays what it is while rows arrive (pitfall 63), and a row's place is its
identity. A page that does not hold what was asked for is an answer that cannot be read: nothing of
it is taken. Spec: GET /credits/history.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from proxyapi import calls
from proxyapi.credentials import token_vault
from proxyapi.ledger.row_parser import UpstreamLedgerRow, parse_row
from proxyapi.models import Account, LedgerMirror, Token, TokenState
from proxyapi.operations import get_operation
from proxyapi.rate_limiter import Priority
from proxyapi.upstream import errors
from proxyapi.upstream.reply import Reply

HISTORY_OPERATION = "credits.history"
LEDGER_PAGE_SIZE = 50  # spec, Limits: the most (pitfall 64)
API_SOURCE = "api"


@dataclass(frozen=True, slots=True)
class UpstreamLedgerPage:
    start: int  # position of its first row
    rows: tuple[UpstreamLedgerRow, ...]
    total: int  # rows of the whole view
    requested_at: datetime
    known_total: (
        int  # rows of this view that were known before it was asked: no answer may say fewer
    )
    mirrored_total: int  # rows of the whole ledger that were mirrored then

    @property
    def end(self) -> int:
        return self.start + len(self.rows)


@dataclass(frozen=True, slots=True)
class LedgerReader:
    """Reads one account's ledger with one of its tokens, as one class of traffic.

    One token, however many open the account: it is one ledger (pitfalls 32, 66).
    """

    account: Account
    token: Token
    lane: Priority
    patience: float = 0  # seconds to wait for a turn

    def fetch_page(self, number: int, source: str = "") -> UpstreamLedgerPage:
        """The page of that number, from 1. Raises `UpstreamError` or `RateLimitExhausted`."""
        mirrored, of_api = known_ends(self.account)
        query: dict[str, str | int] = {"order": "ASC", "per_page": LEDGER_PAGE_SIZE, "page": number}
        if source:
            query["source"] = source
        requested_at = timezone.now()
        reply = calls.call_upstream(
            self.token, HISTORY_OPERATION, self.lane, patience=self.patience, query=query
        )
        rows, total = parse_page_reply(reply, number)
        known, start = of_api if source else mirrored, (number - 1) * LEDGER_PAGE_SIZE
        return UpstreamLedgerPage(start, rows, total, requested_at, known, mirrored)

    def fetch_page_at(self, position: int, source: str = "") -> UpstreamLedgerPage:
        return self.fetch_page(position // LEDGER_PAGE_SIZE + 1, source)


def open_ledger_reader(
    account: Account, lane: Priority, patience: float = 0
) -> LedgerReader | None:
    """A reader with a token of the account, one that works before one that waits for its plan: the
    history is open without one, too."""
    tokens = account.tokens.usable().order_by("state_since")
    ready = sorted(tokens, key=lambda token: token.state != TokenState.WORKING)
    token = token_vault.first_decryptable(ready)
    return LedgerReader(account, token, lane, patience) if token else None


def known_ends(account: Account) -> tuple[int, int]:
    """Where the mirror ends: in the whole ledger, and in the view source=api."""
    row = LedgerMirror.objects.filter(pk=account.pk).values_list("high", "api_high").first()
    return row or (0, 0)


def parse_page_reply(reply: Reply, number: int) -> tuple[tuple[UpstreamLedgerRow, ...], int]:
    """The rows and the total that an answer holds; raises `ResponseLost` where they do not fit."""
    data, total = reply.data, parse_row_count(reply.meta.get("total"))
    start = (number - 1) * LEDGER_PAGE_SIZE
    if not isinstance(data, list) or total is None or not is_requested_page(reply, number):
        raise errors.ResponseLost(get_operation(HISTORY_OPERATION))
    # A row may have come between their counting and their reading, so there may be more than told.
    if not min(LEDGER_PAGE_SIZE, max(0, total - start)) <= len(data) <= LEDGER_PAGE_SIZE:
        raise errors.ResponseLost(get_operation(HISTORY_OPERATION))
    return tuple(parse_row(raw) for raw in data), max(total, start + len(data) if data else 0)


def parse_row_count(value: Any) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return value if fits else None


def is_requested_page(reply: Reply, number: int) -> bool:
    """Whether it is the page of that number and size, as far as it tells."""
    asked = {"current_page": number, "per_page": LEDGER_PAGE_SIZE}
    return all(str(reply.meta.get(name, wanted)) == str(wanted) for name, wanted in asked.items())
