"""What a reader must know about a ledger that is not whole, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.ledger.queries.scope import LedgerScope
from proxyapi.models import Account, LedgerMirror

RECOUNTING_TEXT = (
    "We are recalculating daily totals for {}. Some totals still use the previous time zone. "
    "This finishes automatically."
)

SHARED_ACCOUNT_TEXT = (
    "What it spends is marked in the list below. The sums count it as outside the portal."
)


@dataclass(frozen=True, slots=True)
class LedgerNotice:
    state: str
    title: str
    text: str


def build_ledger_notices(scope: LedgerScope) -> tuple[LedgerNotice, ...]:
    """Of the accounts that are asked for, and of a search; no query."""
    asked = [one for one in scope.accounts if one.pk in scope.ids]
    told = [banner for one in asked for banner in iter_account_notices(one)]
    if scope.first_day and scope.is_recounting:
        told.append(
            LedgerNotice(
                "info", "The days are being counted anew.", RECOUNTING_TEXT.format(scope.zone.key)
            )
        )
    gaps = scope.found.gaps if scope.found else ()
    return (*told, *(LedgerNotice("info", gap.text, gap.remedy) for gap in gaps))


def iter_account_notices(account: Account) -> Iterator[LedgerNotice]:
    ledger, name = getattr(account, "ledger", None), account.name or account.email
    if ledger is None or (ledger.high == 0 and ledger.read_at is None):
        text = "Its entries appear here by themselves, the newest first."
        yield LedgerNotice("waiting", f"The ledger of {name} has not been read yet.", text)
        return
    if ledger.problem:
        yield LedgerNotice("late", f"The ledger of {name} is not read on.", ledger.problem)
    if getattr(account, "is_shared", False):
        yield LedgerNotice(
            "info", f"Another team of this portal has used {name}, too.", SHARED_ACCOUNT_TEXT
        )
    if not ledger.is_complete:
        yield LedgerNotice(
            "info", f"The ledger of {name} is still being read.", mirror_progress_text(ledger)
        )


def mirror_progress_text(ledger: LedgerMirror) -> str:
    have, total = ledger.high - ledger.low, max(ledger.total, ledger.high)
    told = f"{have:,} of {total:,} entries are here." if ledger.total else f"{have:,} are here."
    return f"{told} Older ones follow by themselves; sums of their days grow until then."
