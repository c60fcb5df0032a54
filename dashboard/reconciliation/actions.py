"""What a person decides about the books: end an unknown charge, take the service's version of a
row, set the opening balance anew. Each leaves its audit row with the amounts."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from proxyapi import charges, ledger
from proxyapi.models import Account, Charge, LedgerConflict, LedgerEntry
from proxyapi.refusals import Refusal, StaleData

WRITE_OFF_REASON_REQUIRED = "Enter a reason. It is saved with the charge."
REBASE_REASON_REQUIRED = "Enter a reason. It is saved with the difference."
DIFFERENCE_UNREADABLE = (
    "Nothing was changed: the difference in this form is missing or damaged. Reload the page and "
    "try again."
)
ENTRY_REQUIRED = "Choose the entry that matches."
CONFLICTS_ALREADY_ACCEPTED = "Someone else has reviewed these rows already. Nothing was changed."
CONFLICT_ALREADY_ACCEPTED = "Someone else has reviewed this row already. Nothing was changed."
OTHER_CONFLICTS_FOUND = "More changed rows were found. Nothing was changed. Review them first."
MAX_REASON_LENGTH = 300  # characters of a reason


@transaction.atomic
def write_off_unknown_charge(*, by: Membership, charge: Charge, reason: str) -> Charge:
    """Write off an unknown charge. Raises `Refusal` without a reason, `StaleData` if it was
    settled."""
    check_permission(by, Permission.MANAGE_MONEY)
    if not (words := " ".join(reason.split())[:MAX_REASON_LENGTH]):
        raise Refusal(WRITE_OFF_REASON_REQUIRED, field="reason")
    charge = charges.write_off_charge(charge, by.user_id, words)
    record_audit_event(
        by,
        AuditAction.CHARGE_WRITE_OFF,
        charge.pk,
        operation=charge.operation,
        quote=str_or_empty(charge.quote),
        hold=str_or_empty(charge.hold),
        reason=words,
    )
    return charge


@transaction.atomic
def match_charge_to_entry(
    *, by: Membership, charge: Charge, position: int | None, seen: Decimal | None
) -> Charge:
    """Settle the charge with this ledger entry, a debit of `seen` credits. Raises `Refusal` if none
    was chosen, and `StaleData` if either was settled meanwhile or the entry has changed."""
    check_permission(by, Permission.MANAGE_MONEY)
    rows = LedgerEntry.objects.filter(account=charge.account_id, amount__lt=0)
    entry = rows.filter(position=position).first() if position is not None else None
    if entry is None or seen is None:
        raise Refusal(ENTRY_REQUIRED, field="position")
    charge = charges.settle_with_entry(charge, entry, by.user_id, seen)
    record_audit_event(
        by,
        AuditAction.CHARGE_MATCH,
        charge.pk,
        operation=charge.operation,
        position=entry.position,
        cost=str_or_empty(charge.cost),
        quote=str_or_empty(charge.quote),
    )
    return charge


@transaction.atomic
def accept_ledger_conflict(*, by: Membership, rewrite: LedgerConflict) -> None:
    """The service's version of a row holds from now on. Raises `StaleData` when it does already."""
    check_permission(by, Permission.MANAGE_MONEY)
    if not ledger.accept_upstream_version(rewrite, by.user_id):
        raise StaleData(CONFLICT_ALREADY_ACCEPTED)
    record_audit_event(
        by,
        AuditAction.LEDGER_ACCEPT,
        f"row {rewrite.number}",
        account=str(rewrite.account_id),
        before=rewrite.before,
        after=rewrite.after or {},
    )


@transaction.atomic
def accept_ledger_conflicts(*, by: Membership, account: Account, seen: str) -> ledger.OpenConflicts:
    """The same of all the rows that were found; `seen`: the mark of those that were asked about.
    Raises `StaleData` when there are others by now, or none."""
    check_permission(by, Permission.MANAGE_MONEY)
    taken = ledger.accept_all_upstream_versions(account, by.user_id, seen)
    if taken is None:
        raise StaleData(
            OTHER_CONFLICTS_FOUND
            if ledger.count_open_conflicts(account).fingerprint
            else CONFLICTS_ALREADY_ACCEPTED
        )
    after = {"rows": taken.changed_rows, "gone": taken.missing_rows}
    record_audit_event(by, AuditAction.LEDGER_ACCEPT_ALL, account.pk, after=after)
    return taken


@transaction.atomic
def rebase_opening_balance(
    *, by: Membership, account: Account, seen: Decimal | None, reason: str
) -> None:
    """Set the opening balance anew by the balance that was weighed last; what differs is let go.

    `seen` is the difference that the question named. Raises `Refusal` without a reason, `StaleData`
    when it is another by now.
    """
    check_permission(by, Permission.MANAGE_MONEY)
    if not (words := " ".join(reason.split())[:MAX_REASON_LENGTH]):
        raise Refusal(REBASE_REASON_REQUIRED, field="reason")
    if seen is None:
        raise Refusal(DIFFERENCE_UNREADABLE)
    anchored = ledger.rebase_balance(account, seen, by.user_id, words)
    record_audit_event(
        by,
        AuditAction.LEDGER_REBASE,
        account.pk,
        difference=str_or_empty(seen),
        balance=str_or_empty(anchored.balance_exact),
        row=anchored.anchor_high,
        reason=words,
    )


def str_or_empty(amount: object) -> str:
    return "" if amount is None else str(amount)
