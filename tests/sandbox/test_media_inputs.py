"""What was chosen is told to the maker of the film: characters, references, own pictures."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract import staging
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

FINCH = "6f0e8f0a-3a51-4b7e-9d0c-2f6f3f1c5a11"  # of the catalogue


def rendered(sandbox: SandboxClient, **settings: object) -> dict[str, Any]:
    number = sandbox.draft(**{**READY_SETTINGS, **settings})
    assert sandbox.post(f"/v2/faceless/{number}/render").status_code == 202
    film: dict[str, Any] = sandbox.maker.films[-1]
    return film.get("film", film)


def ada(sandbox: SandboxClient) -> tuple[str, dict[str, Any]]:
    """A trained character: its uuid, and the preview that was chosen."""
    form = {"image": ("me.png", staging.png(), "image/png")}
    made = sandbox.call("POST", "/v2/characters", files=form).json()["data"]
    path = f"/v2/characters/{made['id']}"
    previews = sandbox.post(f"{path}/preview", {"genre_id": 305}).json()["data"]["previews"]
    chosen = previews[1]
    sandbox.post(f"{path}/train", {"preview_id": chosen["id"], "name": "Ada"})
    sandbox.advance(60)
    return made["uuid"], chosen


@pytest.mark.parametrize("kind", ["ai-visuals", "ai-clips"])
def test_a_trained_character_is_in_the_film_as_it_was_chosen(sandbox, kind):
    uuid, chosen = ada(sandbox)
    still = sandbox.world.stills.get(chosen["url"].rpartition("/")[2])
    told = rendered(sandbox, type=kind, character_id=uuid)["character"]
    assert told == {name: still.description[name] for name in ("genre", "seed", "photo")}


def test_a_character_of_the_catalogue_has_a_face_of_its_own(sandbox):
    told = rendered(sandbox, character_id=FINCH)["character"]
    assert told == rendered(sandbox, character_id=FINCH, script="Another story.")["character"]
    assert rendered(sandbox)["character"] is None


@pytest.mark.parametrize("kind", ["b-roll", "url-based"])
def test_footage_and_pages_have_no_character(sandbox, kind):
    """Their pictures are not drawn for the video."""
    number = sandbox.draft(type=kind, **READY_SETTINGS, character_id=FINCH)
    sandbox.post(f"/v2/faceless/{number}/scrape-images", {"url": staging.PAGE})
    sandbox.post(f"/v2/faceless/{number}/render")
    assert sandbox.maker.films[-1]["film"]["character"] is None


@pytest.mark.parametrize("kind", ["ai-clips", "b-roll"])
def test_pictures_of_ones_own_are_in_films_of_every_type(sandbox, kind):
    number = sandbox.draft(**READY_SETTINGS)
    form = {"file": ("a.png", staging.png(), "image/png")}
    sandbox.call("POST", f"/v2/ai-visuals/{number}/assets/upload", files=form)
    sandbox.patch(f"/v2/faceless/{number}", {"type": kind})
    sandbox.post(f"/v2/faceless/{number}/render")
    (shown,) = sandbox.maker.films[-1]["pictures"]
    assert shown["file"].endswith(".png")


@pytest.mark.parametrize(
    ("model", "reference", "end"),
    [
        ("brook", "first_frame", "first"), ("tessera", "image", "first"),
        ("kestrel", "last_frame", "last"),
    ],
)  # fmt: skip
def test_a_clip_names_its_reference(sandbox, model, reference, end):
    _, chosen = ada(sandbox)
    order = {**staging.CLIP, "model": model, reference: chosen["url"]}
    assert sandbox.post("/v2/text-to-video", order).status_code == 202
    film = sandbox.maker.films[-1]
    name = chosen["url"].rpartition("/")[2]
    assert film[end]["file"] == name
    assert film[end]["still"] == sandbox.world.stills.get(name).description


def test_a_clip_may_go_on_from_another_one(sandbox):
    sandbox.patch(f"/_sandbox/accounts/{sandbox.money()['account_id']}", {"credits": 1000})
    first = sandbox.post("/v2/text-to-video", staging.CLIP).json()["data"]["asset"]["id"]
    sandbox.advance(60)
    url = sandbox.get(f"/v2/text-to-video/{first}").json()["data"]["asset"]["url"]
    order = {"model": "halden-max", "prompt": staging.PROMPT, "video": url}
    assert sandbox.post("/v2/text-to-video", order).status_code == 202
    assert sandbox.maker.films[-1]["first"] == {"file": url.rpartition("/")[2], "still": None}


def test_a_reference_from_elsewhere_is_kept_and_not_fetched(sandbox):
    order = {**staging.CLIP, "first_frame": "https://a.example/b.png"}
    sandbox.post("/v2/text-to-video", order)
    assert sandbox.maker.films[-1]["first"] is None
