"""Decisions about charges and ledger: write off or match an unknown charge, accept the service's
version of a row, reset the opening balance. Each writes an audit row with the amounts."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from dashboard.shared.text_validation import clean_reason
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
CONFLICTS_ALREADY_ACCEPTED = "These rows were reviewed already. Nothing was changed."
CONFLICT_ALREADY_ACCEPTED = "This row was reviewed already. Nothing was changed."
OTHER_CONFLICTS_FOUND = "More changed rows were found. Nothing was changed. Review them first."


@transaction.atomic
def write_off_unknown_charge(*, by: Membership, charge: Charge, reason: str) -> Charge:
    """Write off an unknown charge. Raises `Refusal` without a reason, `StaleData` if it was
    settled."""
    check_permission(by, Permission.MANAGE_MONEY)
    reason = clean_reason(reason, required=WRITE_OFF_REASON_REQUIRED)
    charge = charges.write_off_charge(charge, by.user_id, reason)
    record_audit_event(
        by,
        AuditAction.CHARGE_WRITE_OFF,
        charge.pk,
        operation=charge.operation,
        quote=str_or_empty(charge.quote),
        hold=str_or_empty(charge.hold),
        reason=reason,
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
def remove_match(*, by: Membership, charge: Charge) -> LedgerEntry:
    """Undo the match of a charge with a debit, which is returned. Raises `StaleData` if it was not
    made by amount and time."""
    check_permission(by, Permission.MANAGE_MONEY)
    cost = charge.cost
    entry = charges.remove_match(charge, by.user_id)
    record_audit_event(
        by,
        AuditAction.CHARGE_UNMATCH,
        charge.pk,
        operation=charge.operation,
        position=entry.position,
        cost=str_or_empty(cost),
    )
    return entry


@transaction.atomic
def accept_ledger_conflict(*, by: Membership, conflict: LedgerConflict) -> None:
    """Accept the service's version of a row. Raises `StaleData` if it is accepted already."""
    check_permission(by, Permission.MANAGE_MONEY)
    if not ledger.accept_upstream_version(conflict, by.user_id):
        raise StaleData(CONFLICT_ALREADY_ACCEPTED)
    record_audit_event(
        by,
        AuditAction.LEDGER_ACCEPT,
        f"row {conflict.number}",
        account=str(conflict.account_id),
        before=conflict.before,
        after=conflict.after or {},
    )


@transaction.atomic
def accept_ledger_conflicts(*, by: Membership, account: Account, seen: str) -> ledger.OpenConflicts:
    """Accept the service's version of all changed rows. `seen` is the fingerprint of the rows that
    were shown. Raises `StaleData` if there are other rows now, or none."""
    check_permission(by, Permission.MANAGE_MONEY)
    accepted = ledger.accept_all_upstream_versions(account, by.user_id, seen)
    if accepted is None:
        raise StaleData(
            OTHER_CONFLICTS_FOUND
            if ledger.count_open_conflicts(account).fingerprint
            else CONFLICTS_ALREADY_ACCEPTED
        )
    after = {"rows": accepted.changed_rows, "gone": accepted.missing_rows}
    record_audit_event(by, AuditAction.LEDGER_ACCEPT_ALL, account.pk, after=after)
    return accepted


@transaction.atomic
def rebase_opening_balance(
    *, by: Membership, account: Account, seen: Decimal | None, reason: str
) -> None:
    """Reset the opening balance so that it matches the last balance checkpoint; the difference is
    accepted.

    `seen` is the difference in credits that the dialog showed. Raises `Refusal` without a reason,
    `StaleData` if the difference has changed.
    """
    check_permission(by, Permission.MANAGE_MONEY)
    reason = clean_reason(reason, required=REBASE_REASON_REQUIRED)
    if seen is None:
        raise Refusal(DIFFERENCE_UNREADABLE)
    mirror = ledger.rebase_balance(account, seen, by.user_id, reason)
    record_audit_event(
        by,
        AuditAction.LEDGER_REBASE,
        account.pk,
        difference=str_or_empty(seen),
        balance=str_or_empty(mirror.balance_exact),
        row=mirror.anchor_high,
        reason=reason,
    )


def str_or_empty(amount: object) -> str:
    return "" if amount is None else str(amount)
