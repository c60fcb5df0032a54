"""The words in a line chart touch neither the line nor each other."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations, pairwise

from dashboard.shared.charts import ChartMark, LineChart, LinePoint, build_line_chart
from dashboard.shared.charts.line import LabelBox, percent_to_px


def chart(*amounts: int, jumps: dict[int, int] | None = None) -> LineChart:
    """A month of amounts from the left to the right, with credits that came on some of its days."""
    points: list[LinePoint] = []
    marks: list[ChartMark] = []
    for number, amount in enumerate(amounts):
        x = 100 * number / (len(amounts) - 1)
        came = (jumps or {}).get(number, 0)
        points += [LinePoint(x, Decimal(amount - came))] if came else []
        points.append(LinePoint(x, Decimal(amount)))
        if came:
            marks.append(ChartMark(points[-1], "in", "", f"+{came:,}"))
    marks.append(ChartMark(points[-1], "now", "now", f"{amounts[-1]:,}"))
    return build_line_chart(points, "", marks=marks)


def boxes(line: LineChart) -> list[LabelBox]:
    return [
        LabelBox.for_label(one.label, one.label_position, one.x, one.y)
        for one in line.marks
        if one.label
    ]


def touched(line: LineChart) -> list[LabelBox]:
    places = [
        percent_to_px(*(float(n) for n in place.split()))
        for place in line.path.strip("M").split("L")
    ]
    return [
        box for box in boxes(line) if any(box.is_crossed(one, two) for one, two in pairwise(places))
    ]


def test_what_came_just_before_today_leaves_today_its_amount() -> None:
    line = chart(*[500_000] * 28, 520_000, 521_064, jumps={28: 20_000})
    assert line.marks[-1].label == "521,064"
    assert touched(line) == []
    assert not any(one.overlaps(two) for one, two in combinations(boxes(line), 2))


def test_a_rise_at_the_right_end_has_its_amount_off_the_line() -> None:
    line = chart(*range(2_000, 0, -80), 22_000, 21_500, 21_000, jumps={25: 20_000})
    assert [one.label for one in line.marks] == ["+20,000", "21,000"]
    assert touched(line) == []


def test_an_amount_without_room_is_left_to_its_title() -> None:
    line = chart(*range(3_000, 6_000, 100), jumps=dict.fromkeys(range(1, 30), 200))
    assert 1 < len(boxes(line)) < 30
    assert touched(line) == []
    assert not any(one.overlaps(two) for one, two in combinations(boxes(line), 2))


def test_the_words_of_a_threshold_stand_where_nothing_crosses_them() -> None:
    points = [
        LinePoint(0, Decimal(9_000)),
        LinePoint(45, Decimal(900)),
        LinePoint(100, Decimal(5_000)),
    ]
    rule = build_line_chart(points, "", threshold=(Decimal(1_200), "tops up under 1,200")).threshold
    assert rule is not None
    assert rule.x == 70
