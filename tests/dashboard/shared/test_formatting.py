"""Amounts, spans and states as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.forms import CharField, ChoiceField, Form, Textarea
from django.template import Context, Template, TemplateSyntaxError
from django.template.loader import render_to_string

from dashboard.shared.formatting import (
    clock,
    credits,
    day,
    duration,
    money,
    percent,
    seconds,
    share_of,
    unit_price,
)
from dashboard.templatetags.reelroom import (
    GLYPH_STATES,
    TINT_COUNT,
    amount,
    glyph,
    tint,
    toast_state,
)
from proxyapi.models.credit_price import CreditPrice

NOW = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("96.0000"), "96"),
        (Decimal("0.5"), "0.5"),
        (Decimal("1204.25"), "1,204.25"),
        (Decimal(100), "100"),
        (Decimal("1E+4"), "10,000"),
        (Decimal(-96), "\N{MINUS SIGN}96"),
        (Decimal("-0.0"), "0"),
        (0, "0"),
        (None, ""),
        ("", ""),
    ],
)
def test_credits_are_never_rounded(value: Decimal | int | str | None, text: str) -> None:
    assert credits(value) == text


@pytest.mark.parametrize(
    ("value", "price", "text"),
    [
        ("992", ("0.0125", "EUR"), "≈ €12.40"),
        ("1", ("0.005", "USD"), "≈ $0.01"),  # half-up, not to the even cent
        ("1", ("0.004999", "USD"), "≈ $0.00"),
        ("-1", ("0.005", "GBP"), "≈ \N{MINUS SIGN}£0.01"),
        ("120000.5", ("0.01", "CHF"), "≈ CHF\N{NO-BREAK SPACE}1,200.01"),
        ("3", ("1", "SEK"), "≈ SEK\N{NO-BREAK SPACE}3.00"),
        (None, ("1", "EUR"), ""),
        ("3", None, ""),
    ],
)
def test_credits_in_money_have_two_decimal_places(
    value: str | None, price: tuple[str, str] | None, text: str
) -> None:
    amount = None if value is None else Decimal(value)
    of_credit = CreditPrice(Decimal(price[0]), price[1]) if price else None
    assert money(amount, of_credit) == text


def test_the_price_of_a_credit_is_not_rounded() -> None:
    assert unit_price(CreditPrice(Decimal("0.012500"), "EUR")) == "€0.0125"
    assert unit_price(CreditPrice(Decimal("0.000001"), "CHF")) == "CHF\N{NO-BREAK SPACE}0.000001"
    assert unit_price(CreditPrice(Decimal(2), "USD")) == "$2.00"


@pytest.mark.parametrize(
    ("value", "is_", "text"),
    [
        (96, "exact", "96 cr"),
        (96, "about", "≈ 96 cr"),
        (106, "held", "106 cr"),
        (42, "unknown", "0 or 42 cr"),
        (2000, "in", "+2,000 cr"),
        (96, "out", "\N{MINUS SIGN}96 cr"),
        (-96, "out", "\N{MINUS SIGN}96 cr"),
        (0, "free", "free"),
    ],
)
def test_the_form_of_an_amount_says_how_sure_it_is(value: int, is_: str, text: str) -> None:
    html = amount(Decimal(value), is_)
    assert html.replace('<abbr title="credits">cr</abbr>', "cr").split(">")[1] == f"{text}</data"
    assert (f'data-is="{is_}"' in html) == (is_ != "exact")


def test_an_amount_can_be_copied_as_a_number() -> None:
    assert 'value="1204.25"' in amount(Decimal("1204.2500"))
    assert 'value=""' in amount(42, "unknown")


def test_a_table_leaves_the_unit_to_its_head() -> None:
    assert "abbr" not in amount(42, unit=False)


def test_without_an_amount_there_is_nothing() -> None:
    assert amount(None) == ""


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (0, "0 s"),
        (40, "40 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (112, "1 min 52 s"),
        (365, "6 min 05 s"),
        (7500, "2 h 05 min"),
        (3600, "1 h"),
        (timedelta(seconds=252), "4 min 12 s"),
        (-3, "0 s"),
        (None, ""),
    ],
)
def test_a_span_is_said_in_two_units_at_most(span: float | None, text: str) -> None:
    assert duration(span) == text


@pytest.mark.parametrize(
    ("moment", "time", "date"),
    [
        (NOW - timedelta(minutes=9), "14:21", "today"),
        (NOW - timedelta(days=2), "18 Nov 14:30", "18 Nov"),
        (NOW - timedelta(days=730), "20 Nov 2024 14:30", "20 Nov 2024"),
        (None, "", ""),
    ],
)
def test_a_moment_has_its_day_unless_it_is_today(
    moment: datetime | None, time: str, date: str
) -> None:
    with time_machine.travel(NOW, tick=False):
        assert (clock(moment), day(moment)) == (time, date)


@pytest.mark.parametrize("state", sorted(GLYPH_STATES))
def test_every_state_has_its_own_shape(state: str) -> None:
    assert f'href="#g-{state}"' in glyph(state)
    assert f'id="g-{state}"' in render_to_string("components/glyphs.html")


def test_a_state_without_a_shape_is_a_mistake() -> None:
    with pytest.raises(TemplateSyntaxError):
        glyph("syncing")


def test_the_ground_of_a_picture_has_a_tint_that_stays_with_it() -> None:
    urls = [f"/videos/{number}/media/" for number in range(60)]
    tints = {tint(url) for url in urls}
    assert tints == {f' data-tint="{number}"' for number in range(TINT_COUNT)}
    assert tint(f"{urls[7]}?still&v=2#t=0.5") == tint(urls[7])
    assert tint("") == ""
    tokens = Path(settings.BASE_DIR, "static/css/tokens.css").read_text()
    assert all(f"--tint-{number}:" in tokens for number in range(TINT_COUNT))


def test_lengths_stay_on_the_drawing() -> None:
    assert [percent(value) for value in (46.7, 0, 120, -1, None)] == [
        "46.7%", "0%", "100%", "0%", "0%",
    ]  # fmt: skip
    assert (share_of(4, 12), share_of(0, 0), share_of(3, None)) == (25, 0, 100)
    assert seconds(None) == 0


def test_only_what_was_done_leaves_by_itself() -> None:
    levels = ("success", "info", "warning", "error", "")
    assert [toast_state(level) for level in levels] == ["good", "info", "late", "failed", "info"]


def test_a_button_with_a_price_says_it_behind_its_label() -> None:
    html = render_to_string("components/button.html", {"label": "Retry", "price": Decimal(96)})
    assert '<span>Retry</span><span class="btn__price">≈ 96 cr</span>' in html
    assert "btn__price" not in render_to_string("components/button.html", {"label": "Save"})


def test_fresh_values_count_up_and_hidden_ones_do_not() -> None:
    html = render_to_string("components/freshness.html", {"since": 4, "next": 9})
    assert 'data-since="4" data-next="9"' in html
    assert "next check in 9 s" in html
    away = render_to_string("components/freshness.html", {"text": "Last seen 40 s ago."})
    assert 'data-state="paused"' in away
    assert "data-since" not in away


class Draft(Form):
    title = CharField(help_text="What it is about.")
    script = CharField(widget=Textarea)
    length = ChoiceField(choices=[("1", "1 minute")])


def test_a_field_points_at_its_error_and_keeps_its_help_for_readers() -> None:
    html = Draft({"title": ""})["title"].as_field_group()
    assert 'aria-describedby="id_title_helptext id_title_error"' in html
    assert 'class="field__error" id="id_title_error"' in html
    assert 'id="id_title_helptext"' in html


def test_a_field_shows_its_limit_at_the_end_of_the_label() -> None:
    form: Any = Draft()
    form.fields["script"].limit = "212 of 1,500 words"
    assert "<small" in form["script"].as_field_group()
    assert 'class="input-box input-box--select"' in form["length"].as_field_group()


def test_the_navigation_marks_where_one_is() -> None:
    assert Template('{% here "library" %}').render(Context()) == ""
