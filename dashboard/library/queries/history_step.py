"""A step in the history of a video."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.shared.videos.cost import CreditAmount


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A step. `quote` is the service's reason, `code` its error code for support, `current` marks
    the run whose video plays, `scene` is the number of the scene it is about."""

    state: str
    name: str
    amount: CreditAmount
    meta: str
    quote: str = ""
    code: str = ""
    note: str = ""
    quote_state: str = ""  # of an earlier try; else that of the step
    current: bool = False
    branch: bool = False
    scene: int = 0
