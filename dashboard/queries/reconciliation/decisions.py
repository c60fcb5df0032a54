"""The questions before a person decides: each names the amount that hangs on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from dashboard.queries.overview.credits import ledger_of
from dashboard.queries.reconciliation.differences import whose
from dashboard.queries.reconciliation.page import versions
from dashboard.queries.reconciliation.statement import statement_of
from dashboard.templatetags.reelroom import clock, credits, day
from proxyapi.ledger import OpenConflicts, count_open_conflicts
from proxyapi.models import Account, Charge, LedgerConflict, LedgerEntry, LedgerMirror

BEFORE, AFTER = timedelta(minutes=5), timedelta(days=2)  # around the sending
MOST = 12


@dataclass(frozen=True, slots=True)
class Question:
    """`title` asks, `note` says what it is about, `text` what follows. `seen` is sent along: how
    it is recognised by."""

    title: str
    note: str
    text: str
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A debit that may be the charge's. `fits`: of exactly the price that was shown."""

    position: int
    amount: Decimal
    label: str
    when: datetime
    fits: bool

    @property
    def seen(self) -> str:
        """As the form sends it back: another row may stand at its position by then."""
        return f"{self.position} {self.amount}"


@dataclass(frozen=True, slots=True)
class Matching:
    question: Question
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Anchoring:
    """Credits, signed; `becomes`: the opening balance after it."""

    question: Question
    difference: Decimal
    opening: Decimal
    becomes: Decimal
    entries: Decimal
    balance: Decimal

    @property
    def seen(self) -> str:
        """As the form sends it back, so that nothing else is let go."""
        return str(self.difference)


def writing_off(charge: Charge) -> Question:
    amount = credits(charge.price)
    return Question(
        f"Write off {amount} cr?",
        about(charge),
        f"It stays open whether {amount} cr were spent. The {credits(charge.hold)} cr held are "
        "free again, and nothing is sent again. Should the service have booked it, the entry "
        "stands in the ledger as spent outside the portal.",
    )


def matching(charge: Charge) -> Matching:
    """Debits without a charge from around the sending, the likeliest first. One query."""
    price, sent = charge.price, charge.sent_at or charge.created_at
    rows = (
        LedgerEntry.objects.without_charge()
        .filter(
            account=charge.account_id,
            amount__lt=0,
            happened_at__gte=sent - BEFORE,
            happened_at__lte=sent + AFTER,
        )
        .order_by("happened_at", "position")[: 10 * MOST]
    )
    nearest = sorted(rows, key=lambda row: (abs(-row.amount - price), row.happened_at))[:MOST]
    return Matching(
        Question(
            "Which entry is it?",
            about(charge),
            f"It was quoted {credits(price)} cr. The entry that you choose becomes its debit, and "
            f"the {credits(charge.hold)} cr held are free again.",
        ),
        tuple(
            Candidate(row.position, -row.amount, row.label, row.happened_at, -row.amount == price)
            for row in nearest
        ),
    )


def rewording(rewrite: LedgerConflict) -> Question:
    before, after = versions(rewrite)
    if not after:
        return Question(
            f"Let row {rewrite.number:,} go?",
            f"It was “{before}”, and the service does not show it any more.",
            "This row and those after it leave the mirror, and are read anew. What they were "
            "matched with is looked for again.",
        )
    return Question(
        f"Take the service’s version of row {rewrite.number:,}?",
        f"It was “{before}”, it is “{after}”.",
        "The row reads like that from now on, and the ledger is read on. What it was matched with "
        "is looked for again.",
    )


def rewording_all(account: Account) -> Question:
    """Two queries at most."""
    rows = count_open_conflicts(account)
    if not rows.fingerprint:
        return Question("Nothing is left to take", "Somebody has looked at the rows.", "")
    return Question(
        "Take the service’s version of all rows?",
        f"{differing(rows)} A row that was taken out of the middle, for example, moves all behind "
        "it.",
        "The ledger is read on from there; a page that differs as well stops it again. What the "
        "rows were matched with is looked for again.",
        seen=rows.fingerprint,
    )


def differing(rows: OpenConflicts) -> str:
    return in_words(
        rows, "read differently now", "the service does not show any more leave the mirror"
    )


def taken_over(rows: OpenConflicts) -> str:
    return in_words(rows, "read as the service shows them", "left the mirror")


def in_words(rows: OpenConflicts, reworded: str, gone: str) -> str:
    both = ((rows.changed_rows, reworded), (rows.missing_rows, gone))
    return " ".join(f"{counted(number)} {what}." for number, what in both if number)


def counted(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows:,} rows"


def anchoring(account: Account) -> Anchoring:
    """What the opening balance is and becomes. Two queries."""
    ledger = ledger_of(account) or LedgerMirror(account=account)
    now = statement_of(account, ledger)
    gap, opening = now.difference, now.opening or Decimal(0)
    return Anchoring(
        Question(
            f"Let {credits(abs(gap))} cr go unexplained?"
            if gap
            else "There is no difference to let go",
            f"The balance {'rose' if gap > 0 else 'fell'} by {credits(abs(gap))} cr more than the "
            f"ledger says, since {day(ledger.anchor_at)}."
            if gap
            else "Opening balance and entries make the balance.",
            "The opening balance is set anew, so that it and the entries make the balance again. "
            "Nothing changes at the service. The difference stays written down here, with your "
            "name, the time and why.",
        ),
        difference=gap,
        opening=opening,
        becomes=opening + gap,
        entries=(now.adds_up_to or Decimal(0)) - opening,
        balance=now.shown or Decimal(0),
    )


def about(charge: Charge) -> str:
    return f"{whose(charge)}, sent {clock(charge.sent_at or charge.created_at)}."
