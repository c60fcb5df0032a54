"""A step in the history of a video."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.shared.videos.cost import CreditAmount


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A step. `quote` is the service's reason, `code` its error code for support, `current` marks
    the run whose video plays."""

    state: str
    name: str
    amount: CreditAmount
    meta: str
    quote: str = ""
    code: str = ""
    note: str = ""
    current: bool = False
    branch: bool = False
