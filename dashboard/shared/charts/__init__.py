"""Charts rendered by the server as SVG. Lengths are percentages, so one drawing fits every width.

The templates are components/chart_*.html; the colours are CSS classes.
"""

from __future__ import annotations

from dashboard.shared.charts.bars import BarChart, BarColumn, BarSeries, build_bar_chart
from dashboard.shared.charts.line import (
    ChartMark,
    HoverTarget,
    LineChart,
    LinePoint,
    build_line_chart,
)
from dashboard.shared.charts.scale import (
    OTHERS_TONE,
    OUTSIDE_TONE,
    SERIES_TONES,
    AxisTick,
    ChartScale,
    assign_member_tones,
    build_chart_scale,
)
