"""Budgets as pages show them: meters, a line beside a price, waiting asks, history."""

from __future__ import annotations

from dashboard.queries.budgets.asks import Answer, Waiting, answer_of, waiting_of
from dashboard.queries.budgets.line import Line, line_of
from dashboard.queries.budgets.page import Page, page_of

__all__ = ["Answer", "Line", "Page", "Waiting", "answer_of", "line_of", "page_of", "waiting_of"]
