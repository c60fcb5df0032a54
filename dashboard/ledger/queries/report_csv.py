"""The monthly report as CSV: one row for each total, member and label."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from dashboard.ledger.queries.monthly_report import MonthlyReport, ReportFigure, ReportRow
from dashboard.ledger.queries.period import LedgerPeriod
from dashboard.shared.file_export import UTF8_BOM, PlainNumber, render_csv
from proxyapi.models.account import amount_text

REPORT_HEADER = (
    *("period", "compared_with", "section", "name", "member_email", "credits", "refunded"),
    *("after_refunds", "month_before", "change", "change_percent"),
)
REPORT_MONEY_HEADER = (  # if the accounts have a common price
    *("price_per_credit", "estimated_amount", "estimated_after_refunds", "currency"),
)


def render_report_csv(report: MonthlyReport) -> str:
    """Each section adds up to the total in its first column of credits; amounts are not rounded."""
    header = REPORT_HEADER + REPORT_MONEY_HEADER if report.credit_price else REPORT_HEADER
    return UTF8_BOM + render_csv([header, *iter_report_cells(report)])


def report_filename(report: MonthlyReport) -> str:
    return f"report-{report.slug}{'-so-far' if report.so_far else ''}.csv"


def iter_report_cells(report: MonthlyReport) -> Iterator[tuple[Any, ...]]:
    period = (period_cell(report.days), period_cell(report.before))
    for figure in report.figures.values():
        yield (*period, "total", *figure_cells(report, figure))
    for section, rows in (("member", report.members), ("label", report.labels)):
        for row in rows:
            yield (*period, section, *figure_cells(report, row))


def figure_cells(report: MonthlyReport, figure: ReportFigure) -> tuple[Any, ...]:
    """A total has no address and no refunds of its own."""
    row = figure if isinstance(figure, ReportRow) else None
    after_refunds = row.after_refunds if row else None
    change = figure.change_percent.removesuffix(" %").replace("\N{MINUS SIGN}", "-")
    cells = (
        figure.name,
        row.email if row else "",
        number_cell(figure.amount),
        number_cell(row.refunded if row else None),
        number_cell(after_refunds),
        number_cell(figure.before),
        number_cell(figure.change),
        PlainNumber(change.replace(",", "")),
    )
    if not (price := report.credit_price):
        return cells
    return (
        *cells,
        number_cell(price.amount),
        number_cell(figure.amount * price.amount),
        number_cell(None if after_refunds is None else after_refunds * price.amount),
        price.currency,
    )


def number_cell(value: Decimal | None) -> str:
    return PlainNumber("" if value is None else amount_text(value))


def period_cell(days: LedgerPeriod) -> str:
    return f"{days.first}..{days.last}"
