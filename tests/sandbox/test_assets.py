"""Own media and re-rolled scene images of an ai-visuals video."""

from __future__ import annotations

import pytest

from tests.sandbox.conftest import READY_SETTINGS
from tests.sandbox.web_server import PNG, PageServer

SCRIPT = "The sea is salty and deep. " * 12
HONEY = "https://garden.example.org/media/honey.jpg"


@pytest.fixture
def video_path(sandbox):
    """The path of an ai-visuals video, rendered once."""
    sandbox.set(rate_limit=1000)
    number = sandbox.draft(**{**READY_SETTINGS, "script": SCRIPT})
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.advance(60)
    return f"/v2/ai-visuals/{number}"


def assets(sandbox, path):
    return sandbox.get(path).json()["data"]["assets"]


def drawn(sandbox, asset):
    """What the maker was told of a picture that is looked at."""
    assert sandbox.get(asset["url"]).status_code == 200
    return sandbox.maker.films[-1]


def test_a_render_lays_out_the_scene_images(sandbox, video_path):
    found = assets(sandbox, video_path)
    assert len(found) > 2
    assert {it["source"] for it in found} == {"generated"}
    assert " ".join(it["text"] for it in found) == SCRIPT.strip()
    picture = sandbox.get(found[0]["url"])
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/jpeg")


def test_the_same_script_keeps_its_images_and_another_does_not(sandbox, video_path):
    before = assets(sandbox, video_path)
    sandbox.post(f"{video_path}/render")
    sandbox.advance(60)
    assert assets(sandbox, video_path) == before
    assert sandbox.get(before[0]["url"]).status_code == 200
    sandbox.patch(video_path, {"script": "Another one."})
    sandbox.post(f"{video_path}/render")
    (only,) = assets(sandbox, video_path)
    assert only["text"] == "Another one."
    assert sandbox.get(before[0]["url"]).status_code == 404


def test_a_regenerated_image_is_another_one_and_is_seen_in_the_next_film(sandbox, video_path):
    before = assets(sandbox, video_path)
    answer = sandbox.post(f"{video_path}/assets/{before[1]['id']}/regenerate")
    assert answer.status_code == 200
    after = answer.json()["data"]["assets"]
    assert [a["url"] == b["url"] for a, b in zip(before, after, strict=True)][:3] == [
        True,
        False,
        True,
    ]
    assert after[1]["id"] == before[1]["id"]
    sandbox.post(f"{video_path}/render")
    film = sandbox.maker.films[-1]
    assert (film["manner"], [it["roll"] for it in film["pictures"]][:3]) == ("scenes", [0, 1, 0])


@pytest.mark.parametrize("look", [{"genre_id": 42}, {"aspect_ratio": "9:16"}])
def test_another_style_redraws_the_same_scenes_and_a_re_rolled_one_stays_so(
    sandbox, video_path, look
):
    number = assets(sandbox, video_path)[1]["id"]
    sandbox.post(f"{video_path}/assets/{number}/regenerate")
    before = assets(sandbox, video_path)
    was = drawn(sandbox, before[1])
    sandbox.patch(video_path, look)
    sandbox.post(f"{video_path}/render")
    after = assets(sandbox, video_path)
    assert [it["id"] for it in after] == [it["id"] for it in before]
    assert {it["url"] for it in after}.isdisjoint(it["url"] for it in before)
    assert sandbox.get(before[1]["url"]).status_code == 404
    shown = drawn(sandbox, after[1])
    assert (shown["seed"], shown["text"]) == (was["seed"], was["text"])
    assert shown["seed"] == number * 7 + 1
    changed = {name for name in shown if shown[name] != was[name]}
    assert changed == {"genre"} if "genre_id" in look else {"aspect_ratio"}


def test_regeneration_is_free_five_times_and_then_charges(sandbox, video_path):
    number = assets(sandbox, video_path)[0]["id"]
    path = f"{video_path}/assets/{number}/regenerate"
    costs = [sandbox.post(path).json()["meta"]["credits"]["cost"] for _ in range(7)]
    assert costs == [0] * 5 + [2, 2]
    money = sandbox.money()
    assert money["balanced"]
    history = sandbox.get("/v2/credits/history").json()["data"]
    assert [row["label"] for row in history][:2] == ["Scene image", "Scene image"]


def test_regeneration_needs_credits_a_generated_image_and_a_video_that_rests(sandbox, video_path):
    sandbox.set(costs={"ai_image_regenerated": {"credits": 5000}})
    number = assets(sandbox, video_path)[0]["id"]
    assert sandbox.post(f"{video_path}/assets/{number}/regenerate").status_code == 402
    sandbox.post(f"{video_path}/assets/upload", {"url": HONEY})
    own = assets(sandbox, video_path)[-1]["id"]
    answer = sandbox.post(f"{video_path}/assets/{own}/regenerate")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["asset"])
    sandbox.post(f"{video_path}/render")
    assert sandbox.post(f"{video_path}/assets/{number}/regenerate").status_code == 403
    for gone in (1, "x", "0"):
        assert sandbox.post(f"{video_path}/assets/{gone}/regenerate").status_code == 404


def test_an_asset_of_another_video_or_account_is_not_found(sandbox, video_path):
    number = assets(sandbox, video_path)[0]["id"]
    other = sandbox.draft(**READY_SETTINGS)
    assert sandbox.post(f"/v2/ai-visuals/{other}/assets/{number}/regenerate").status_code == 404
    stranger = sandbox.post("/_sandbox/accounts", {"name": "Otto", "email": "o@example.com"})
    sandbox.token = stranger.json()["token"]
    assert sandbox.post(f"{video_path}/assets/{number}/regenerate").status_code == 404
    assert sandbox.post(f"{video_path}/assets/upload", {"url": HONEY}).status_code == 404


def test_own_media_comes_as_a_file(sandbox, video_path):
    files = {"file": ("sea.png", PNG, "image/png")}
    answer = sandbox.call("POST", f"{video_path}/assets/upload", files=files)
    assert answer.status_code == 201
    own = answer.json()["data"]["assets"][-1]
    assert (own["source"], own["type"], own["source_url"]) == ("uploaded", "image", None)
    assert sandbox.get(own["url"]).content == PNG
    sandbox.post(f"{video_path}/render")
    assert "file" in sandbox.maker.films[-1]["pictures"][-1]


def test_own_media_comes_as_an_address_in_json_or_a_form(sandbox, video_path):
    site = PageServer()
    try:
        for wanted in ({"json": {"url": site.url("/fox.png")}}, {"data": {"url": HONEY}}):
            answer = sandbox.call("POST", f"{video_path}/assets/upload", **wanted)
            assert answer.status_code == 201
        refused = sandbox.post(f"{video_path}/assets/upload", {"url": site.url("/lying.png")})
        film = sandbox.post(f"{video_path}/assets/upload", {"url": site.url("/film.mp4")})
    finally:
        site.close()
    assert refused.status_code == 422
    assert (film.status_code, film.json()["data"]["assets"][-1]["type"]) == (201, "video")
    shown = [it["source_url"] for it in assets(sandbox, video_path)[-3:]]
    assert shown == [site.url("/fox.png"), HONEY, site.url("/film.mp4")]


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({}, "file"),
        ({"json": {}}, "file"),
        ({"json": {"url": 3}}, "url"),
        ({"json": {"url": "http://10.0.0.1/a.png"}}, "url"),
        ({"json": {"url": "https://garden.example.org/media/none.jpg"}}, "url"),
        ({"json": []}, "body"),
        ({"content": b"{"}, "body"),
        ({"files": {"file": ("a.png", b"", "image/png")}}, "file"),
        ({"files": {"file": ("a.png", b"#!/bin/sh", "image/png")}}, "file"),
        ({"files": {"file": ("a.svg", b"<svg onload='x()'/>", "image/svg+xml")}}, "file"),
        ({"files": {"file": ("a.png", PNG + b"x" * 600, "image/png")}}, "file"),
    ],
)
def test_a_wrong_upload_is_422_and_adds_nothing(sandbox, video_path, wanted, field):
    sandbox.set(upload_bytes=500)
    before = assets(sandbox, video_path)
    answer = sandbox.call("POST", f"{video_path}/assets/upload", **wanted)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert assets(sandbox, video_path) == before


def test_a_broken_form_is_400(sandbox, video_path):
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = sandbox.call(
        "POST", f"{video_path}/assets/upload", content=b"nonsense", headers=headers
    )
    assert answer.status_code in (400, 422)


def test_a_video_and_a_plan_hold_only_so_much(sandbox, video_path):
    files = {"file": ("sea.png", PNG, "image/png")}
    sandbox.set(plan_quotas={"Studio": {"storage_bytes": len(PNG)}})
    assert sandbox.call("POST", f"{video_path}/assets/upload", files=files).status_code == 201
    full = sandbox.call("POST", f"{video_path}/assets/upload", files=files)
    assert (full.status_code, full.json()["error"]["code"]) == (403, "REACH-PLAN-STORAGE-LIMIT")
    sandbox.set(plan_quotas={}, uploads_per_video=len(assets(sandbox, video_path)))
    assert sandbox.call("POST", f"{video_path}/assets/upload", files=files).status_code == 422


def test_a_reset_removes_the_pictures(sandbox, video_path):
    sandbox.call("POST", f"{video_path}/assets/upload", files={"file": ("a.png", PNG, "image/png")})
    found = [it["url"] for it in assets(sandbox, video_path)]
    assert sandbox.get(found[-1]).status_code == sandbox.get(found[0]).status_code == 200
    sandbox.reset("paid")
    assert [sandbox.get(url).status_code for url in (found[0], found[-1])] == [404, 404]
