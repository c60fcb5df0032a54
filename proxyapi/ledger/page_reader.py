"""One page of the ledger, requested in ascending order: rows with their positions.

In that order a page does not change while rows are added (pitfall 63), and a row's position is its
identity. An answer that is not the requested page is unreadable and discarded. Spec: GET
/credits/history.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
LEDGER_PAGE_SIZE = 50  # rows; the maximum (spec, Limits; pitfall 64)
API_SOURCE = "api"
PERMIT_WAIT_S = 8.0  # seconds, for a page without which a later sync would begin anew


@dataclass(frozen=True, slots=True)
class PageAddress:
    """Number, from 1, and size of a page; a page of another size begins and ends elsewhere."""

    number: int
    size: int

    @property
    def start(self) -> int:
        return (self.number - 1) * self.size

    @property
    def end(self) -> int:
        return self.number * self.size


def page_at(position: int) -> PageAddress:
    return PageAddress(position // LEDGER_PAGE_SIZE + 1, LEDGER_PAGE_SIZE)


def page_from(position: int) -> PageAddress:
    """Of the pages that contain the position, the one with the most rows after it."""
    return max(pages_around(position), key=lambda page: page.end)


def page_until(position: int) -> PageAddress:
    """Of the pages that contain the row before the position, the one with the most rows before."""
    return min(pages_around(position - 1), key=lambda page: page.start)


def pages_around(position: int) -> list[PageAddress]:
    sizes = range(LEDGER_PAGE_SIZE, LEDGER_PAGE_SIZE // 2, -1)
    return [PageAddress(position // size + 1, size) for size in sizes]


@dataclass(frozen=True, slots=True)
class UpstreamLedgerPage:
    start: int  # position of its first row
    rows: tuple[UpstreamLedgerRow, ...]
    total: int  # rows of the whole view
    requested_at: datetime
    known_total: (
        int  # rows of this view known before the request; fewer in the answer are a conflict
    )
    mirrored_total: int  # mirrored rows of the whole ledger before the request

    @property
    def end(self) -> int:
        return self.start + len(self.rows)

    def second_at(self, position: int) -> str:
        """The upstream's time of the row at that position."""
        return self.rows[position - self.start].raw_values[-1]


@dataclass(frozen=True, slots=True)
class LedgerReader:
    """Reads one account's ledger with one of its tokens, at one priority.

    One token is enough: all tokens of the account read the same ledger (pitfalls 32, 66).
    """

    account: Account
    token: Token
    lane: Priority
    patience: float = 0  # seconds to wait for a permit

    def fetch_page(self, page: PageAddress, source: str = "") -> UpstreamLedgerPage:
        """Raises `UpstreamError` or `RateLimitExhausted`."""
        mirrored, api_total = known_ends(self.account)
        query: dict[str, str | int] = {"order": "ASC", "per_page": page.size, "page": page.number}
        if source:
            query["source"] = source
        requested_at = timezone.now()
        reply = calls.call_upstream(
            self.token, HISTORY_OPERATION, self.lane, patience=self.patience, query=query
        )
        rows, total = parse_page_reply(reply, page)
        known_total = api_total if source else mirrored
        return UpstreamLedgerPage(page.start, rows, total, requested_at, known_total, mirrored)

    def fetch_page_patiently(self, page: PageAddress, source: str = "") -> UpstreamLedgerPage:
        """Wait for a permit up to `PERMIT_WAIT_S`."""
        reader = replace(self, patience=max(self.patience, PERMIT_WAIT_S))
        return reader.fetch_page(page, source)

    def fetch_page_at(self, position: int, source: str = "") -> UpstreamLedgerPage:
        return self.fetch_page(page_at(position), source)


def open_ledger_reader(
    account: Account, lane: Priority, patience: float = 0
) -> LedgerReader | None:
    """A reader with a token of the account, a working one before one without a plan, which can read
    the history too. None without a token that decrypts."""
    tokens = account.tokens.usable().order_by("state_since")
    ready = sorted(tokens, key=lambda token: token.state != TokenState.WORKING)
    token = token_vault.first_decryptable(ready)
    return LedgerReader(account, token, lane, patience) if token else None


def known_ends(account: Account) -> tuple[int, int]:
    """The position after the last mirrored row, in the whole ledger and in the view source=api."""
    row = LedgerMirror.objects.filter(pk=account.pk).values_list("high", "api_high").first()
    return row or (0, 0)


def parse_page_reply(reply: Reply, page: PageAddress) -> tuple[tuple[UpstreamLedgerRow, ...], int]:
    """The rows and the total of an answer; raises `ResponseLost` if they are inconsistent."""
    data, total = reply.data, parse_row_count(reply.meta.get("total"))
    if not isinstance(data, list) or total is None or not is_requested_page(reply, page):
        raise errors.ResponseLost(get_operation(HISTORY_OPERATION))
    # A row added between the upstream's count and its read makes the page longer than the count.
    if not min(page.size, max(0, total - page.start)) <= len(data) <= page.size:
        raise errors.ResponseLost(get_operation(HISTORY_OPERATION))
    return tuple(parse_row(raw) for raw in data), max(total, page.start + len(data) if data else 0)


def parse_row_count(value: Any) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return value if fits else None


def is_requested_page(reply: Reply, page: PageAddress) -> bool:
    """Whether the answer's page number and size, if it has them, are the requested ones."""
    expected_meta = {"current_page": page.number, "per_page": page.size}
    return all(
        str(reply.meta.get(name, expected)) == str(expected)
        for name, expected in expected_meta.items()
    )
