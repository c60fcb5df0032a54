"""Storyboards: modes, scenes and their rules, clips, exact estimate, render, money."""

from __future__ import annotations

import pytest

from proxyapi.sandbox.api.scene_shapes import StoryboardCharged
from proxyapi.sandbox.catalogue.engines import CLIP_ENGINES
from proxyapi.sandbox.catalogue.modifiers import MENUS

PROMPT = "A keeper climbs the stairs, then she cleans the lens, then a storm comes over the sea."
SCENES = [{"raw_video_prompt": "A fox walks home", "duration": 5}, {"raw_video_prompt": "The moon"}]


@pytest.fixture
def storyboard_path(sandbox):
    """The path of a manual storyboard with two scenes."""
    sandbox.set(rate_limit=1000)
    path = create(sandbox, mode="manual")
    assert sandbox.post(f"{path}/scenes", {"scenes": SCENES}).status_code == 201
    return path


def create(sandbox, **wanted):
    answer = sandbox.post("/v2/text-to-scene", {"mode": "wizard", **wanted})
    assert answer.status_code == 201
    return f"/v2/text-to-scene/{answer.json()['data']['id']}"


def scenes(sandbox, path):
    return sandbox.get(path).json()["data"]["scenes"]


def test_a_new_storyboard_is_a_draft_with_the_engines_defaults(sandbox):
    data = sandbox.get(create(sandbox, title="Sea")).json()["data"]
    assert (data["mode"], data["title"], data["scenes"]) == ("wizard", "Sea", [])
    assert data["settings"] == {
        "clip_engine_id": 812,
        "aspect_ratio": "16:9",
        "resolution": "480p",
        "audio": None,
    }
    assert data["video"] == {"status": "draft", "url": None, "failure": None}


@pytest.mark.parametrize("engine", CLIP_ENGINES, ids=lambda it: it.slug)
def test_settings_are_those_that_the_engine_supports(sandbox, engine):
    sandbox.set(rate_limit=1000)
    menu = MENUS[engine.slug]
    for name, values in (("aspect_ratio", menu.aspect_ratios), ("resolution", menu.resolutions)):
        for value in values:
            settings = {"clip_engine_id": engine.id, name: value}
            if name == "resolution" and menu.audio:
                settings["audio"] = "on"
            data = sandbox.get(create(sandbox, settings=settings)).json()["data"]
            assert data["settings"][name] == value
        settings = {"clip_engine_id": engine.id, name: "5:7"}
        answer = sandbox.post("/v2/text-to-scene", {"mode": "manual", "settings": settings})
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [f"settings.{name}"])


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "mode"),
        ({"mode": "auto"}, "mode"),
        ({"mode": "manual", "settings": {"clip_engine_id": 1}}, "settings.clip_engine_id"),
        ({"mode": "manual", "settings": {"resolution": "720P"}}, "settings.resolution"),
        ({"mode": "manual", "settings": {"audio": "on"}}, "settings.audio"),
        ({"mode": "manual", "settings": {"audio": True}}, "settings.audio"),
        ({"mode": "manual", "settings": 3}, "settings"),
        ({"mode": "manual", "title": "x" * 256}, "title"),
    ],
)
def test_a_wrong_storyboard_is_422_by_field(sandbox, sent, field):
    answer = sandbox.post("/v2/text-to-scene", sent)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


def test_the_wizard_makes_scenes_from_the_prompt(sandbox):
    path = create(sandbox)
    made = sandbox.post(f"{path}/prompt", {"prompt": PROMPT}).json()["data"]["scenes"]
    prompts = [it["raw_video_prompt"] for it in made]
    assert [word in text for word, text in zip(("climbs", "lens", "storm"), prompts, strict=True)]
    assert all(it["duration"] in MENUS["brook"].durations for it in made)
    assert [it["position"] for it in made] == [1, 2, 3]
    again = sandbox.post(f"{path}/prompt", {"prompt": "A quiet forest", "scenes": 6}).json()
    assert len(again["data"]["scenes"]) == 6
    assert "meta" not in again


def test_the_wizards_prompt_may_charge(sandbox):
    sandbox.set(wizard_prompt_charged=True, wizard_scenes=2)
    path = create(sandbox)
    answer = sandbox.post(f"{path}/prompt", {"prompt": "A quiet forest"}).json()
    assert (len(answer["data"]["scenes"]), answer["meta"]["credits"]["cost"]) == (2, 4)
    sandbox.patch(f"/_sandbox/accounts/{account(sandbox)}", {"credits": 3})
    assert sandbox.post(f"{path}/prompt", {"prompt": "A quiet forest"}).status_code == 402


def account(sandbox):
    (only,) = sandbox.get("/_sandbox/accounts").json()
    return only["account_id"]


def test_each_mode_has_its_own_way_to_scenes(sandbox):
    for mode, path in (("manual", "prompt"), ("wizard", "scenes")):
        sent = {"prompt": PROMPT, "raw_video_prompt": "A fox"}
        answer = sandbox.post(f"{create(sandbox, mode=mode)}/{path}", sent)
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["mode"])


def test_scenes_keep_their_prompt_and_duration(sandbox, storyboard_path):
    added = sandbox.post(
        f"{storyboard_path}/scenes", {"raw_video_prompt": "  Rain ", "duration": 15}
    )
    kept = [(it["raw_video_prompt"], it["duration"]) for it in added.json()["data"]["scenes"]]
    assert kept == [("A fox walks home", 5), ("The moon", 5), ("Rain", 15)]
    assert scenes(sandbox, storyboard_path) == added.json()["data"]["scenes"]


@pytest.mark.parametrize("engine", CLIP_ENGINES, ids=lambda it: it.slug)
def test_a_scenes_duration_is_one_that_the_engine_supports(sandbox, engine):
    sandbox.set(rate_limit=1000)
    path = create(sandbox, mode="manual", settings={"clip_engine_id": engine.id})
    for seconds in (0, 1, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16):
        sent = {
            "scenes": [{"raw_video_prompt": "Fine"}, {"raw_video_prompt": "A", "duration": seconds}]
        }
        answer = sandbox.post(f"{path}/scenes", sent)
        if seconds in MENUS[engine.slug].durations:
            assert answer.status_code == 201
        else:
            assert answer.status_code == 422
            assert list(answer.json()["errors"]) == ["scenes.1.duration"]


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"scenes": []},
        {"scenes": [{}]},
        {"scenes": [{"raw_video_prompt": ""}]},
        {"scenes": [{"raw_video_prompt": "A", "duration": "5"}]},
        {"scenes": [{"raw_video_prompt": "A", "duration": 5.5}]},
        {"raw_video_prompt": "x" * 5001},
    ],
)
def test_wrong_scenes_are_422_and_add_nothing(sandbox, storyboard_path, sent):
    assert sandbox.post(f"{storyboard_path}/scenes", sent).status_code == 422
    assert len(scenes(sandbox, storyboard_path)) == 2


def test_a_storyboard_holds_only_so_many_scenes(sandbox, storyboard_path):
    sandbox.set(scenes_per_storyboard=3)
    assert sandbox.post(f"{storyboard_path}/scenes", {"raw_video_prompt": "A"}).status_code == 201
    assert sandbox.post(f"{storyboard_path}/scenes", {"raw_video_prompt": "A"}).status_code == 422
    path = create(sandbox)
    assert sandbox.post(f"{path}/prompt", {"prompt": "A", "scenes": 4}).status_code == 422


def test_scenes_are_sorted_by_naming_each_once(sandbox, storyboard_path):
    first, second = (it["id"] for it in scenes(sandbox, storyboard_path))
    for wrong in ([first], [first, first], [first, second, 1], []):
        answer = sandbox.put(f"{storyboard_path}/scenes/sort", {"scenes": wrong})
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["scenes"])
    sandbox.put(f"{storyboard_path}/scenes/{second}/chain", {})
    sorted_ = sandbox.put(f"{storyboard_path}/scenes/sort", {"scenes": [second, first]}).json()[
        "data"
    ]
    assert [it["id"] for it in sorted_["scenes"]] == [second, first]
    assert not sorted_["scenes"][0]["chained"]


def test_a_scene_that_stands_alone_has_its_wrong_duration_by_its_own_name(sandbox, storyboard_path):
    answer = sandbox.post(
        f"{storyboard_path}/scenes", {"raw_video_prompt": "A fox", "duration": 99}
    )
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["duration"])


@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH"])
def test_the_method_of_sort_frames_and_chain_is_a_setting(sandbox, storyboard_path, method):
    first, second = (it["id"] for it in scenes(sandbox, storyboard_path))
    calls = {
        "scenes/sort": {"scenes": [first, second]},
        f"scenes/{first}/frames": {"first_frame": "https://a.example/b.png"},
        f"scenes/{second}/chain": {"chained": True},
    }
    for path, body in calls.items():
        sandbox.set(scene_edit_method=method)
        for other in ("PUT", "POST", "PATCH"):
            answer = sandbox.call(other, f"{storyboard_path}/{path}", json=body)
            assert answer.status_code == (200 if other == method else 405)
            assert other == method or answer.headers["allow"] == method
            wrong = sandbox.call(
                other, f"{storyboard_path}/{path}", json={"scenes": 1, "chained": 1}
            )
            assert wrong.status_code == (422 if other == method else 405)
        assert sandbox.get(f"{storyboard_path}/{path}").headers["allow"] == method
        sandbox.set(scene_edit_method="any")
        assert sandbox.call("POST", f"{storyboard_path}/{path}", json=body).status_code == 200


def test_frames_are_those_that_the_engine_takes(sandbox, storyboard_path):
    first = scenes(sandbox, storyboard_path)[0]["id"]
    path = f"{storyboard_path}/scenes/{first}/frames"
    picture = "https://garden.example.org/media/roof.jpg"
    shown = sandbox.put(path, {"first_frame": picture}).json()["data"]["scenes"][0]
    assert (shown["first_frame"], shown["last_frame"]) == (picture, None)
    assert sandbox.put(path, {"last_frame": picture}).status_code == 422
    assert sandbox.put(path, {}).status_code == 422
    assert sandbox.put(path, {"first_frame": "file:///etc/passwd"}).status_code == 422
    cleared = sandbox.put(path, {"first_frame": None}).json()["data"]["scenes"][0]
    assert cleared["first_frame"] is None
    lite = create(sandbox, mode="manual", settings={"clip_engine_id": 811})
    added = sandbox.post(f"{lite}/scenes", {"scenes": SCENES[1:] * 2}).json()["data"]["scenes"]
    for name, body in (("frames", {"first_frame": picture}), ("chain", {})):
        answer = sandbox.put(f"{lite}/scenes/{added[1]['id']}/{name}", body)
        assert answer.status_code == 422


def test_a_scene_is_chained_to_the_one_before_it(sandbox, storyboard_path):
    first, second = (it["id"] for it in scenes(sandbox, storyboard_path))
    assert sandbox.put(f"{storyboard_path}/scenes/{first}/chain", {}).status_code == 422
    chained = sandbox.put(f"{storyboard_path}/scenes/{second}/chain", {}).json()["data"]["scenes"]
    assert [it["chained"] for it in chained] == [False, True]
    sandbox.post(f"{storyboard_path}/render")
    assert [it["chained"] for it in sandbox.maker.films[-1]["scenes"]] == [False, True]
    sandbox.advance(60)
    loose = sandbox.put(f"{storyboard_path}/scenes/{second}/chain", {"chained": False}).json()[
        "data"
    ]
    assert not loose["scenes"][1]["chained"]
    assert sandbox.put(f"{storyboard_path}/scenes/1/chain", {}).status_code == 404


def test_the_estimate_is_what_the_render_charges(sandbox, storyboard_path):
    priced = sandbox.get(f"{storyboard_path}/estimate").json()["data"]
    assert priced == {
        "cost": 12,  # twice 5 s at 1.1, each rounded up
        "available": 1000,
        "sufficient": True,
        "duration": 10,
        "scenes": 2,
    }
    started = sandbox.post(f"{storyboard_path}/render")
    assert started.status_code == 202
    assert started.json()["meta"]["credits"] == {"cost": 12, "remaining": 988}
    StoryboardCharged.model_validate(started.json(), strict=True, extra="forbid")
    (row,) = sandbox.get("/v2/credits/history").json()["data"]
    assert (row["label"], row["credit_spend"]) == ("Storyboard render", "-12")


def test_a_render_shows_its_scenes_in_their_order_in_one_film(sandbox, storyboard_path):
    first, second = (it["id"] for it in scenes(sandbox, storyboard_path))
    sandbox.put(f"{storyboard_path}/scenes/sort", {"scenes": [second, first]})
    sandbox.post(f"{storyboard_path}/render")
    film = sandbox.maker.films[-1]
    assert [it["prompt"] for it in film["scenes"]] == ["The moon", "A fox walks home"]
    busy = sandbox.get(storyboard_path).json()["data"]["video"]
    assert busy == {"status": "rendering", "url": None, "failure": None}
    sandbox.advance(60)
    video = sandbox.get(storyboard_path).json()["data"]["video"]
    assert video["status"] == "completed"
    assert sandbox.get(video["url"]).status_code == 200


def test_a_storyboard_in_the_making_is_left_alone(sandbox, storyboard_path):
    first, second = (it["id"] for it in scenes(sandbox, storyboard_path))
    sandbox.post(f"{storyboard_path}/render")
    changes = [
        ("POST", "scenes", {"raw_video_prompt": "A"}),
        ("PUT", "scenes/sort", {"scenes": [second, first]}),
        ("PUT", f"scenes/{first}/frames", {"first_frame": None}),
        ("PUT", f"scenes/{second}/chain", {}),
    ]
    for path in ("render", "clips"):
        assert sandbox.post(f"{storyboard_path}/{path}").status_code == 403
    for method, path, body in changes:
        assert sandbox.call(method, f"{storyboard_path}/{path}", json=body).status_code == 403
    sandbox.set(storyboard_patch_while_busy="allowed")
    for method, path, body in changes[1:]:
        assert sandbox.call(method, f"{storyboard_path}/{path}", json=body).status_code in (
            200,
            422,
        )
    assert sandbox.money()["balance"] == 988


def test_what_is_missing_is_said_before_anything_is_charged(sandbox, storyboard_path):
    empty = create(sandbox, mode="manual")
    for path in ("render", "clips"):
        answer = sandbox.post(f"{empty}/{path}")
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["scenes"])
    assert sandbox.get(f"{empty}/estimate").json()["data"]["cost"] == 0
    needy = create(sandbox, mode="manual", settings={"clip_engine_id": 824})
    sandbox.post(f"{needy}/scenes", {"raw_video_prompt": "A"})
    assert sandbox.post(f"{needy}/render").status_code == 422
    sandbox.patch(f"/_sandbox/accounts/{account(sandbox)}", {"credits": 11})
    poor = sandbox.post(f"{storyboard_path}/render")
    assert (poor.status_code, poor.json()["error"]["required"]) == (402, 12)
    assert sandbox.money()["charges"] == {}


def test_clips_are_free_and_the_render_charges_all(sandbox, storyboard_path):
    started = sandbox.post(f"{storyboard_path}/clips")
    assert (started.status_code, "meta" in started.json()) == (202, False)
    assert {it["clip"]["status"] for it in scenes(sandbox, storyboard_path)} == {"queued"}
    assert sandbox.post(f"{storyboard_path}/render").status_code == 403
    sandbox.advance(4)
    assert {it["clip"]["status"] for it in scenes(sandbox, storyboard_path)} == {"processing"}
    sandbox.advance(60)
    clip = scenes(sandbox, storyboard_path)[0]["clip"]
    assert (clip["status"], sandbox.get(clip["url"]).status_code) == ("completed", 200)
    assert sandbox.post(f"{storyboard_path}/render").json()["meta"]["credits"]["cost"] == 12


def test_clips_charge_and_the_render_only_what_has_none(sandbox, storyboard_path):
    sandbox.set(storyboard_charged="at_clips")
    first, second = (it["id"] for it in scenes(sandbox, storyboard_path))
    one = sandbox.post(f"{storyboard_path}/clips", {"scenes": [second]})
    assert one.json()["meta"]["credits"]["cost"] == 6
    sandbox.advance(60)
    assert sandbox.get(f"{storyboard_path}/estimate").json()["data"]["cost"] == 6
    rest = sandbox.post(f"{storyboard_path}/clips")
    assert rest.json()["meta"]["credits"]["cost"] == 6
    sandbox.advance(60)
    assert sandbox.post(f"{storyboard_path}/render").json()["meta"]["credits"]["cost"] == 0
    assert (sandbox.money()["balance"], sandbox.money()["balanced"]) == (988, True)
    assert sandbox.post(f"{storyboard_path}/clips", {"scenes": [first]}).status_code == 403
    sandbox.advance(60)
    assert sandbox.post(f"{storyboard_path}/clips", {"scenes": [1]}).status_code == 422
    again = sandbox.post(f"{storyboard_path}/clips", {"scenes": [first]})
    assert again.json()["meta"]["credits"]["cost"] == 6


def test_a_clip_that_fails_gives_its_credits_back(sandbox, storyboard_path):
    sandbox.set(storyboard_charged="at_clips")
    sandbox.post("/_sandbox/outcomes", {"kind": "scene-clip", "statuses": ["processing", "failed"]})
    sandbox.post(f"{storyboard_path}/clips")
    sandbox.advance(60)
    shown = [it["clip"]["status"] for it in scenes(sandbox, storyboard_path)]
    assert shown == ["failed", "completed"]
    money = sandbox.money()
    assert (money["balance"], money["balanced"]) == (994, True)
    assert [(it["credits"], it["returned"]) for it in money["refunds"]] == [(12, 6)]
    assert sandbox.get(f"{storyboard_path}/estimate").json()["data"]["cost"] == 6


def test_a_render_that_fails_gives_back_only_if_the_setting_says_so(sandbox, storyboard_path):
    for refunds, balance in ((False, 988), (True, 988)):
        sandbox.set(failed_render_refunds=refunds)
        failure = {"code": "ENGINE-DOWN", "message": "The engine did not answer."}
        outcome = {"kind": "storyboard", "statuses": ["rendering", "failed"], "failure": failure}
        sandbox.post("/_sandbox/outcomes", outcome)
        sandbox.post(f"{storyboard_path}/render")
        sandbox.advance(60)
        video = sandbox.get(storyboard_path).json()["data"]["video"]
        assert (video["status"], video["failure"]) == ("failed", failure)
        assert sandbox.money()["balance"] == balance


def test_it_is_another_accounts_secret_and_a_plans_feature(sandbox, storyboard_path):
    stranger = {"name": "Otto", "email": "o@example.com", "features": []}
    made = sandbox.post("/_sandbox/accounts", stranger).json()
    sandbox.token = made["token"]
    refused = sandbox.get(storyboard_path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "FEATURE-NOT-ALLOWED")
    sandbox.patch(f"/_sandbox/accounts/{made['account_id']}", {"features": ["text-to-scene"]})
    for method, path in (("GET", ""), ("POST", "/render"), ("POST", "/clips"), ("POST", "/prompt")):
        assert sandbox.call(method, f"{storyboard_path}{path}", json={}).status_code == 404


def test_a_restart_keeps_storyboards_and_assets_and_goes_on(sandbox, storyboard_path):
    sandbox.maker.waits = True
    sandbox.post(f"{storyboard_path}/clips")
    url = "https://travel.example.com/2026/night-trains-return"
    page = f"/v2/faceless/{sandbox.draft(type='url-based')}"
    sandbox.post(f"{page}/scrape-images", {"url": url})
    before = sandbox.get("/_sandbox/snapshot").json()
    sandbox.world.store.close()
    sandbox.maker.waiting.clear()
    sandbox.start()
    assert sandbox.get("/_sandbox/snapshot").json() == before
    sandbox.maker.waits = False
    sandbox.maker.go_on()
    sandbox.advance(60)
    assert {it["clip"]["status"] for it in scenes(sandbox, storyboard_path)} == {"completed"}
    shown = sandbox.get(page).json()["data"]["assets"]
    assert sandbox.get(shown[0]["url"]).status_code == 200
