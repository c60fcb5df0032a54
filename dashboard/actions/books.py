"""What a person decides about the books: end an unknown charge, take the service's version of a
row, set the opening balance anew. Each leaves its audit row with the amounts."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction

from dashboard.access import check
from dashboard.actions.audit import note
from dashboard.models import Membership
from dashboard.roles import Permission
from proxyapi import charges, ledger
from proxyapi.models import Account, Charge, LedgerConflict, LedgerEntry
from proxyapi.refusals import Refusal, StaleData

NO_REASON = "Say why, in a few words. It is kept with the charge."
NO_WHY = "Say why, in a few words. It is kept with the difference."
UNREADABLE = (
    "Nothing was changed: the difference in this form is missing or damaged. Reload the page and "
    "try again."
)
NO_ENTRY = "Choose the entry that it is."
ALL_LOOKED_AT = "Somebody has looked at these rows meanwhile. Nothing was changed."
LOOKED_AT = "Somebody has looked at this row meanwhile. Nothing was changed."
OTHERS = "Other rows were found meanwhile. Nothing was changed; look at them first."
LONGEST = 300  # characters of a reason


@transaction.atomic
def write_off(*, by: Membership, charge: Charge, reason: str) -> Charge:
    """Give up an unknown charge. Raises `Refusal` without a reason, `Stale` when it was settled."""
    check(by, Permission.MANAGE_MONEY)
    if not (words := " ".join(reason.split())[:LONGEST]):
        raise Refusal(NO_REASON, field="reason")
    charge = charges.write_off_charge(charge, by.user_id, words)
    note(
        by,
        "charge.write_off",
        charge.pk,
        operation=charge.operation,
        quote=text(charge.quote),
        hold=text(charge.hold),
        reason=words,
    )
    return charge


@transaction.atomic
def settle_with(
    *, by: Membership, charge: Charge, position: int | None, seen: Decimal | None
) -> Charge:
    """This row of the ledger is its debit, of `seen` credits. Raises `Refusal` without one, `Stale`
    when either was settled meanwhile, or the row reads differently by now."""
    check(by, Permission.MANAGE_MONEY)
    rows = LedgerEntry.objects.filter(account=charge.account_id, amount__lt=0)
    entry = rows.filter(position=position).first() if position is not None else None
    if entry is None or seen is None:
        raise Refusal(NO_ENTRY, field="position")
    charge = charges.settle_with_entry(charge, entry, by.user_id, seen)
    note(
        by,
        "charge.match",
        charge.pk,
        operation=charge.operation,
        position=entry.position,
        cost=text(charge.cost),
        quote=text(charge.quote),
    )
    return charge


@transaction.atomic
def take_version(*, by: Membership, rewrite: LedgerConflict) -> None:
    """The service's version of a row holds from now on. Raises `Stale` when it does already."""
    check(by, Permission.MANAGE_MONEY)
    if not ledger.accept_upstream_version(rewrite, by.user_id):
        raise StaleData(LOOKED_AT)
    note(
        by,
        "ledger.accept",
        f"row {rewrite.number}",
        account=str(rewrite.account_id),
        before=rewrite.before,
        after=rewrite.after,
    )


@transaction.atomic
def take_versions(*, by: Membership, account: Account, seen: str) -> ledger.OpenConflicts:
    """The same of all the rows that were found; `seen`: the mark of those that were asked about.
    Raises `Stale` when there are others by now, or none."""
    check(by, Permission.MANAGE_MONEY)
    taken = ledger.accept_all_upstream_versions(account, by.user_id, seen)
    if taken is None:
        raise StaleData(
            OTHERS if ledger.count_open_conflicts(account).fingerprint else ALL_LOOKED_AT
        )
    note(by, "ledger.accept_all", account.pk, rows=taken.changed_rows, gone=taken.missing_rows)
    return taken


@transaction.atomic
def start_anew(*, by: Membership, account: Account, seen: Decimal | None, reason: str) -> None:
    """Set the opening balance anew by the balance that was weighed last; what differs is let go.

    `seen` is the difference that the question named. Raises `Refusal` without a reason, `Stale`
    when it is another by now.
    """
    check(by, Permission.MANAGE_MONEY)
    if not (words := " ".join(reason.split())[:LONGEST]):
        raise Refusal(NO_WHY, field="reason")
    if seen is None:
        raise Refusal(UNREADABLE)
    anchored = ledger.rebase_balance(account, seen)
    note(
        by,
        "ledger.anchor",
        account.pk,
        difference=text(seen),
        balance=text(anchored.balance_exact),
        row=anchored.anchor_high,
        reason=words,
    )


def text(amount: object) -> str:
    return "" if amount is None else str(amount)
