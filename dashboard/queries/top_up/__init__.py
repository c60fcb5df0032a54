"""The page of one account's automatic top-up."""

from __future__ import annotations

from dashboard.queries.top_up.arrivals import Arrival, arrivals_of
from dashboard.queries.top_up.confirm import Confirm, confirm_of
from dashboard.queries.top_up.facts import Facts, facts_of, shown_of
from dashboard.queries.top_up.history import Change, history_of
from dashboard.queries.top_up.packs import Pack
from dashboard.queries.top_up.page import TopUpPage, page_of
from dashboard.queries.top_up.state import State, digest, state_of
from dashboard.queries.top_up.what_if import UNFINISHED, WhatIf, what_if_of

__all__ = [
    "UNFINISHED",
    "Arrival",
    "Change",
    "Confirm",
    "Facts",
    "Pack",
    "State",
    "TopUpPage",
    "WhatIf",
    "arrivals_of",
    "confirm_of",
    "digest",
    "facts_of",
    "history_of",
    "page_of",
    "shown_of",
    "state_of",
    "what_if_of",
]
