"""Render: every precondition in the spec's order, before any charge; then the way to a film."""

from __future__ import annotations

import pytest

from proxyapi.models.duration_class import WORDS_PER_SECOND, count_words
from tests.sandbox.conftest import READY_SETTINGS

PRECONDITIONS = [
    ({"script": None}, 403, "script is required"),
    ({"script": "  "}, 403, "script is required"),
    ({"voice_id": None}, 403, "Voice was not provided"),
    ({"voice_id": 99}, 403, "Voice not found"),
    ({"genre_id": None}, 422, "genre is required"),
]


@pytest.mark.parametrize(("missing", "status", "words"), PRECONDITIONS)
def test_a_missing_precondition_refuses_the_render_and_charges_nothing(
    sandbox, missing, status, words
):
    number = sandbox.draft(**{**READY_SETTINGS, **missing})
    answer = sandbox.post(f"/v2/faceless/{number}/render")
    assert answer.status_code == status
    assert words in answer.json()["message"]
    if status == 422:
        assert list(answer.json()["errors"]) == ["genre_id"]
    else:
        assert answer.json()["error"]["code"] == "GEN-FORBIDDEN"
    assert sandbox.money()["charges"] == {}
    assert sandbox.video(number)["status"] == "draft"


@pytest.mark.parametrize("settings", ["error", "top_level", "both"])
def test_too_few_credits_are_402_with_required_and_available(sandbox, settings):
    sandbox.reset("low_credits")
    sandbox.set(insufficient_credits_place=settings)
    answer = sandbox.post(f"/v2/faceless/{sandbox.draft(**READY_SETTINGS)}/render")
    body = answer.json()
    assert (answer.status_code, body["error"]["code"]) == (402, "INSUFFICIENT-CREDITS")
    places = {"error": [body["error"]], "top_level": [body], "both": [body, body["error"]]}
    for place in places[settings]:
        assert (place["required"], place["available"]) == (10, 6)
    assert ("required" in body) == (settings != "error")


def test_the_preconditions_are_checked_in_the_order_of_the_spec(sandbox):
    sandbox.reset("low_credits")
    number = sandbox.draft(type="url-based")
    seen = [sandbox.post(f"/v2/faceless/{number}/render").json()["message"]]
    for change in ({"script": "One."}, {"voice_id": 99}, {"voice_id": 2114}):
        sandbox.patch(f"/v2/faceless/{number}", change)
        seen.append(sandbox.post(f"/v2/faceless/{number}/render").json()["message"])
    (account,) = sandbox.get("/_sandbox/accounts").json()
    sandbox.patch(f"/_sandbox/accounts/{account['account_id']}", {"credits": 50})
    last = sandbox.post(f"/v2/faceless/{number}/render")
    words = [message.split()[0:2] for message in seen]
    assert words == [["A", "script"], ["Voice", "was"], ["Voice", "not"], ["You", "do"]]
    assert (last.status_code, list(last.json()["errors"])) == (422, ["assets"])


def test_a_render_goes_through_rendering_and_syncing_to_a_playable_film(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    started = sandbox.post(f"/v2/faceless/{number}/render")
    assert started.status_code == 202
    assert started.json()["meta"]["credits"] == {"cost": 10, "remaining": 990}
    seen = []
    for _ in range(8):
        seen.append(sandbox.video(number)["status"])
        sandbox.advance(0.9)
    assert seen == ["rendering"] * 6 + ["syncing"] + ["completed"]
    url = sandbox.video(number)["url"]
    part = sandbox.get(url, headers={"Range": "bytes=4-7"})
    assert (part.status_code, part.content) == (206, bytes([4, 5, 6, 7]))
    assert part.headers["content-type"] == "video/mp4"
    assert sandbox.maker.films[0]["genre"] == "cinematic"


def test_a_busy_video_is_not_rendered_twice(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    again = sandbox.post(f"/v2/faceless/{number}/render")
    assert again.status_code == 403
    assert "processing currently" in again.json()["message"]
    assert sandbox.money()["balance"] == 990


def test_a_video_is_not_completed_before_its_film_is_made(sandbox):
    sandbox.maker.waits = True
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.advance(3600)
    assert sandbox.video(number) == {"status": "syncing", "url": None, "failure": None}
    sandbox.maker.go_on()
    assert sandbox.video(number)["status"] == "completed"


def test_a_film_that_cannot_be_made_fails_the_video(sandbox):
    sandbox.maker.error = "no codec"
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.advance(60)
    failure = sandbox.video(number)["failure"]
    assert failure == {"code": "RENDER-FAILED", "message": "no codec"}


def test_a_failed_video_is_retried_and_charged_again_and_only_a_failed_one(sandbox):
    failure = {"code": "ENGINE-DOWN", "message": "The image engine did not answer."}
    statuses = ["rendering", "failed"]
    sandbox.post("/_sandbox/outcomes", {"statuses": statuses, "failure": failure})
    number = sandbox.draft(**READY_SETTINGS)
    assert sandbox.post(f"/v2/faceless/{number}/retry").status_code == 403
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.advance(60)
    assert sandbox.video(number) == {"status": "failed", "url": None, "failure": failure}
    retried = sandbox.post(f"/v2/faceless/{number}/retry")
    assert (retried.status_code, retried.json()["meta"]["credits"]["remaining"]) == (202, 980)
    sandbox.advance(60)
    assert sandbox.video(number)["status"] == "completed"
    assert sandbox.post(f"/v2/faceless/{number}/retry").status_code == 403
    assert len(sandbox.money()["charges"][f"faceless:{number}"]) == 2


def test_a_failed_render_keeps_its_credits_unless_the_setting_gives_them_back(sandbox):
    for refunds, balance in ((False, 990), (True, 990)):
        sandbox.set(failed_render_refunds=refunds)
        sandbox.post("/_sandbox/outcomes", {"statuses": ["failed"]})
        number = sandbox.draft(**READY_SETTINGS)
        sandbox.post(f"/v2/faceless/{number}/render")
        sandbox.advance(60)
        assert sandbox.video(number)["status"] == "failed"
        assert sandbox.money()["balance"] == balance
    history = sandbox.get("/v2/credits/history?order=ASC").json()["data"]
    assert [row["credit_spend"] for row in history] == ["-10", "-10", "10"]
    assert history[-1]["transaction_type"] == "Refund"


def test_a_scripted_outcome_may_use_words_that_the_spec_does_not_know(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    statuses = ["queued", "pondering", "rendering", "completed"]
    sandbox.post("/_sandbox/outcomes", {"id": number, "statuses": statuses})
    sandbox.post(f"/v2/faceless/{number}/render")
    seen = []
    for _ in range(4):
        seen.append(sandbox.video(number)["status"])
        sandbox.advance(2.1)
    assert seen == statuses


def test_an_outcome_reaches_a_render_that_is_already_running(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.post("/_sandbox/outcomes", {"id": number, "statuses": ["syncing", "failed"]})
    assert sandbox.video(number)["status"] == "syncing"
    sandbox.advance(60)
    assert sandbox.video(number)["failure"]["code"] == "RENDER-FAILED"


def test_an_export_makes_another_cut_and_leaves_the_video_as_it_is(sandbox):
    number = sandbox.rendered()
    sandbox.set(costs={"faceless_export": {"credits": 5}})
    first = sandbox.video(number)
    started = sandbox.post(f"/v2/faceless/{number}/export", {"font": "mono", "captions": False})
    assert (started.status_code, started.json()["meta"]["credits"]["cost"]) == (202, 5)
    assert sandbox.video(number) == first
    sandbox.advance(60)
    (export,) = sandbox.get(f"/v2/faceless/{number}").json()["data"]["exports"]
    assert export["status"] == "completed"
    assert export["url"] != first["url"]
    assert sandbox.maker.films[-1]["font"] == "mono"
    assert sandbox.maker.films[-1]["captioned"] is False


def test_only_a_completed_video_is_exported(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    assert sandbox.post(f"/v2/faceless/{number}/export", {}).status_code == 403
    assert sandbox.money()["charges"] == {}


def test_the_estimate_is_near_the_charge_and_always_the_same_for_one_video(sandbox):
    script = "word " * 1510
    number = sandbox.draft(**{**READY_SETTINGS, "image_engine_id": 17, "script": script})
    shown = [sandbox.get(f"/v2/faceless/{number}/estimate").json()["data"] for _ in range(2)]
    assert shown[0] == shown[1]
    assert shown[0]["available"] == 1000
    cost = sandbox.post(f"/v2/faceless/{number}/render").json()["meta"]["credits"]["cost"]
    assert cost == 1000
    assert abs(shown[0]["cost"] - cost) <= cost * 0.08 + 1


SPOKEN = [
    ("one two three, four - five " * 20, 40),
    ("冰川像一条缓慢的河流。" * 20, 40),
    ("氷河はゆっくり動きます。" * 20, 44),
    ("ธารน้ำแข็งเคลื่อนที่" * 20, 36),
]


@pytest.mark.parametrize(("script", "seconds"), SPOKEN)
def test_a_script_without_spaces_is_as_long_as_the_portal_says(sandbox, script, seconds):
    number = sandbox.draft(**{**READY_SETTINGS, "script": script})
    told = sandbox.get(f"/v2/faceless/{number}/estimate").json()["data"]["duration"]
    assert told == round(count_words(script) / WORDS_PER_SECOND)
    assert abs(told - seconds) <= 8


def test_each_part_of_a_script_without_spaces_is_a_scene(sandbox):
    script = "冰川像一条缓慢的河流，它每年都在移动。" * 10
    number = sandbox.draft(**{**READY_SETTINGS, "script": script})
    sandbox.post(f"/v2/faceless/{number}/render")
    scenes = sandbox.get(f"/v2/faceless/{number}").json()["data"]["assets"]
    assert 3 <= len(scenes) <= 10


def test_a_media_address_runs_out_when_it_has_a_life(sandbox):
    sandbox.set(media_url_seconds=60)
    number = sandbox.rendered()
    url = sandbox.video(number)["url"]
    assert sandbox.get(url).status_code == 200
    for wrong in ("signature=0", "signature=é"):
        assert sandbox.get(url.replace("signature=", wrong)).status_code == 404
    assert sandbox.get(url.partition("?")[0]).status_code == 404
    sandbox.advance(61)
    assert sandbox.get(url).status_code == 404
    assert sandbox.get(sandbox.video(number)["url"]).status_code == 200


def test_plain_films_are_short_and_made_at_once(sandbox):
    sandbox.set(films="plain")
    number = sandbox.rendered()
    film = sandbox.get(sandbox.video(number)["url"])
    assert (film.content[4:8], sandbox.maker.films) == (b"ftyp", [])
    assert len(film.content) < 100_000


@pytest.mark.parametrize("kind", ["b-roll", "ai-clips"])
def test_a_video_without_pictures_of_its_own_has_a_thumbnail(sandbox, kind):
    number = sandbox.draft(**READY_SETTINGS, type=kind)
    sandbox.post(f"/v2/faceless/{number}/render")
    assert "thumbnail_url" not in sandbox.video(number)
    sandbox.advance(60)
    url = sandbox.video(number)["thumbnail_url"]
    assert sandbox.get(url).status_code == 200
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.advance(60)
    assert sandbox.video(number)["thumbnail_url"] != url
    assert sandbox.get(url).status_code == 404


def test_a_videos_first_scene_stands_for_it(sandbox):
    assert "thumbnail_url" not in sandbox.video(sandbox.rendered())
