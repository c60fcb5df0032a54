"""The visuals step: how values are shown, and what is sent of them (pitfalls 103 and 104)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.videos.cards import film_still_url
from dashboard.studio.forms.stills import SHIPPED_STILLS
from proxyapi.models import Draft, Job, JobKind, JobPart, JobState
from proxyapi.models.job_part import PREVIEWS
from tests.dashboard.studio.conftest import OPTIONS, Browser, get_page, step_url
from tests.factories import JobFactory, TokenFactory

PEOPLE = [
    {"id": 1, "uuid": "u-1", "name": "Henrik", "gender": "male", "status": "ready"},
    {"id": 2, "uuid": "u-2", "name": "Tomas", "gender": "unknown", "status": "training"},
]
CORNERS = [
    {"name": "Bottom right", "slug": "bottom-right"},
    {"name": "Top left", "slug": "top-left"},
]


def offer(job: Job, **groups: Any) -> None:
    job.account.options = {**OPTIONS, "optional": {**OPTIONS["optional"], **groups}}
    job.account.save()


def test_every_shipped_still_has_its_file() -> None:
    files = {path.name for path in (settings.BASE_DIR / "static/stills").glob("*.svg")}
    named = {f"{kind}-{slug}.svg" for kind, slugs in SHIPPED_STILLS.values() for slug in slugs}
    assert named == {name for name in files if not name.startswith("flow-")}


def test_a_genre_shows_a_film_of_the_team_else_a_drawing_else_an_empty_frame(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    genres = [{"id": 941, "name": "Noir"}, {"id": 942, "name": "Anime"}, {"id": 943, "name": "Zz"}]
    ready.account.options = {"mandatory": {**OPTIONS["mandatory"], "genres": genres}}
    ready.account.save()
    film = JobFactory.create(
        account=ready.account,
        token=ready.token,
        state=JobState.COMPLETED,
        remote_id="77",
        media_url="https://media.example/77.mp4",
        finished_at=timezone.now(),
        draft__settings={"type": "ai-visuals", "genre_id": 941},
    )
    html = get_page(client_of(priya), step_url(ready, "visuals"))
    assert f'data-still="{film_still_url(film.pk)}' in html
    assert len(re.findall(r"stills/genre-[\w.-]+svg", html)) == 1
    assert html.count("frame__sketch") == 1
    assert "data-card-search" not in html


def test_many_genres_can_be_searched(priya: Membership, ready: Job, client_of: Browser) -> None:
    genres = [{"id": number, "name": f"Genre {number}"} for number in range(24)]
    ready.account.options = {"mandatory": {**OPTIONS["mandatory"], "genres": genres}}
    ready.account.save()
    assert "data-card-search" in get_page(client_of(priya), step_url(ready, "visuals"))


def test_only_a_ready_character_can_be_chosen_and_is_sent_by_its_uuid(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    offer(ready, characters=PEOPLE)
    browser, url = client_of(priya), step_url(ready, "visuals")
    html = get_page(browser, url)
    assert "Henrik" in html
    assert "In training" in html
    assert 'value="u-2"' not in html
    kept = {"genre_id": "941", "image_engine_id": "71"}
    assert browser.post(url, {**kept, "character_id": "u-2"}).status_code == 422
    browser.post(url, {**kept, "character_id": "u-1"})
    ready.refresh_from_db()
    assert ready.draft.settings["character_id"] == "u-1"


def add_pictures(job: Job, remote_id: str, *numbers: int, **fields: Any) -> list[JobPart]:
    """Pictures of a trained character of the team, the first one chosen."""
    person = JobFactory.create(
        account=job.account,
        token=job.token,
        kind=JobKind.CHARACTER,
        state=JobState.COMPLETED,
        remote_id=remote_id,
        draft__settings={"preview_id": numbers[0]},
        **fields,
    )
    return [
        JobPart.objects.create(
            job=person,
            list_name=PREVIEWS,
            position=position,
            remote_id=str(number),
            media_url=f"https://media.example/{number}.jpg",
            read_at=timezone.now(),
        )
        for position, number in enumerate(numbers)
    ]


def faces(html: str) -> list[str]:
    """What each face of the list shows: an address, or the letter."""
    spans = re.findall(r'<span class="person__face" aria-hidden="true">(.*?)</span>', html, re.S)
    return [(re.findall(r'src="([^"]+)"', span) or [span.strip()])[0] for span in spans]


@pytest.mark.parametrize("remote_id", ["1", "u-1"])
def test_a_character_shows_the_chosen_picture_that_the_team_has_of_it(
    remote_id: str, priya: Membership, ready: Job, client_of: Browser
) -> None:
    offer(ready, characters=[*PEOPLE, {"id": 3, "uuid": "u-3", "name": "Ada"}])
    chosen, _ = add_pictures(ready, remote_id, 31, 32)
    html = get_page(client_of(priya), step_url(ready, "visuals"))
    picture = reverse("part-media", args=[chosen.job_id, chosen.pk])
    assert faces(html) == [picture, "A", "T"]


def test_a_hidden_character_and_one_of_another_account_show_the_letter(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    offer(ready, characters=PEOPLE)
    add_pictures(ready, "1", 31, hidden_at=timezone.now())
    other = TokenFactory.create(account__tenant=ready.tenant, owner=priya.user)
    add_pictures(JobFactory.create(account=other.account, token=other), "u-1", 32)
    assert faces(get_page(client_of(priya), step_url(ready, "visuals"))) == ["H", "T"]


@pytest.mark.parametrize(
    ("positions", "shown"),
    [
        (CORNERS, 'data-corner="top-left"'),
        ([*CORNERS, {"name": "Middle", "slug": "m"}], '<select name="watermark_position"'),
    ],
)
def test_a_watermark_is_placed_in_a_corner_if_all_positions_are_corners(
    priya: Membership, ready: Job, client_of: Browser, positions: list[Any], shown: str
) -> None:
    offer(ready, watermark_positions=positions)
    assert shown in get_page(client_of(priya), step_url(ready, "visuals"))


def test_a_background_can_be_taken_back(priya: Membership, ready: Job, client_of: Browser) -> None:
    offer(ready, backgrounds=[{"id": 71, "name": "Paper", "slug": "paper"}])
    Draft.objects.update(settings={**ready.draft.settings, "background_id": 71})
    url, kept = step_url(ready, "visuals"), {"genre_id": "941", "image_engine_id": "71"}
    client_of(priya).post(url, {**kept, "background_id": ""})
    ready.refresh_from_db()
    assert ready.draft.settings["background_id"] is None


def test_a_missing_group_hides_its_field_and_an_unknown_one_changes_nothing(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    full = OPTIONS["mandatory"]
    mandatory = {name: items for name, items in full.items() if name != "image_engines"}
    ready.account.options = {"mandatory": mandatory, "smells": [{"id": 1, "name": "Rose"}]}
    ready.account.save()
    browser = client_of(priya)
    html = get_page(browser, step_url(ready, "visuals"))
    assert "Image engine" not in html
    assert "Overlay" not in html
    assert "Cinematic" in html
    assert browser.post(step_url(ready, "visuals"), {"genre_id": "942"}).status_code == 302
    ready.refresh_from_db()
    assert (ready.draft.settings["genre_id"], ready.draft.settings["image_engine_id"]) == (942, 71)
    assert get_page(browser, step_url(ready, "captions")).count("<select") == 0


def test_captions_have_pictures_by_the_words_of_slug_and_name_and_a_search_if_there_are_many(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    faces = [{"slug": f"f-{number}", "name": "Aileron"} for number in range(24)]
    fonts = [{"slug": "serif-italic", "name": "Serif Italic"}, *faces]
    effects = [{"slug": "e-9", "name": "Karaoke"}]
    transitions = [{"slug": "wipe", "name": "Wischen"}]
    optional = {"fonts": fonts, "caption_effects": effects, "transitions": transitions}
    ready.account.options = {"optional": optional}
    ready.account.save()
    html = get_page(client_of(priya), step_url(ready, "captions"))
    assert 'data-sample="font" data-look="italic serif"' in html
    assert html.count('data-sample="font" data-look="aileron f"') == 24
    assert 'data-sample="caption_effect" data-look="e karaoke"' in html
    assert 'data-sample="transition" data-look="wipe wischen"' in html
    assert html.count("data-card-search") == 1
    assert "js/card_search.js" in html
