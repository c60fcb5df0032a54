"""The questions before a person decides: each names the amount that hangs on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from dashboard.reconciliation.queries.differences import charge_title
from dashboard.reconciliation.queries.page import conflict_versions, load_balance_statement
from dashboard.shared.formatting import clock, credits, day
from dashboard.shared.ledger_agreement import ledger_or_none
from proxyapi.ledger import OpenConflicts, count_open_conflicts
from proxyapi.models import Account, Charge, LedgerConflict, LedgerEntry, LedgerMirror

MATCH_WINDOW_BEFORE, MATCH_WINDOW_AFTER = (
    timedelta(minutes=5),
    timedelta(days=2),
)  # around the sending
MAX_MATCH_CANDIDATES = 12


@dataclass(frozen=True, slots=True)
class ReconciliationQuestion:
    """`title` asks, `note` says what it is about, `text` what follows. `seen` is sent along: how
    it is recognised by."""

    title: str
    note: str
    text: str
    seen: str = ""


@dataclass(frozen=True, slots=True)
class DebitCandidate:
    """A debit that may be the charge's. `fits`: of exactly the price that was shown."""

    position: int
    amount: Decimal
    label: str
    when: datetime
    is_exact: bool

    @property
    def seen(self) -> str:
        """As the form sends it back: another row may stand at its position by then."""
        return f"{self.position} {self.amount}"


@dataclass(frozen=True, slots=True)
class MatchDialog:
    question: ReconciliationQuestion
    candidates: tuple[DebitCandidate, ...]


@dataclass(frozen=True, slots=True)
class RebaseDialog:
    """Credits, signed; `becomes`: the opening balance after it."""

    question: ReconciliationQuestion
    difference: Decimal
    opening: Decimal
    new_opening: Decimal
    entries: Decimal
    balance: Decimal

    @property
    def seen(self) -> str:
        """As the form sends it back, so that nothing else is let go."""
        return str(self.difference)


def build_write_off_question(charge: Charge) -> ReconciliationQuestion:
    amount = credits(charge.price)
    return ReconciliationQuestion(
        f"Write off {amount} cr?",
        charge_sent_text(charge),
        f"Whether {amount} cr were spent remains unknown. The {credits(charge.hold)} cr held are "
        "released, and nothing is sent again. If the service did charge it, the ledger entry "
        "counts as spent outside the portal.",
    )


def build_match_dialog(charge: Charge) -> MatchDialog:
    """Debits without a charge from around the sending, the likeliest first. One query."""
    price, sent = charge.price, charge.sent_at or charge.created_at
    rows = (
        LedgerEntry.objects.without_charge()
        .filter(
            account=charge.account_id,
            amount__lt=0,
            happened_at__gte=sent - MATCH_WINDOW_BEFORE,
            happened_at__lte=sent + MATCH_WINDOW_AFTER,
        )
        .order_by("happened_at", "position")[: 10 * MAX_MATCH_CANDIDATES]
    )
    nearest = sorted(rows, key=lambda row: (abs(-row.amount - price), row.happened_at))[
        :MAX_MATCH_CANDIDATES
    ]
    return MatchDialog(
        ReconciliationQuestion(
            "Match a ledger entry",
            charge_sent_text(charge),
            f"The quote was {credits(price)} cr. The entry you choose becomes the debit of this "
            f"charge, and the {credits(charge.hold)} cr held are released.",
        ),
        tuple(
            DebitCandidate(
                row.position, -row.amount, row.label, row.happened_at, -row.amount == price
            )
            for row in nearest
        ),
    )


def build_conflict_question(rewrite: LedgerConflict) -> ReconciliationQuestion:
    before, after = conflict_versions(rewrite)
    if not after:
        return ReconciliationQuestion(
            f"Remove row {rewrite.number:,}?",
            f"It was “{before}”. The service no longer shows it.",
            "This row and all later rows are removed from our copy and read again. Their matches "
            "are searched for again.",
        )
    return ReconciliationQuestion(
        f"Accept the service’s version of row {rewrite.number:,}?",
        f"Before: “{before}”. Now: “{after}”.",
        "Our copy of the row is replaced, and the ledger is updated again. Its match is searched "
        "for again.",
    )


def build_all_conflicts_question(account: Account) -> ReconciliationQuestion:
    """Two queries at most."""
    rows = count_open_conflicts(account)
    if not rows.fingerprint:
        return ReconciliationQuestion(
            "Nothing left to accept", "Someone else has reviewed the rows.", ""
        )
    return ReconciliationQuestion(
        "Accept the service’s version of all rows?",
        f"{open_conflicts_text(rows)} If a row was removed, for example, all later rows move.",
        "The ledger is then updated again; another page that differs stops it again. The matches "
        "of the rows are searched for again.",
        seen=rows.fingerprint,
    )


def open_conflicts_text(rows: OpenConflicts) -> str:
    return conflict_counts_text(
        rows, "changed", "no longer shown by the service are removed from our copy"
    )


def accepted_conflicts_text(rows: OpenConflicts) -> str:
    return conflict_counts_text(
        rows, "replaced with the service’s version", "removed from our copy"
    )


def conflict_counts_text(rows: OpenConflicts, reworded: str, gone: str) -> str:
    both = ((rows.changed_rows, reworded), (rows.missing_rows, gone))
    return " ".join(f"{row_count_text(number)} {what}." for number, what in both if number)


def row_count_text(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows:,} rows"


def build_rebase_dialog(account: Account) -> RebaseDialog:
    """What the opening balance is and becomes. Two queries."""
    ledger = ledger_or_none(account) or LedgerMirror(account=account)
    now = load_balance_statement(account, ledger)
    gap, opening = now.difference, now.opening or Decimal(0)
    return RebaseDialog(
        ReconciliationQuestion(
            f"Accept a difference of {credits(abs(gap))} cr?"
            if gap
            else "There is no difference to accept",
            f"The balance {'rose' if gap > 0 else 'fell'} by {credits(abs(gap))} cr more than the "
            f"ledger shows, since {day(ledger.anchor_at)}."
            if gap
            else "Opening balance and entries add up to the balance.",
            "The opening balance is reset, so that it and the entries add up to the balance "
            "again. Nothing changes at the service. The difference stays on record with your "
            "name, the time and the reason.",
        ),
        difference=gap,
        opening=opening,
        new_opening=opening + gap,
        entries=(now.computed_balance or Decimal(0)) - opening,
        balance=now.reported_balance or Decimal(0),
    )


def charge_sent_text(charge: Charge) -> str:
    return f"{charge_title(charge)}, sent {clock(charge.sent_at or charge.created_at)}."
