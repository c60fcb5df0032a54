"""Charts as the server draws them: lengths in percent, so that one drawing fits every width (look
§8, §10.17). The templates are components/chart_*.html; the colours are classes."""

from __future__ import annotations

from dashboard.queries.charts.bars import Bars, Column, Series, bars_of
from dashboard.queries.charts.line import Line, Mark, Point, Stop, line_of
from dashboard.queries.charts.scale import Scale, Tick, scale_to
from dashboard.queries.charts.tones import OTHERS, OUTSIDE, tones

__all__ = [
    "OTHERS",
    "OUTSIDE",
    "Bars",
    "Column",
    "Line",
    "Mark",
    "Point",
    "Scale",
    "Series",
    "Stop",
    "Tick",
    "bars_of",
    "line_of",
    "scale_to",
    "tones",
]
