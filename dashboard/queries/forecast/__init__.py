"""When the credits run out, and whether a batch fits: the forecast of one account."""

from __future__ import annotations

from dashboard.queries.forecast.days import Ledger, ledger_of, whole
from dashboard.queries.forecast.standing import bought_by, offer_of, packs_of, standing_of

__all__ = [
    "Ledger",
    "bought_by",
    "ledger_of",
    "offer_of",
    "packs_of",
    "standing_of",
    "whole",
]
