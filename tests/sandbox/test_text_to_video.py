"""Clips: menus and prices, what is refused, the asset's way, and the refund."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from proxyapi.sandbox.api import resource_shapes, shapes
from proxyapi.sandbox.catalogue.engines import CLIP_ENGINES
from tests.sandbox.conftest import SandboxClient

PROMPT = "a red fox runs through deep snow"
PICTURE = "https://example.com/start.png"


def order(sandbox: SandboxClient, **wanted: object) -> dict[str, Any]:
    """Create a clip; returns its asset."""
    answer = sandbox.post("/v2/text-to-video", {"model": "brook", "prompt": PROMPT, **wanted})
    assert answer.status_code == 202, answer.text
    asset: dict[str, Any] = answer.json()["data"]["asset"]
    return asset


def asset(sandbox: SandboxClient, number: int) -> dict[str, Any]:
    found: dict[str, Any] = sandbox.get(f"/v2/text-to-video/{number}").json()["data"]["asset"]
    return found


def models(sandbox: SandboxClient) -> dict[str, Any]:
    return {it["slug"]: it for it in sandbox.get("/v2/text-to-video/models").json()["data"]}


def test_the_models_are_the_clip_engines_of_the_options(sandbox):
    answer = sandbox.get("/v2/text-to-video/models").json()
    shape = shapes.Envelope[list[resource_shapes.ModelShape]]
    shape.model_validate(answer, strict=True, extra="forbid")
    options = sandbox.get("/v2/faceless/options?only=clip_engines").json()
    engines = {it["slug"]: it for it in options["data"]["optional"]["clip_engines"]}
    for slug, model in models(sandbox).items():
        assert (model["id"], model["cost"]) == (engines.pop(slug)["id"], model["cost"])
    assert engines == {}


def test_the_menus_span_the_families_of_the_specification(sandbox):
    menus = [it["modifiers"] for it in models(sandbox).values()]
    resolutions = {value for menu in menus for value in menu["resolution"]["options"]}
    assert resolutions == {"480p", "512P", "720p", "768P", "1080p", "1080P"}
    ratios = {value for menu in menus for value in menu["aspect_ratio"]["options"]}
    assert ratios == {"16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "3:2", "2:3", "auto"}
    durations = [menu["duration"]["options"] for menu in menus]
    assert [5, 10] in durations and [5, 8, 12] in durations and list(range(1, 16)) in durations
    rates = [it["credits_per_second"] for one in models(sandbox).values() for it in one["cost"]]
    assert (min(rates), max(rates)) == (0.68, 12.16)


def test_a_range_is_shown_as_the_setting_says(sandbox):
    duration = models(sandbox)["brook"]["modifiers"]["duration"]
    assert (duration["min"], duration["max"], len(duration["options"])) == (1, 15, 15)
    sandbox.set(range_menu="min_max")
    duration = models(sandbox)["brook"]["modifiers"]["duration"]
    assert duration == {"min": 1, "max": 15, "default": 5}


def test_the_estimate_is_what_the_clip_costs_for_every_entry_of_every_model(sandbox):
    sandbox.set(rate_limit=1000)
    for engine in CLIP_ENGINES:
        menu = models(sandbox)[engine.slug]["modifiers"]
        for rate, resolution, audio in engine.prices:
            chosen = {"resolution": resolution or menu["resolution"]["default"]}
            chosen |= {"audio": audio} if audio else {}
            chosen |= {"image": PICTURE} if engine.slug == "tessera" else {}
            seconds = menu["duration"]["options"][-1]
            wanted = {"model": engine.slug, "duration": seconds, **chosen}
            asked = sandbox.get("/v2/text-to-video/estimate", params=wanted).json()
            shape = shapes.Envelope[resource_shapes.ClipPrice]
            shape.model_validate(asked, strict=True, extra="forbid")
            made = sandbox.post("/v2/text-to-video", {**wanted, "prompt": PROMPT}).json()
            exact = math.ceil(Fraction(str(rate)) * seconds)
            assert asked["data"]["cost"] == made["meta"]["credits"]["cost"] == exact
    assert sandbox.money()["balanced"]


def test_an_estimate_without_modifiers_takes_the_defaults(sandbox):
    data = sandbox.get("/v2/text-to-video/estimate?model=kestrel-voice").json()["data"]
    assert data["modifiers"] == {
        "duration": 5, "resolution": "720p", "aspect_ratio": "16:9", "audio": "on",
    }  # fmt: skip
    assert (data["cost"], data["credits_per_second"]) == (21, 4.08)
    sandbox.set(clip_rounding="nearest")
    assert (
        sandbox.get("/v2/text-to-video/estimate?model=kestrel-voice").json()["data"]["cost"] == 20
    )


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"model": "sora"}, "model"),
        ({"model": None}, "model"),
        ({"prompt": "only four words here"}, "prompt"),
        ({"prompt": "word " * 1501}, "prompt"),
        ({"duration": 16}, "duration"),
        ({"duration": "5"}, "duration"),
        ({"duration": 5.5}, "duration"),
        ({"model": "marlow-02", "duration": 7}, "duration"),
        ({"model": "marlow-02", "resolution": "768p"}, "resolution"),
        ({"resolution": "4k"}, "resolution"),
        ({"aspect_ratio": "Landscape"}, "aspect_ratio"),
        ({"audio": True}, "audio"),
        ({"audio": "on"}, "audio"),
        ({"model": "kestrel-voice", "resolution": "1080p", "audio": "off"}, "resolution"),
        ({"last_frame": PICTURE}, "last_frame"),
        ({"first_frame": "frame.png"}, "first_frame"),
        ({"model": "tessera"}, "image"),
        ({"modifiers": {"duration": 99}}, "duration"),
    ],
)
def test_what_the_menu_does_not_have_is_422_and_costs_nothing(sandbox, wanted, field):
    answer = sandbox.post("/v2/text-to-video", {"model": "brook", "prompt": PROMPT, **wanted})
    assert answer.status_code == 422
    assert [name.removeprefix("modifiers.") for name in answer.json()["errors"]] == [field]
    assert sandbox.money()["ledger_sum"] == 0


def test_five_and_fifteen_hundred_words_are_enough_and_not_too_many(sandbox):
    order(sandbox, prompt="one two three four five")
    order(sandbox, prompt="word " * 1500)
    order(sandbox, prompt="electroencephalographically " * 1500)


def test_an_estimate_takes_the_modifiers_that_create_takes(sandbox):
    nested = {"duration": 10, "aspect_ratio": "3:4"}
    query = {"model": "brook", "duration": 9}
    query |= {f"modifiers[{name}]": value for name, value in nested.items()}
    asked = sandbox.get("/v2/text-to-video/estimate", params=query).json()["data"]
    made = order(sandbox, modifiers=nested, duration=9)
    assert asked["modifiers"] == made["modifiers"]
    assert -asked["cost"] == sandbox.money()["ledger_sum"]
    alone = sandbox.get("/v2/text-to-video/estimate?model=brook&modifiers[duration]=10")
    assert alone.json()["data"]["modifiers"]["duration"] == 10
    for wrong in ("first_frame=abc", "modifiers[first_frame]=abc"):
        answer = sandbox.get(f"/v2/text-to-video/estimate?model=brook&{wrong}")
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["first_frame"])


def test_modifiers_stand_beside_the_prompt_or_together(sandbox):
    nested = order(sandbox, modifiers={"duration": 7, "aspect_ratio": "3:4"}, duration=9)
    assert nested["modifiers"] == {"duration": 9, "resolution": "480p", "aspect_ratio": "3:4"}


def test_a_clip_goes_from_draft_over_processing_to_success(sandbox):
    made = order(sandbox, first_frame=PICTURE)
    assert (made["status"], made["url"], made["failure"]) == ("draft", None, None)
    seen = []
    for _ in range(6):
        seen.append(asset(sandbox, made["id"])["status"])
        sandbox.advance(2.01)
    assert seen == ["draft", *["processing"] * 4, "success"]
    done = sandbox.get(f"/v2/text-to-video/{made['id']}").json()
    shape = shapes.Envelope[resource_shapes.ClipData]
    shape.model_validate(done, strict=True, extra="forbid")
    film = sandbox.get(done["data"]["asset"]["url"], headers={"Range": "bytes=2-5"})
    assert (film.status_code, film.headers["content-type"]) == (206, "video/mp4")
    assert sandbox.maker.films[-1] | {"seed": 0} == {
        "kind": "clips", "prompt": PROMPT, "seconds": 5, "aspect_ratio": "16:9",
        "resolution": "480p", "audio": False, "seed": 0, "first": None, "last": None,
    }  # fmt: skip


def fail(sandbox: SandboxClient) -> int:
    failure = {"code": "MODERATED", "message": "The prompt was refused."}
    outcome = {"kind": "text-to-video", "statuses": ["draft", "failed"], "failure": failure}
    sandbox.post("/_sandbox/outcomes", outcome)
    number: int = order(sandbox)["id"]
    sandbox.advance(30)
    return number


def test_a_failure_is_reported_and_its_credits_come_back_once(sandbox):
    number = fail(sandbox)
    assert asset(sandbox, number)["status"] == "failed"
    assert asset(sandbox, number)["failure"]["code"] == "MODERATED"
    sandbox.set(clip_failure_shape="text")
    assert asset(sandbox, number)["failure"] == "The prompt was refused."
    sandbox.advance(1000)
    money = sandbox.money()
    assert (money["balance"], money["balanced"], len(money["refunds"])) == (1000, True, 1)
    rows = sandbox.get("/v2/credits/history?source=api").json()["data"]
    assert [(row["credit_spend"], row["transaction_type"]) for row in rows] == [
        ("6", "Refund"), ("-6", "Debit"),
    ]  # fmt: skip


def test_a_refund_may_come_later_than_the_failure(sandbox):
    sandbox.set(clip_refund_seconds=600)
    fail(sandbox)
    assert sandbox.money()["balance"] == 994
    sandbox.world.store.close()
    sandbox.start()
    sandbox.advance(590)
    assert sandbox.money()["balance"] == 994
    sandbox.advance(20)
    assert (sandbox.money()["balance"], sandbox.money()["balanced"]) == (1000, True)


def test_a_clip_that_cannot_be_made_fails_and_is_paid_back(sandbox):
    sandbox.maker.error = "no disk"
    number = order(sandbox)["id"]
    sandbox.advance(30)
    assert asset(sandbox, number)["status"] == "failed"
    assert sandbox.money()["balance"] == 1000


def test_a_clip_that_costs_more_than_there_is_says_what_it_needs(sandbox):
    sandbox.reset("low_credits")
    wanted = {"model": "halden-max", "prompt": PROMPT, "duration": 8}
    answer = sandbox.post("/v2/text-to-video", wanted)
    assert answer.status_code == 402
    error = answer.json()["error"]
    assert (error["code"], error["required"], error["available"]) == ("INSUFFICIENT-CREDITS", 98, 6)


def test_a_clip_belongs_to_its_account(sandbox):
    number = order(sandbox)["id"]
    sandbox.token = sandbox.post("/_sandbox/accounts", {"name": "Otto"}).json()["token"]
    assert sandbox.get(f"/v2/text-to-video/{number}").status_code == 404
    assert sandbox.get("/v2/text-to-video/nonsense").status_code == 404
