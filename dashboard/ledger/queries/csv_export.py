"""The filtered rows as CSV, in chunks, so that a million rows need no more memory than a page.

A cell that a spreadsheet would read as a formula gets a leading apostrophe. `credit_spend` is the
upstream's own string: a plain signed number stays as it is, because it can only be read as that
number or as text; any other value is escaped like the other cells (docs/ledger.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any
from uuid import UUID

from dashboard.ledger.queries.filters import LedgerFilters
from dashboard.ledger.queries.rows import query_next_rows
from dashboard.ledger.queries.scope import LedgerScope, load_ledger_scope
from dashboard.ledger.queries.search import apply_ledger_search
from dashboard.ledger.queries.totals import LedgerTotals, load_ledger_totals
from dashboard.models import Team
from dashboard.shared.account_tabs import account_labels
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.file_export import UTF8_BOM, PlainNumber, render_csv
from dashboard.shared.people import load_team_people
from dashboard.shared.query_params import Cursor
from proxyapi.models.account import amount_text
from proxyapi.models.credit_price import CreditPrice

EXPORT_CHUNK_ROWS = 4_000  # rows per query
CSV_HEADER = (
    *("account", "position", "created_at", "utc", "label", "content_type", "transaction_type"),
    *("credit_spend", "through_api", "feature", "member", "member_email", "video", "video_id"),
    *("charge_id", "confidence", "reason"),
)
MONEY_HEADER = ("price_per_credit", "estimated_amount", "currency")  # if an account has a price
EXPORT_FIELDS = (
    *("account_id", "position", "booked_at", "happened_at", "label", "content_type"),
    *("transaction_type", "credit_spend", "via_api", "operation", "member__name"),
    *("member__email", "job__title", "job_id", "charge_id", "confidence", "reason", "amount"),
)
VIA_API_CELLS = {True: "yes", False: "no", None: ""}
SIGNED_NUMBER_RE = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class ExportSource:
    """The scope of an export, fixed at its start except for rows that are mirrored meanwhile."""

    scope: LedgerScope
    totals: LedgerTotals
    names: Mapping[UUID, str]
    prices: Mapping[UUID, CreditPrice]

    @property
    def header(self) -> tuple[str, ...]:
        return CSV_HEADER + MONEY_HEADER if self.prices else CSV_HEADER


def build_export_source(team: Team, filters: LedgerFilters) -> ExportSource:
    scope = load_ledger_scope(team, filters)
    if filters.search:
        scope = apply_ledger_search(scope, load_team_people(team))
    selected = (account for account in scope.accounts if account.pk in scope.ids)
    prices = {account.pk: price for account in selected if (price := account.credit_price)}
    names = account_labels(scope.accounts)
    return ExportSource(scope, load_ledger_totals(scope), names, prices)


def export_csv_header(source: ExportSource) -> str:
    return UTF8_BOM + render_csv([source.header])


def export_csv_chunk(source: ExportSource, after: Cursor | None) -> tuple[str, Cursor | None]:
    """The rows after a cursor as text, and the cursor at their end, None if there are no more."""
    rows = list(
        query_next_rows(source.scope, source.totals, after, EXPORT_CHUNK_ROWS).values_list(
            *EXPORT_FIELDS
        )
    )
    text = render_csv([build_csv_cells(row, source) for row in rows])
    return text, Cursor((rows[-1][3], *rows[-1][:2])) if len(rows) == EXPORT_CHUNK_ROWS else None


def build_csv_cells(row: tuple[Any, ...], source: ExportSource) -> tuple[Any, ...]:
    (account, position, booked, at, label, kind, transaction, spend, via_api, operation) = row[:10]
    (name, email, title, job, charge, confidence, reason, amount) = row[10:]
    money = build_money_cells(amount, source.prices.get(account)) if source.prices else ()
    return (
        source.names[account], position, booked, format_utc(at), label, kind,
        transaction, PlainNumber(spend) if SIGNED_NUMBER_RE.fullmatch(spend) else spend,
        VIA_API_CELLS[via_api], operation_cell(operation), name, email, title,
        job, charge, confidence, reason, *money,
    )  # fmt: skip


def build_money_cells(amount: Decimal, price: CreditPrice | None) -> tuple[str, ...]:
    """The amount is not rounded: a row may cost less than a cent, and readers add rows up."""
    if price is None:
        return "", "", ""
    estimate = amount_text(amount * price.amount)
    return PlainNumber(amount_text(price.amount)), PlainNumber(estimate), price.currency


@cache
def operation_cell(operation: str) -> str:
    return feature_label(operation) if operation else ""


def format_utc(at: datetime) -> str:
    return at.isoformat(" ", "seconds").removesuffix("+00:00")
