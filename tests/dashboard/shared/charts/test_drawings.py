"""What the server draws: scales that start at 0, bars that add up, lines that do not lie."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from django.template.loader import render_to_string

from dashboard.shared.charts import (
    OTHERS_TONE,
    OUTSIDE_TONE,
    AxisTick,
    BarChart,
    BarColumn,
    BarSeries,
    ChartMark,
    HoverTarget,
    LinePoint,
    assign_member_tones,
    build_bar_chart,
    build_chart_scale,
    build_line_chart,
)
from dashboard.shared.charts.scale import thin_axis_ticks

PRIYA, LUCA = BarSeries("1", "Priya", "m1"), BarSeries("2", "Luca", "m2")
ELSEWHERE = BarSeries("outside", "outside the portal", OUTSIDE_TONE)


def day(name: str, **amounts: int) -> BarColumn:
    given = {key.removeprefix("_"): Decimal(value) for key, value in amounts.items()}
    return BarColumn(f"Fri {name} Nov", f"{name} Nov", given)


@pytest.mark.parametrize(
    ("most", "top"), [(0, 3), (1, 3), (4, 4), (5, 6), (729, 800), (794, 800), (14_100, 15_000)]
)
def test_a_scale_ends_at_the_next_round_number(most: int, top: int) -> None:
    assert build_chart_scale(Decimal(most)).top == top


@pytest.mark.parametrize("most", [0, 1, 7, 99, 1_000, 12_345_678])
def test_a_scale_starts_at_nothing_and_has_three_or_four_steps(most: int) -> None:
    scale = build_chart_scale(Decimal(most))
    assert (scale.grid[0].label, scale.grid[0].y) == (0, 100)
    assert len(scale.grid) in (4, 5)
    assert scale.top >= most


def test_the_parts_of_a_bar_stand_on_each_other_and_add_up() -> None:
    chart = build_bar_chart([PRIYA, LUCA, ELSEWHERE], [day("20", _1=400, _2=200, outside=100)], "")
    first, second, third = chart.bars[0].pieces
    assert first.y + first.height == pytest.approx(100)
    assert second.y + second.height == pytest.approx(first.y)
    assert third.y + third.height == pytest.approx(second.y)
    assert third.is_hatched
    assert chart.total == 700


def test_a_colour_is_one_shape_however_many_columns_have_it() -> None:
    """As quick to draw with a million rows as with a few; others share the late comers' slate."""
    late = BarSeries("3", "Late", OTHERS_TONE), BarSeries("others", "Others", OTHERS_TONE)
    columns = [day("19", _1=4), day("20", _1=2, _3=1, others=1, outside=4)]
    chart = build_bar_chart([PRIYA, *late, ELSEWHERE], columns, "")
    shapes = {layer.tone: layer.path for layer in chart.layers}
    assert list(shapes) == ["m1", OTHERS_TONE, OUTSIDE_TONE]
    assert shapes["m1"] == "M9.50 50.00h31.00v50.00h-31.00ZM59.50 75.00h31.00v25.00h-31.00Z"
    assert shapes[OTHERS_TONE].count("M") == 2
    assert [piece.y for piece in chart.hatched] == [0]


def test_who_spent_nothing_is_in_no_legend() -> None:
    assert build_bar_chart([PRIYA, LUCA], [day("20", _1=4)], "").series == (PRIYA,)


def test_a_column_says_its_sum_and_its_parts() -> None:
    chart = build_bar_chart([PRIYA, LUCA], [day("19"), day("20", _1=1400, _2=88)], "")
    assert chart.bars[0].text == "Fri 19 Nov: nothing."
    assert chart.bars[1].text == "Fri 20 Nov: 1,488 cr. Priya 1,400, Luca 88."


def test_words_under_a_chart_never_collide_and_the_last_stays() -> None:
    ticks = thin_axis_ticks([AxisTick(3.3 * place, str(place)) for place in range(30)])
    assert ticks[-1].label == "29"
    assert all(right.x - left.x >= 12 for left, right in pairwise(ticks))


def test_a_line_stays_in_its_box_and_its_area_ends_at_nothing() -> None:
    points = [LinePoint(0, Decimal(100)), LinePoint(50, Decimal(-20)), LinePoint(100, Decimal(60))]
    line = build_line_chart(points, "", marks=[ChartMark(points[2], "now", "today", "60")])
    assert line.path == "M0.00 0.00L50.00 100.00L100.00 40.00"
    assert line.area.endswith("L100.00 100L0.00 100Z")
    assert line.marks[0].label_position.anchor == "end", "there is no room at its right"


def test_a_line_shows_its_days_and_takes_no_focus_without_any() -> None:
    points = [LinePoint(0, Decimal(4)), LinePoint(100, Decimal(2))]
    told = build_line_chart(
        points, "", stops=[HoverTarget(0, 100, "Fri 20 Nov: <2> cr")], says="4 cr, then 2."
    )
    drawn = render_to_string(
        "components/chart_line.html", {"chart": told, "id": "line", "title": "Balance"}
    )
    assert 'data-chart="line"' in drawn
    assert 'data-says="Fri 20 Nov: &lt;2&gt; cr"' in drawn
    assert '<p class="chart__says" id="line" aria-live="polite">4 cr, then 2.</p>' in drawn
    context = {"chart": build_line_chart(points, ""), "id": "plain", "title": "Balance"}
    plain = render_to_string("components/chart_line.html", context)
    assert "tabindex" not in plain
    assert "chart__says" not in plain


def test_members_keep_their_colours_in_order_of_joining() -> None:
    assert assign_member_tones([7, 3, 5]) == {3: "m1", 5: "m2", 7: "m3"}
    assert list(assign_member_tones(range(8)).values()).count(OTHERS_TONE) == 3


@pytest.fixture
def bars() -> BarChart:
    return build_bar_chart(
        [PRIYA, ELSEWHERE], [day("19", _1=7), day("20", _1=4, outside=2)], "Spend"
    )


def test_bars_are_a_picture_with_a_sentence_and_a_table(bars: BarChart) -> None:
    context = {"chart": bars, "id": "spend", "says": "13 cr", "head": "Day", "title": "Spend"}
    drawn = render_to_string("components/chart_bars.html", context)
    assert 'role="img"' in drawn
    assert 'aria-label="Spend"' in drawn
    assert "style=" not in drawn
    table = render_to_string("components/chart_table.html", context)
    assert table.index("Fri 20 Nov") < table.index("Fri 19 Nov")


def test_a_name_is_escaped_in_a_drawing() -> None:
    mean = BarSeries("1", "<script>", "m1")
    chart = build_bar_chart([mean], [day("20", _1=1)], "")
    context = {"chart": chart, "id": "x", "says": "", "title": mean.label}
    drawn = render_to_string("components/chart_bars.html", context)
    assert "<script>" not in drawn
