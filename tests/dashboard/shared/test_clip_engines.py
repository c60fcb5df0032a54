"""Clip engines: prices and menus as the service may send them, and the nearest lower price
(pitfalls 107, 108 and 112)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from dashboard.shared.clip_engines import ClipEngine, find_nearest_lower, parse_clip_engines
from dashboard.shared.video_options import parse_faceless_options


def engine(cost: Any, model: dict[str, Any] | None = None, **item: Any) -> ClipEngine:
    options = [{"id": 5, "name": "Kite", "slug": "kite", "cost": cost, **item}]
    models = [{"slug": "kite", **model}] if model else []
    return parse_clip_engines(options, models)[0]


def menus(**values: Any) -> dict[str, Any]:
    return {"modifiers": {name: {"options": listed} for name, listed in values.items()}}


def rate(credits: Any, **of: str) -> dict[str, Any]:
    return {"credits_per_second": credits, **of}


def offered(one: ClipEngine) -> dict[str, str]:
    return {value: f"{offer.credits_per_second:f}" for value, offer in one.offered.items()}


def test_only_combinations_with_a_price_are_offered() -> None:
    cost = [
        rate("2.72", resolution="720p", audio="off"),
        rate("4.08", resolution="720p", audio="on"),
        rate("5.44", resolution="1080p", audio="on"),
    ]
    kite = engine(cost, menus(resolution=["1080p", "720p"], audio=["on", "off"]))
    assert (kite.resolutions, kite.sounds) == (("720p", "1080p"), ("off", "on"))
    assert offered(kite) == {"720p/off": "2.72", "720p/on": "4.08", "1080p/on": "5.44"}
    assert [one.value for one in kite.combinations if one.value not in kite.offered] == [
        "1080p/off"
    ]


def test_pitfall_a_value_is_compared_by_its_exact_spelling() -> None:
    kite = engine([rate("1.53", resolution="512P")], menus(resolution=["512p"]))
    assert kite.offered == {}
    assert engine([rate("1.53", resolution="512P")], menus(resolution=["512P"])).offered


def test_an_entry_without_resolution_or_audio_applies_to_all_of_them() -> None:
    cost = [rate("6.8", audio="off"), rate("10.2", audio="on"), rate(7, resolution="1080p")]
    kite = engine(cost, menus(resolution=["720p", "1080p"], audio=["off", "on"]))
    assert offered(kite)["720p/off"] == "6.8"
    assert engine([rate("0.68")], menus(resolution=["480p"])).offered.keys() == {"480p/"}


def test_a_more_specific_entry_applies_before_a_general_one() -> None:
    cost = [rate(2), rate(3, resolution="720p"), rate(5, resolution="720p", audio="on")]
    kite = engine(cost, menus(resolution=["480p", "720p"], audio=["off", "on"]))
    assert offered(kite) == {"480p/off": "2", "720p/off": "3", "480p/on": "2", "720p/on": "5"}


def test_without_models_the_prices_name_the_values() -> None:
    kite = engine([rate(1, resolution="480p"), rate(2, resolution="720p")])
    assert (kite.resolutions, kite.is_in_plan, kite.aspect_ratios) == (("480p", "720p"), True, ())
    assert kite.makes_ratio("4:5")


def test_an_engine_without_a_model_is_not_in_the_plan() -> None:
    found = parse_clip_engines([{"id": 5, "slug": "kite", "cost": []}], [{"slug": "other"}])
    assert [one.is_in_plan for one in found] == [False]


@pytest.mark.parametrize(
    ("menu", "text"),
    [
        ({"options": [4, 6, 8]}, "4, 6 or 8 s a clip"),
        ({"options": [5, 10]}, "5 or 10 s a clip"),
        ([5], "5 s a clip"),
        ({"min": 1, "max": 15}, "1 to 15 s a clip"),
        ({"options": [2, 3, 4, 5]}, "2 to 5 s a clip"),
        ({"min": 9, "max": 2}, ""),
        ({"min": "x"}, ""),
        (None, ""),
    ],
)
def test_the_lengths_of_clips_are_shown(menu: Any, text: str) -> None:
    assert engine([], {"modifiers": {"duration": menu}}).lengths_text == text


@pytest.mark.parametrize(
    "broken",
    [None, 3, "x", [None, 4, {}], [rate(None)], [rate("much")], [rate(-2)], [rate(True)]],
)
def test_unreadable_prices_offer_nothing(broken: Any) -> None:
    assert engine(broken).offered == {}


@pytest.mark.parametrize("models", [None, {"a": 1}, ["x"], [{"slug": None, "modifiers": 4}], "no"])
def test_unreadable_models_leave_the_prices(models: Any) -> None:
    found = parse_clip_engines([{"id": 5, "slug": "kite", "cost": [rate(2)]}], models)
    assert offered(found[0]) == {"/": "2"}


def test_the_options_have_the_values_of_all_engines() -> None:
    groups = {"clip_engines": [{"id": 5, "slug": "kite", "cost": [rate(1, resolution="512P")]}]}
    options = parse_faceless_options({"optional": groups}, [])
    assert [choice.value for choice in options.choices("resolution")] == ["512P"]
    assert options.choices("audio") == ()


@pytest.mark.parametrize(
    ("own", "price", "value"),
    [
        ("5", "4.5", "b/"),  # of the same engine, the nearest below
        ("5", "1", "a/"),  # none below: the lowest of the same engine
        ("7", "4.5", "b/"),  # the engine is gone: of any engine
        ("7", None, None),  # nothing to compare with
        ("5", None, "a/"),
    ],
)
def test_the_nearest_lower_price_is_found(own: str, price: str | None, value: str | None) -> None:
    kite = engine([rate(n, resolution=r) for n, r in ((2, "a"), (4, "b"), (9, "c"))])
    found = find_nearest_lower([kite], own, Decimal(price) if price else None)
    assert (found[1].value if found else None) == value
