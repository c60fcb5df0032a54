"""When the credits run out, whether a batch fits, what another top-up setting would have done.

Pure arithmetic over numbers: nothing here asks the upstream, the database or the clock. The rules
are the service's (spec, Limits: auto top-up), written once in `rules.py` and proved against the
sandbox's own.
"""

from __future__ import annotations

from proxyapi.forecast.batch import Answer, Batch, afford
from proxyapi.forecast.days import Day, DayEnd, live
from proxyapi.forecast.pattern import Pattern, pattern_of
from proxyapi.forecast.replay import Gap, Movement, Point, Replay, replay, replay_days
from proxyapi.forecast.rules import Happened, Offer, Standing
from proxyapi.forecast.runout import Band, Forecast, Start, foresee

__all__ = [
    "Answer",
    "Band",
    "Batch",
    "Day",
    "DayEnd",
    "Forecast",
    "Gap",
    "Happened",
    "Movement",
    "Offer",
    "Pattern",
    "Point",
    "Replay",
    "Standing",
    "Start",
    "afford",
    "foresee",
    "live",
    "pattern_of",
    "replay",
    "replay_days",
]
