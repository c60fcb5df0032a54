"""The typed shortcuts: exactly their listed paths, their type fixed."""

from __future__ import annotations

import pytest

from tests.sandbox.conftest import READY_SETTINGS

KINDS = {"/b-roll": "b-roll", "/ai-visuals": "ai-visuals", "/url-to-video": "url-based"}
COMMON = {("POST", ""), ("PUT", "/{faceless}/scripts"), ("PATCH", "/{id}"), ("GET", "/{id}")}
COMMON |= {("POST", "/{faceless}/render")}
ESTIMATE = {("GET", "/{faceless}/estimate")}
LISTED = {
    "/b-roll": COMMON | ESTIMATE,
    "/ai-visuals": COMMON
    | ESTIMATE
    | {
        ("POST", "/{faceless}/assets/upload"),
        ("POST", "/{faceless}/assets/{asset}/regenerate"),
    },
    "/url-to-video": COMMON
    | {("POST", "/{faceless}/scrape-images"), ("POST", "/{faceless}/scrape-script")},
}


@pytest.fixture(params=KINDS)
def shortcut(request, sandbox):
    """The prefix of a module, and a draft made there."""
    sandbox.set(rate_limit=1000)
    answer = sandbox.post(f"/v2{request.param}", {"title": "Tides"})
    assert answer.status_code == 201
    return request.param, answer.json()["data"]


@pytest.mark.parametrize("prefix", KINDS)
def test_a_module_has_the_listed_paths_and_no_others(sandbox, prefix):
    described = sandbox.get("/openapi.json").json()["paths"]
    found = {
        (method.upper(), path.removeprefix(f"/v2{prefix}"))
        for path, methods in described.items()
        if path == f"/v2{prefix}" or path.startswith(f"/v2{prefix}/")
        for method in methods
    }
    assert found == LISTED[prefix]


def test_its_type_is_fixed(sandbox, shortcut):
    prefix, data = shortcut
    assert data["type"] == KINDS[prefix]
    path = f"/v2{prefix}/{data['id']}"
    for kind in ("ai-clips", *KINDS.values()):
        expected = 200 if kind == KINDS[prefix] else 422
        assert sandbox.patch(path, {"type": kind}).status_code == expected
        assert sandbox.post(f"/v2{prefix}", {"title": "A", "type": kind}).status_code in (
            {201} if expected == 200 else {422}
        )
    sandbox.set(shortcut_requires_type=True)
    answer = sandbox.post(f"/v2{prefix}", {"title": "A"})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["type"])


@pytest.mark.parametrize("sent", [{}, {"title": ""}, {"title": "  "}, {"title": "x" * 256}])
def test_it_needs_a_title(sandbox, shortcut, sent):
    answer = sandbox.post(f"/v2{shortcut[0]}", sent)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["title"])


def test_videos_of_other_types_do_not_exist_there(sandbox, shortcut):
    prefix, _ = shortcut
    for kind in ("ai-clips", *KINDS.values()):
        number = sandbox.draft(type=kind)
        expected = 200 if kind == KINDS[prefix] else 404
        assert sandbox.get(f"/v2{prefix}/{number}").status_code == expected
        assert sandbox.patch(f"/v2{prefix}/{number}", {"title": "B"}).status_code == expected


def test_a_draft_made_there_is_a_faceless_video(sandbox, shortcut):
    _, data = shortcut
    assert sandbox.get(f"/v2/faceless/{data['id']}").json()["data"] == data


def test_unlisted_paths_are_404_and_other_methods_405(sandbox, shortcut):
    prefix, data = shortcut
    path = f"/v2{prefix}/{data['id']}"
    for gone in ("retry", "export"):
        assert sandbox.post(f"{path}/{gone}").status_code == 404
    expected = 404 if prefix == "/url-to-video" else 200
    assert sandbox.get(f"{path}/estimate").status_code == expected
    answer = sandbox.call("DELETE", path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, PATCH")


def test_it_writes_and_renders_as_the_generic_surface_does(sandbox, shortcut):
    prefix, data = shortcut
    path = f"/v2{prefix}/{data['id']}"
    written = sandbox.put(f"{path}/scripts", {"duration": 30})
    assert written.json()["meta"]["credits"]["cost"] == 4
    sandbox.patch(path, {"voice_id": 2114})
    if prefix == "/ai-visuals":
        refused = sandbox.post(f"{path}/render")
        assert (refused.status_code, list(refused.json()["errors"])) == (422, ["genre_id"])
        sandbox.patch(path, {"genre_id": 41})
    if prefix == "/url-to-video":
        refused = sandbox.post(f"{path}/render")
        assert (refused.status_code, list(refused.json()["errors"])) == (422, ["assets"])
        sent = {"url": "https://science.example.net/ocean/reef-sounds"}
        assert sandbox.post(f"{path}/scrape-images", sent).status_code == 200
    started = sandbox.post(f"{path}/render")
    assert (started.status_code, started.json()["meta"]["credits"]["cost"]) == (202, 10)
    sandbox.advance(60)
    assert sandbox.get(path).json()["data"]["video"]["status"] == "completed"


def test_each_type_has_a_film_of_its_own(sandbox):
    sandbox.set(rate_limit=1000)
    manners = {}
    for kind in ("ai-visuals", "ai-clips", "b-roll"):
        number = sandbox.draft(type=kind, **READY_SETTINGS)
        sandbox.post(f"/v2/faceless/{number}/render")
        manners[kind] = sandbox.maker.films[-1].get("manner")
    assert manners == {"ai-visuals": None, "ai-clips": "clips", "b-roll": "footage"}


@pytest.mark.parametrize(
    ("settings", "cost"),
    [
        ({}, 41),  # the cheapest engine: 0.68 a second
        ({"clip_engine_id": 811}, 41),
        ({"clip_engine_id": 812, "resolution": "720p"}, 114),
        ({"clip_engine_id": 821, "resolution": "1080P"}, 255),
        ({"clip_engine_id": 829, "audio": "on"}, 612),
        ({"clip_engine_id": 833, "audio": "on"}, 730),
        ({"clip_engine_id": 833, "resolution": "480p"}, 490),  # not offered: the first entry
    ],
)
def test_ai_clips_cost_what_their_engine_takes_a_second(sandbox, settings, cost):
    sixty = {**READY_SETTINGS, "script": "word " * 150, **settings}
    number = sandbox.draft(type="ai-clips", **sixty)
    started = sandbox.post(f"/v2/faceless/{number}/render")
    assert started.json()["meta"]["credits"]["cost"] == cost


@pytest.mark.parametrize(
    ("settings", "resolution"),
    [
        ({"clip_engine_id": 815, "resolution": "1080p"}, "1080p"),
        ({"clip_engine_id": 815}, "720p"),
        ({"clip_engine_id": 812, "resolution": "1080p"}, "480p"),  # as it is paid for
        ({"clip_engine_id": 811, "resolution": "1080p"}, "480p"),
        ({"clip_engine_id": 818, "resolution": "1080p", "audio": "off"}, "720p"),
        ({"clip_engine_id": 833}, "1080p"),
    ],
)
def test_ai_clips_are_made_in_the_resolution_that_they_are_paid_for(sandbox, settings, resolution):
    number = sandbox.draft(type="ai-clips", **READY_SETTINGS, **settings)
    sandbox.post(f"/v2/faceless/{number}/render")
    assert sandbox.maker.films[-1]["resolution"] == resolution


def test_ai_clips_without_an_engine_may_be_refused(sandbox):
    sandbox.set(clip_engine_required=True)
    number = sandbox.draft(type="ai-clips", **READY_SETTINGS)
    answer = sandbox.post(f"/v2/faceless/{number}/render")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["clip_engine_id"])


def test_the_type_is_settled_by_the_first_render(sandbox):
    number = sandbox.rendered()
    answer = sandbox.patch(f"/v2/faceless/{number}", {"type": "b-roll"})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["type"])
