"""Compare the mirrored ledger with the balance that the service shows.

The balance is exact at the account's last checkpoint (`LedgerMirror.balance_exact`). The sum of
newer rows is read with the account and its ledger in one statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import BigIntegerField, F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Cast, Round

from dashboard.shared.formatting import clock, credits
from dashboard.shared.team_balance import all_team_accounts
from proxyapi.ledger.reconciliation import balance_difference, compute_opening_balance
from proxyapi.models import Account, DailyTotal, LedgerEntry, LedgerMirror, Tenant
from proxyapi.rollups.daily_totals import UNITS_PER_CREDIT

ZERO_CREDITS = Decimal(0)
LEDGER_STOPPED_TEXT = "The ledger is not updated until someone has reviewed what changed in it."


def annotate_newer_entries(accounts: QuerySet[Account]) -> QuerySet[Account]:
    """Select each account's ledger and annotate `newer`: the sum of the rows since its last
    checkpoint, in ten-thousandths of a credit, which is exact on SQLite too."""
    newer = LedgerEntry.objects.filter(
        account=OuterRef("pk"), position__gte=OuterRef("ledger__checkpoint_high")
    )
    units = Cast(Round(F("amount") * UNITS_PER_CREDIT), BigIntegerField())
    sums = newer.order_by().values("account").annotate(sum=Sum(units)).values("sum")
    return accounts.select_related("ledger").annotate(newer=Subquery(sums))


def ledger_end_balance(account: Account) -> Decimal:
    """Return the credits after the last mirrored row of an account of `annotate_newer_entries`; the
    last read balance if it has no checkpoint."""
    ledger = ledger_or_none(account)
    if ledger is None or ledger.balance_exact is None:
        return account.balance
    return ledger.balance_exact + Decimal(getattr(account, "newer", None) or 0) / UNITS_PER_CREDIT


@dataclass(frozen=True, slots=True)
class LedgerAgreement:
    """Whether the ledger matches the balance. `state`: good | unknown | paused | waiting."""

    state: str
    sentence: str
    detail: str = ""


def accounts_with_ledger(tenant: Tenant) -> QuerySet[Account]:
    """Return the team's accounts with their ledger, the sums of rows since the last checkpoint and
    of all rows (`total`, in the unit of `newer`), and their auto top-up."""
    days = DailyTotal.objects.filter(account=OuterRef("pk"))
    units = Cast(Round(F("amount") * UNITS_PER_CREDIT), BigIntegerField())
    total = days.order_by().values("account").annotate(sum=Sum(units)).values("sum")
    accounts = annotate_newer_entries(all_team_accounts(tenant)).select_related("top_up")
    return accounts.annotate(total=Subquery(total))


def ledger_or_none(account: Account) -> LedgerMirror | None:
    ledger: LedgerMirror | None = getattr(account, "ledger", None)
    return ledger


def are_ledgers_complete(accounts: Sequence[Account]) -> bool:
    """True if every ledger is mirrored from its first row."""
    ledgers = [ledger_or_none(account) for account in accounts]
    return bool(ledgers) and all(ledger is not None and ledger.is_complete for ledger in ledgers)


def check_ledger_agreement(accounts: Sequence[Account]) -> LedgerAgreement | None:
    """Return whether the mirrored rows add up to the balance of the service; None without an
    account."""
    ledgers = [ledger for account in accounts if (ledger := ledger_or_none(account)) is not None]
    if not accounts:
        return None
    stopped = [ledger for ledger in ledgers if ledger.problem]
    if stopped:
        return LedgerAgreement("paused", LEDGER_STOPPED_TEXT, stopped[0].problem)
    if len(ledgers) < len(accounts) or not all(ledger.is_complete for ledger in ledgers):
        return LedgerAgreement("waiting", ledger_sync_sentence(ledgers, len(accounts)))
    return compare_ledger_with_balance(accounts, ledgers)


def agreement_reason(rows: int, shown: Decimal, opening: Decimal) -> str:
    """Return why ledger and balance match; a ledger without entries has its own sentence."""
    if not rows:
        return f"the ledger has no entries yet, and the service shows {credits(shown)}."
    adds = "1 ledger entry adds" if rows == 1 else f"{rows:,} ledger entries add"
    if not opening:
        return f"{adds} up to {credits(shown)}, the balance the service shows."
    return (
        f"{adds} up to {credits(shown - opening)}. With the {credits(opening)} cr from before the "
        f"first entry that is {credits(shown)}, the balance the service shows."
    )


def opening_balance(account: Account) -> Decimal:
    """The credits before the first entry of an account of `accounts_with_ledger`, as far as known;
    below 0 if more came in than the service shows and the entries explain."""
    ledger = ledger_or_none(account)
    older = (getattr(account, "total", None) or 0) - (getattr(account, "newer", None) or 0)
    opening = ledger and compute_opening_balance(ledger, Decimal(older) / UNITS_PER_CREDIT)
    return opening or ZERO_CREDITS


def stale_comparison_text(account: Account) -> str:
    """Why the last comparison of a compared account is no verdict any more; empty if it is one."""
    ledger = ledger_or_none(account)
    if ledger is None or ledger.checkpoint_high is None or ledger.checkpoint_at is None:
        return ""
    newer = ledger.high - ledger.checkpoint_high
    if newer > 0:
        are = "1 ledger entry is" if newer == 1 else f"{newer:,} ledger entries are"
        return f"{are} newer than the last comparison, at {clock(ledger.checkpoint_at)}."
    is_read_later = account.balance_as_of and account.balance_as_of > ledger.checkpoint_at
    if is_read_later and account.balance != ledger.balance_exact:
        return (
            f"The service showed {credits(account.balance)} cr at {clock(account.balance_as_of)}, "
            f"after the last comparison, at {clock(ledger.checkpoint_at)}."
        )
    return ""


def ledger_sync_sentence(ledgers: Sequence[LedgerMirror], accounts: int) -> str:
    mirrored, total = ledger_sync_progress(ledgers)
    if not total:
        return (
            "The ledger has not been read yet. Reelroom reads it automatically, a few rows at a "
            "time."
        )
    if mirrored == total:
        left = accounts - sum(ledger.is_complete for ledger in ledgers)
        which = "The ledger of one account" if left == 1 else f"The ledgers of {left} accounts"
        return f"{which} could not be read yet. Reelroom retries automatically."
    return (
        f"The ledger is being read: {mirrored:,} of {total:,} rows. Older days are still missing."
    )


def ledger_sync_progress(ledgers: Sequence[LedgerMirror]) -> tuple[int, int]:
    """Return the number of mirrored rows, and the total that the service reports."""
    mirrored = sum(ledger.high - ledger.low for ledger in ledgers)
    return mirrored, max(mirrored, sum(ledger.total for ledger in ledgers))


def compare_ledger_with_balance(
    accounts: Sequence[Account], ledgers: Sequence[LedgerMirror]
) -> LedgerAgreement:
    """Compare fully mirrored ledgers with the balances at their last checkpoints."""
    rows = sum(ledger.high for ledger in ledgers)
    if any(ledger.balance_exact is None or ledger.checkpoint_sum is None for ledger in ledgers):
        read_at = min(ledger.read_at for ledger in ledgers if ledger.read_at)
        return LedgerAgreement(
            "waiting",
            f"{rows:,} ledger entries, read to {clock(read_at)}. The total is compared with the "
            "balance at the next check.",
        )
    shown = sum((ledger.balance_exact or ZERO_CREDITS for ledger in ledgers), ZERO_CREDITS)
    openings = [opening_balance(account) for account in accounts]
    differences = [
        balance_difference(ledger) + min(opening, ZERO_CREDITS)
        for ledger, opening in zip(ledgers, openings, strict=True)
    ]
    gap = sum(differences, ZERO_CREDITS)
    if not any(differences):
        if stale := next(filter(None, map(stale_comparison_text, accounts)), ""):
            return LedgerAgreement("waiting", f"{stale} They are compared again in a minute.")
        reason = agreement_reason(rows, shown, sum(openings, ZERO_CREDITS))
        return LedgerAgreement("good", f"Ledger and balance match: {reason}")
    what = "are missing" if gap < 0 else "were added"
    return LedgerAgreement(
        "unknown",
        f"The ledger adds up to {credits(shown - gap)}, the service shows {credits(shown)}. "
        f"{credits(abs(gap))} cr {what} without a ledger entry.",
    )
