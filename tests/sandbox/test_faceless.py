"""Drafts: what may be set, how it is refused, and what a script is like."""

from __future__ import annotations

import pytest

from proxyapi.sandbox import catalogue
from proxyapi.sandbox.catalogue import styles
from proxyapi.sandbox.writer import TONES
from tests.sandbox.conftest import READY_SETTINGS


def test_a_draft_has_two_numbers_and_only_one_of_them_can_be_asked_for(sandbox):
    answer = sandbox.post("/v2/faceless", {"type": "ai-visuals", "title": "Tides"})
    assert (answer.status_code, answer.json()["status"]) == (201, 201)
    data = answer.json()["data"]
    assert data["id"] != data["video_id"]
    assert data["video"] == {"status": "draft", "url": None, "failure": None}
    assert sandbox.get(f"/v2/faceless/{data['id']}").json()["data"] == data
    assert sandbox.get(f"/v2/faceless/{data['video_id']}").status_code == 404


def test_what_a_new_draft_says_is_a_setting(sandbox):
    sandbox.set(create_status=200, draft_status=None)
    answer = sandbox.post("/v2/faceless", {"type": "b-roll"})
    assert (answer.status_code, answer.json()["data"]["video"]["status"]) == (200, None)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "type"),
        ({"type": "opera"}, "type"),
        ({"type": "b-roll", "title": "x" * 256}, "title"),
        ({"type": "b-roll", "topic": 3}, "topic"),
        ([], "body"),
    ],
)
def test_a_wrong_draft_is_422_by_field(sandbox, body, field):
    answer = sandbox.post("/v2/faceless", body)
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]
    assert answer.json()["message"] == answer.json()["errors"][field][0]


def test_a_patch_changes_what_is_sent_and_ignores_what_it_does_not_know(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    sent = {"font": "mono", "volume": "off", "genre_id": None, "sparkles": True, "title": "T"}
    data = sandbox.patch(f"/v2/faceless/{number}", sent).json()["data"]
    assert (data["font"], data["volume"], data["genre_id"]) == ("mono", "off", None)
    assert (data["voice_id"], data["title"]) == (2114, "T")
    assert "sparkles" not in data


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("voice_id", "2114"),
        ("voice_id", True),
        ("genre_id", 999),
        ("image_engine_id", 1.5),
        ("font", "comic"),
        ("font", 3),
        ("captions", "yes"),
        ("aspect_ratio", "Landscape"),
        ("character_id", 5102),
        ("script", ["a"]),
        ("script", "x" * 30_001),
        ("type", None),
    ],
)
def test_a_wrong_setting_is_422_and_changes_nothing(sandbox, field, value):
    number = sandbox.draft(**READY_SETTINGS)
    before = sandbox.get(f"/v2/faceless/{number}").json()
    answer = sandbox.patch(f"/v2/faceless/{number}", {field: value, "title": "new"})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert sandbox.get(f"/v2/faceless/{number}").json() == before


def test_the_type_changes_before_a_render_but_url_based_is_fixed(sandbox):
    number = sandbox.draft()
    assert sandbox.patch(f"/v2/faceless/{number}", {"type": "ai-clips"}).status_code == 200
    for kind, wish in (("ai-visuals", "url-based"), ("url-based", "b-roll")):
        path = f"/v2/faceless/{sandbox.draft(type=kind)}"
        answer = sandbox.patch(path, {"type": wish})
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["type"])


def test_a_busy_video_is_changed_or_refused_as_the_setting_says(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    assert sandbox.patch(f"/v2/faceless/{number}", {"title": "a"}).status_code == 200
    sandbox.set(patch_while_busy="refused")
    assert sandbox.patch(f"/v2/faceless/{number}", {"title": "b"}).status_code == 403
    spent = sandbox.money()["ledger_sum"]
    scripts = {"topic": "tides", "duration": 30}
    assert sandbox.put(f"/v2/faceless/{number}/scripts", scripts).status_code == 403
    assert sandbox.money()["ledger_sum"] == spent


@pytest.mark.parametrize("duration", [30, 60, 180, 300, 600, 900, 1200])
@pytest.mark.parametrize("language", ["en", "Spanish", "fr-FR", "de", "Portuguese"])
def test_a_script_is_as_long_as_it_was_asked_for(sandbox, duration, language):
    sent = {"topic": "tides", "duration": duration, "language": language}
    data = sandbox.put(f"/v2/faceless/{sandbox.draft()}/scripts", sent).json()["data"]
    assert len(data["script"].split()) == pytest.approx(duration * 2.5, rel=0.15)
    assert "tides" in data["script"]


def test_a_topic_longer_than_its_script_is_written_about_and_charged_once(sandbox):
    topic = "ebb " * 40
    for tone in TONES:
        number = sandbox.draft()
        sent = {"topic": topic, "duration": 30, "tone": tone}
        answer = sandbox.put(f"/v2/faceless/{number}/scripts", sent)
        assert answer.status_code == 200, tone
        assert len(answer.json()["data"]["script"].split("\n\n")) > 1
        (charge,) = sandbox.money()["charges"][f"faceless:{number}"]
        assert charge["credits"] == 4


def test_style_and_tone_make_a_different_script(sandbox):
    sandbox.set(rate_limit=100)
    scripts = set()
    for style, tone in (("", ""), ("Listicle", "Funny"), ("How-to", "calm"), ("story", "dark")):
        sent = {"topic": "Why the sea is salty", "duration": 60, "style": style, "tone": tone}
        data = sandbox.put(f"/v2/faceless/{sandbox.draft()}/scripts", sent).json()["data"]
        assert "why the sea is salty" in data["script"]
        assert "Number one" in data["script"] or style != "Listicle"
        assert "Step one" in data["script"] or style != "How-to"
        scripts.add(data["script"])
    assert len(scripts) == 4


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"duration": 45, "topic": "x"}, "duration"),
        ({"topic": "x"}, "duration"),
        ({"duration": 30}, "topic"),
        ({"duration": 30, "topic": "x", "language": "Klingon"}, "language"),
    ],
)
def test_wrong_script_options_are_422_and_charge_nothing(sandbox, sent, field):
    answer = sandbox.put(f"/v2/faceless/{sandbox.draft()}/scripts", sent)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert sandbox.money()["charges"] == {}


def test_the_topic_of_a_script_may_come_from_the_draft(sandbox):
    number = sandbox.post("/v2/faceless", {"type": "b-roll", "topic": "tides"}).json()
    path = f"/v2/faceless/{number['data']['id']}/scripts"
    assert "tides" in sandbox.put(path, {"duration": 30}).json()["data"]["script"]


def test_options_come_in_two_layers_and_only_picks_groups_in_both_syntaxes(sandbox):
    whole = sandbox.get("/v2/faceless/options").json()["data"]
    assert set(whole["mandatory"]) == {"aspect_ratios", "genres", "image_engines", "voices"}
    assert len(whole["mandatory"]["voices"]) >= 12
    assert len({voice["language"] for voice in whole["mandatory"]["voices"]}) == 5
    assert len(whole["optional"]["clip_engines"]) == 8
    for query in (
        "only=voices,fonts",
        "only[]=voices&only[]=fonts",
        "only=fonts&only=voices",
        "only[0]=voices&only[1]=fonts",
    ):
        picked = sandbox.get(f"/v2/faceless/options?{query}").json()["data"]
        assert picked == {
            "mandatory": {"voices": whole["mandatory"]["voices"]},
            "optional": {"fonts": whole["optional"]["fonts"]},
        }
    sandbox.set(unknown_only="refused")
    assert sandbox.get("/v2/faceless/options?only=voices,hats").status_code == 422


def test_every_item_of_the_catalogue_is_one_that_a_patch_accepts(sandbox):
    sandbox.set(rate_limit=1000)
    number = sandbox.draft()
    for setting, values in catalogue.accepted_values().items():
        for value in values:
            answer = sandbox.patch(f"/v2/faceless/{number}", {setting: value})
            assert answer.json()["data"][setting] == value


def test_the_film_maker_honours_the_slugs_of_the_catalogue():
    films = pytest.importorskip("proxyapi.sandbox.media.films")
    assert {it.slug for it in styles.GENRES} == set(films.GENRES)
    assert set(styles.ASPECT_RATIOS) <= set(films.ASPECT_RATIOS)
    for group in ("fonts", "caption_effects", "caption_positions", "transitions", "volumes"):
        assert tuple(styles.STYLES[group]) == getattr(films, group.upper())
