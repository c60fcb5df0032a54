"""One account's books as their page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.access import can
from dashboard.models import Membership
from dashboard.queries.accounts import AccountTab, tabs_of
from dashboard.queries.overview.credits import Agreement, agreement_of, ledger_of, progress
from dashboard.queries.reconciliation.differences import (
    Act,
    Item,
    Owed,
    age_of,
    charges_of,
    entries_of,
    items_of,
    owed_of,
)
from dashboard.queries.reconciliation.statement import Statement, statement_of
from dashboard.roles import Permission
from dashboard.templatetags.reelroom import clock
from proxyapi.models import Account, LedgerConflict, LedgerMirror
from proxyapi.models.account import parse_timestamp

MOST = 60
FEWEST_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Rewording:
    """A row of the ledger in both versions; `now` is empty when it is gone."""

    number: int
    before: str
    now: str
    noticed_at: datetime
    age: str
    acts: tuple[Act, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """Rows of the ledger that are mirrored, and the percent of all."""

    here: int
    total: int
    percent: float


@dataclass(frozen=True, slots=True)
class Page:
    account: Account
    tabs: tuple[AccountTab, ...]
    agreement: Agreement | None
    statement: Statement
    items: tuple[Item, ...]
    owed: tuple[Owed, ...]
    rewordings: tuple[Rewording, ...]
    progress: Progress | None
    may_act: bool
    url: str

    @property
    def rewording_acts(self) -> tuple[Act, ...]:
        """Where there are several, all of them at once."""
        if not self.may_act or len(self.rewordings) < FEWEST_AT_ONCE:
            return ()
        url = reverse("account-acceptances", args=[self.account.pk])
        return (Act("Take all of them", url),)

    @property
    def owed_sum(self) -> Decimal:
        return sum((one.amount for one in self.owed), Decimal(0))


def page_of(reader: Membership, accounts: Sequence[Account], wanted: str) -> Page | None:
    """Five queries. `wanted` is an account's id; None without an account."""
    if not accounts:
        return None
    account = next((one for one in accounts if str(one.pk) == wanted), accounts[0])
    ledger, now = ledger_of(account) or LedgerMirror(account=account), timezone.now()
    may_act = can(reader, Permission.MANAGE_MONEY)
    charges = charges_of(account, ledger)
    items = items_of(ledger, charges, entries_of(account), now, reader)
    return Page(
        account=account,
        tabs=tabs_of("reconciliation", accounts, account),
        agreement=agreement_of([account]),
        statement=statement_of(account, ledger),
        items=tuple(items),
        owed=tuple(owed_of(charges, now)),
        rewordings=rewordings_of(account, now, may_act=may_act),
        may_act=may_act,
        progress=progress_of(ledger),
        url=url_of(account.pk),
    )


def url_of(account: UUID) -> str:
    return f"{reverse('reconciliation')}?account={account}"


def progress_of(ledger: LedgerMirror) -> Progress | None:
    """None once every row is here."""
    if ledger.is_complete:
        return None
    here, total = progress([ledger])
    return Progress(here, total, 100 * here / total if total else 0.0)


def rewordings_of(account: Account, now: datetime, *, may_act: bool) -> tuple[Rewording, ...]:
    rows = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True)
    return tuple(
        Rewording(
            number=row.number,
            before=versions(row)[0],
            now=versions(row)[1],
            noticed_at=row.noticed_at,
            age=age_of(row.noticed_at, now),
            acts=(Act("Take this version", reverse("rewrite-acceptances", args=[row.pk])),)
            if may_act
            else (),
        )
        for row in rows.order_by("position")[:MOST]
    )


def versions(row: LedgerConflict) -> tuple[str, str]:
    """As it was and as it is; every word of it where it would else read the same."""
    before, now = in_words(row.before), in_words(row.after)
    if before != now:
        return before, now
    return ", ".join(map(str, row.before.values())), ", ".join(map(str, (row.after or {}).values()))


def in_words(row: object) -> str:
    """`−96 Render, 20 Nov 14:21`; empty for a row that is gone."""
    if not isinstance(row, dict):
        return ""
    label = str(row.get("label") or row.get("content_type") or "")
    amount = str(row.get("credit_spend") or "").replace("-", "\N{MINUS SIGN}")
    written = str(row.get("created_at") or "")
    when = parse_timestamp(written)
    return ", ".join(filter(None, (f"{amount} {label}".strip(), clock(when) or written)))
