"""One account's books as their page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.reconciliation.queries.differences import (
    DifferenceAction,
    DifferenceItem,
    OwedRefund,
    age_text,
    iter_difference_items,
    iter_owed_refunds,
    load_differing_charges,
    load_differing_entries,
)
from dashboard.reconciliation.queries.statement import BalanceStatement, load_balance_statement
from dashboard.shared.access import has_permission
from dashboard.shared.account_tabs import AccountTab, build_account_tabs
from dashboard.shared.formatting import clock
from dashboard.shared.ledger_agreement import (
    LedgerAgreement,
    check_ledger_agreement,
    ledger_or_none,
    ledger_sync_progress,
)
from dashboard.shared.roles import Permission
from proxyapi.models import Account, LedgerConflict, LedgerMirror
from proxyapi.models.account import parse_timestamp

MAX_CONFLICTS_SHOWN = 60
MIN_CONFLICTS_FOR_BULK = 2


@dataclass(frozen=True, slots=True)
class LedgerConflictRow:
    """A row of the ledger in both versions; `now` is empty when it is gone."""

    number: int
    before: str
    after: str
    noticed_at: datetime
    age: str
    actions: tuple[DifferenceAction, ...]


@dataclass(frozen=True, slots=True)
class MirrorProgress:
    """Rows of the ledger that are mirrored, and the percent of all."""

    mirrored: int
    total: int
    percent: float


@dataclass(frozen=True, slots=True)
class ReconciliationPage:
    account: Account
    tabs: tuple[AccountTab, ...]
    agreement: LedgerAgreement | None
    statement: BalanceStatement
    items: tuple[DifferenceItem, ...]
    owed: tuple[OwedRefund, ...]
    conflicts: tuple[LedgerConflictRow, ...]
    progress: MirrorProgress | None
    may_act: bool
    url: str

    @property
    def bulk_actions(self) -> tuple[DifferenceAction, ...]:
        """Where there are several, all of them at once."""
        if not self.may_act or len(self.conflicts) < MIN_CONFLICTS_FOR_BULK:
            return ()
        url = reverse("account-acceptances", args=[self.account.pk])
        return (DifferenceAction("Accept all", url),)

    @property
    def owed_sum(self) -> Decimal:
        return sum((one.amount for one in self.owed), Decimal(0))


def build_reconciliation_page(
    reader: Membership, accounts: Sequence[Account], wanted: str
) -> ReconciliationPage | None:
    """Five queries. `wanted` is an account's id; None without an account."""
    if not accounts:
        return None
    account = next((one for one in accounts if str(one.pk) == wanted), accounts[0])
    ledger, now = ledger_or_none(account) or LedgerMirror(account=account), timezone.now()
    may_act = has_permission(reader, Permission.MANAGE_MONEY)
    charges = load_differing_charges(account, ledger)
    items = iter_difference_items(ledger, charges, load_differing_entries(account), now, reader)
    return ReconciliationPage(
        account=account,
        tabs=build_account_tabs("reconciliation", accounts, account),
        agreement=check_ledger_agreement([account]),
        statement=load_balance_statement(account, ledger),
        items=tuple(items),
        owed=tuple(iter_owed_refunds(charges, now)),
        conflicts=build_conflict_rows(account, now, may_act=may_act),
        may_act=may_act,
        progress=build_mirror_progress(ledger),
        url=reconciliation_url(account.pk),
    )


def reconciliation_url(account: UUID) -> str:
    return f"{reverse('reconciliation')}?account={account}"


def build_mirror_progress(ledger: LedgerMirror) -> MirrorProgress | None:
    """None once every row is here."""
    if ledger.is_complete:
        return None
    here, total = ledger_sync_progress([ledger])
    return MirrorProgress(here, total, 100 * here / total if total else 0.0)


def build_conflict_rows(
    account: Account, now: datetime, *, may_act: bool
) -> tuple[LedgerConflictRow, ...]:
    rows = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True)
    return tuple(
        LedgerConflictRow(
            number=row.number,
            before=conflict_versions(row)[0],
            after=conflict_versions(row)[1],
            noticed_at=row.noticed_at,
            age=age_text(row.noticed_at, now),
            actions=(
                DifferenceAction(
                    "Take this version", reverse("conflict-acceptances", args=[row.pk])
                ),
            )
            if may_act
            else (),
        )
        for row in rows.order_by("position")[:MAX_CONFLICTS_SHOWN]
    )


def conflict_versions(row: LedgerConflict) -> tuple[str, str]:
    """As it was and as it is; every word of it where it would else read the same."""
    before, now = entry_version_text(row.before), entry_version_text(row.after)
    if before != now:
        return before, now
    return ", ".join(map(str, row.before.values())), ", ".join(map(str, (row.after or {}).values()))


def entry_version_text(row: object) -> str:
    """`−96 Render, 20 Nov 14:21`; empty for a row that is gone."""
    if not isinstance(row, dict):
        return ""
    label = str(row.get("label") or row.get("content_type") or "")
    amount = str(row.get("credit_spend") or "").replace("-", "\N{MINUS SIGN}")
    written = str(row.get("created_at") or "")
    when = parse_timestamp(written)
    return ", ".join(filter(None, (f"{amount} {label}".strip(), clock(when) or written)))
