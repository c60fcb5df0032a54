"""The mirror: an account's ledger as rows of ours, the newest first, each at its position (law 4).

First contact asks one page for the number of rows, reads the last pages and then fills up
downward; later the page of the last known row is read again, compared, and read on from there.
Pages are asked for in ascending order only, so rows that arrive meanwhile shift nothing.
"""

from __future__ import annotations

from proxyapi.allowance import Lane
from proxyapi.ledger import segment
from proxyapi.ledger.page import PER_PAGE, Reader, reader
from proxyapi.models import Account, Ledger


def mirror(account: Account, lane: Lane = Lane.MIRRORING, patience: float = 0) -> bool:
    """Read what can be read now. True: the end was reached, and nothing older is missing.

    Raises `AllowanceExhausted` or `UpstreamError`; what was read before is kept. Without a token
    that opens the account, or while a rewritten row waits for a person, nothing is read.
    """
    source = reader(account, lane, patience)
    if source is None:
        return False
    ledger = catch_up(source)
    if not ledger.problem:
        ledger = fill(source)
    return ledger.is_whole and not ledger.problem


def catch_up(source: Reader) -> Ledger:
    """Read on to the ledger's end; of an unknown ledger, its last page."""
    ledger = segment.of(source.account)
    if ledger.problem:
        return ledger
    if ledger.high == 0:
        first = source.page(1)
        if first.total > PER_PAGE:
            first = source.page_at(first.total - 1)
        ledger, total = segment.lay(source.account, first), first.total
    else:
        page = source.page_at(ledger.high - 1)
        ledger, total = segment.lay(source.account, page), page.total
    while ledger.high < total and not ledger.problem:
        page, before = source.page_at(ledger.high), ledger.high
        ledger, total = segment.lay(source.account, page), page.total
        if ledger.high == before:
            break  # nothing came where something was announced; the next round asks again
    return ledger


def fill(source: Reader) -> Ledger:
    """Read downward until nothing older is missing."""
    ledger = segment.of(source.account)
    while ledger.low > 0 and not ledger.problem:
        page, before = source.page_at(ledger.low - 1), ledger.low
        ledger = segment.lay(source.account, page)
        if ledger.low == before:
            break
    return ledger
