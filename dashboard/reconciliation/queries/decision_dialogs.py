"""The confirmation dialogs of the reconciliation; each names the amount it concerns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from dashboard.reconciliation.queries.differences import charge_title
from dashboard.reconciliation.queries.page import conflict_versions, load_balance_statement
from dashboard.shared.formatting import clock, credits, day
from dashboard.shared.ledger_agreement import ledger_or_none
from proxyapi.charges import find_match_obstacle
from proxyapi.ledger import OpenConflicts, count_open_conflicts
from proxyapi.models import Account, Charge, LedgerConflict, LedgerEntry, LedgerMirror

MATCH_WINDOW_BEFORE, MATCH_WINDOW_AFTER = timedelta(minutes=5), timedelta(days=2)  # of sending
MAX_MATCH_CANDIDATES = 12


@dataclass(frozen=True, slots=True)
class ReconciliationQuestion:
    """`title` is the question, `note` its subject, `text` the consequence; "" if there is nothing
    to decide. `seen` is sent with the form and identifies what was shown."""

    title: str
    note: str
    text: str
    seen: str = ""


@dataclass(frozen=True, slots=True)
class DebitCandidate:
    """A debit that may belong to the charge; `is_exact` if its amount is the price that was
    shown."""

    position: int
    amount: Decimal
    label: str
    when: datetime
    is_exact: bool

    @property
    def seen(self) -> str:
        """The value of the form field; the amount detects that another row has taken its
        position."""
        return f"{self.position} {self.amount}"


def build_write_off_question(charge: Charge) -> ReconciliationQuestion:
    amount = credits(charge.price)
    return ReconciliationQuestion(
        f"Write off {amount} cr?",
        charge_sent_text(charge),
        f"Whether {amount} cr were spent remains unknown. The {credits(charge.hold)} cr held are "
        "released, and nothing is sent again. If the service did charge it, the ledger entry "
        "counts as spent outside the portal.",
    )


def build_match_dialog(charge: Charge) -> dict[str, Any]:
    """Debits without a charge around the time of sending, the closest amount first. One query."""
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
    question = ReconciliationQuestion(
        "Match a ledger entry",
        charge_sent_text(charge),
        f"The quote was {credits(price)} cr. The entry you choose becomes the debit of this "
        f"charge, and the {credits(charge.hold)} cr held are released."
        if nearest
        else "",
    )
    candidates = [
        DebitCandidate(row.position, -row.amount, row.label, row.happened_at, -row.amount == price)
        for row in nearest
    ]
    return {"question": question, "candidates": candidates}


def build_match_removal_question(charge: Charge) -> ReconciliationQuestion:
    if obstacle := find_match_obstacle(charge):
        return ReconciliationQuestion("This match cannot be removed", obstacle, "")
    return ReconciliationQuestion(
        f"Remove the match of {credits(charge.cost)} cr?",
        charge_sent_text(charge),
        "The charge is unknown again and holds "
        f"{credits(charge.hold)} cr until a member matches another debit or writes it off. The "
        "debit counts as spent outside the portal. Nothing is sent again.",
    )


def build_conflict_question(conflict: LedgerConflict) -> ReconciliationQuestion:
    before, after = conflict_versions(conflict)
    if not after:
        return ReconciliationQuestion(
            f"Remove row {conflict.number:,}?",
            f"It was “{before}”. The service no longer shows it.",
            "This row and all later rows are removed from our copy and read again. Their matches "
            "are searched for again.",
        )
    return ReconciliationQuestion(
        f"Accept the service’s version of row {conflict.number:,}?",
        f"Before: “{before}”. Now: “{after}”.",
        "Our copy of the row is replaced, and the ledger is updated again. Its match is searched "
        "for again.",
    )


def build_all_conflicts_question(account: Account) -> ReconciliationQuestion:
    """At most two queries."""
    rows = count_open_conflicts(account)
    if not rows.fingerprint:
        return ReconciliationQuestion(
            "Nothing left to accept", "The rows were reviewed already.", ""
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


def conflict_counts_text(rows: OpenConflicts, changed_text: str, missing_text: str) -> str:
    counts_and_texts = ((rows.changed_rows, changed_text), (rows.missing_rows, missing_text))
    return " ".join(
        f"{row_count_text(number)} {text}." for number, text in counts_and_texts if number
    )


def row_count_text(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows:,} rows"


def build_rebase_dialog(account: Account) -> dict[str, Any]:
    """Amounts in signed credits; `new_opening` is the opening balance after the reset. Two
    queries."""
    ledger = ledger_or_none(account) or LedgerMirror(account=account)
    statement = load_balance_statement(account, ledger)
    difference, opening = statement.difference, statement.opening or Decimal(0)
    if not difference:
        return {
            "question": ReconciliationQuestion(
                "There is no difference to accept",
                "Opening balance and entries add up to the balance.",
                "",
            )
        }
    gap = f"{credits(abs(difference))} cr"
    question = ReconciliationQuestion(
        f"Accept a difference of {gap}?",
        f"The balance {'rose' if difference > 0 else 'fell'} by {gap} more than the ledger shows, "
        f"since {day(ledger.anchor_at)}.",
        "The opening balance is reset, so that it and the entries add up to the balance again. "
        "Nothing changes at the service. The difference stays on record with your name, the time "
        "and the reason.",
        seen=str(difference),
    )
    rebase = {
        "difference": difference,
        "opening": opening,
        "new_opening": opening + difference,
        "entries": (statement.computed_balance or Decimal(0)) - opening,
        "balance": statement.reported_balance or Decimal(0),
    }
    return {"question": question, "rebase": rebase}


def charge_sent_text(charge: Charge) -> str:
    return f"{charge_title(charge)}, sent {clock(charge.sent_at or charge.created_at)}."
