"""The page of a storyboard's film: its scenes, its buttons for each reader, its states."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.library.queries.video_page import load_video_page
from proxyapi.models import JobPart, StoryboardMode
from tests.dashboard.library.conftest import ago
from tests.dashboard.library.storyboards.conftest import RENDER


def page_of(client, job, rest=""):
    return client.get(f"/videos/{job.pk}/{rest}").content.decode()


def test_the_strip_says_where_each_scene_starts(make_film):
    film = load_video_page(make_film()).film
    assert film is not None
    assert [scene.time_text for scene in film.scenes] == [
        "0:00, 10 s",
        "0:10, 6 s",
        "0:16, 6 s",
        "0:22, 10 s",
    ]
    assert film.note == "4 scenes, 32 s"
    assert film.cuts == ("31.25%", "50%", "68.75%")
    assert [scene.is_chained for scene in film.scenes] == [False, True, False, False]


def test_a_scene_plays_the_film_from_its_start(make_film, vera, client_of):
    job = make_film()
    page = page_of(client_of(vera), job)
    assert f'href="/videos/{job.pk}/media/#t=22"' in page
    assert page.count('class="is-cut"') == 3
    assert page.count("scene--chained") == 1
    assert "goes on from scene 1" in page


def test_its_card_says_its_length_and_its_scenes(make_film, vera, client_of):
    card = load_video_page(make_film()).card
    assert (card.length_text, card.subtitle) == ("0:32", "Storyboard, 4 scenes, Priya")
    page = client_of(vera).get("/library/?type=storyboard").content.decode()
    assert re.search(r'class="frame__end"\s+data-still-length>0:32<', page)


def test_a_scene_without_its_clip_has_no_picture(make_film):
    job = make_film()
    JobPart.objects.filter(job=job, remote_id="2").update(status="failed", media_url="")
    film = load_video_page(job).film
    assert film is not None
    assert [bool(scene.still_url) for scene in film.scenes] == [True, False, True, True]


def test_a_scene_shows_the_start_of_a_long_prompt(make_film, storyboard):
    storyboard.scenes.update(prompt="fog " * 400)
    film = load_video_page(make_film()).film
    assert film is not None
    assert len(film.scenes[0].text) <= 160


def test_it_says_what_it_was_made_with(make_film, storyboard):
    job = make_film()
    type(storyboard).objects.update(mode=StoryboardMode.WIZARD, style="cinematic")
    page = load_video_page(job)
    assert [(fact.label, fact.value) for fact in page.facts] == [
        ("Type", "Storyboard"),
        ("Engine", "Marlow 02"),
        ("Format", "16:9, 512P"),
        ("Length", "32 s"),
        ("Scenes", "4"),
        ("Started from", "A description"),
        ("Style", "Cinematic"),
    ]
    assert page.note == "Storyboard, 16:9, 512P, 32 s, 4 scenes. Made by Priya today."


def test_who_sent_a_copy_made_it_too(make_film, luca):
    page = load_video_page(make_film(member=luca.user))
    assert page.note.endswith("Made by Priya and Luca today.")


@pytest.mark.parametrize("role", ["mira", "jonas", "priya", "luca"])
def test_who_creates_videos_opens_the_storyboard(role, request, make_film, storyboard, client_of):
    page = page_of(client_of(request.getfixturevalue(role)), make_film())
    assert f'href="/studio/storyboards/{storyboard.pk}/"' in page
    assert "Open storyboard" in page
    assert "Render again" not in page


@pytest.mark.parametrize("role", ["vera", "thea"])
def test_others_find_the_download_only(role, request, make_film, client_of):
    page = page_of(client_of(request.getfixturevalue(role)), make_film())
    assert "?download=1" in page
    assert "Open storyboard" not in page
    assert "btn__price" not in page


def test_a_failed_film_is_rendered_again_at_its_price(
    make_film, storyboard, add_settled_charge, priya, client_of
):
    job = make_film("failed")
    type(storyboard).objects.update(copy=job)
    add_settled_charge(job, 24, RENDER)
    page = page_of(client_of(priya), job)
    assert f'href="/studio/storyboards/{storyboard.pk}/render/"' in page
    assert re.search(r'Render again</span>\s*<span class="btn__price">≈ 24 cr', page)
    assert "?download=1" not in page


def test_a_render_that_was_never_charged_is_priced_by_its_estimate(
    make_film, storyboard, priya, client_of
):
    job = make_film("failed")
    type(storyboard).objects.update(copy=job)
    type(job.draft).objects.update(estimate=Decimal(26))
    page = page_of(client_of(priya), job)
    assert re.search(r'Render again</span>\s*<span class="btn__price">≈ 26 cr', page)


def test_a_failed_film_that_was_changed_since_is_rendered_in_the_editor_only(
    make_film, storyboard, priya, client_of
):
    job = make_film("failed")
    type(storyboard).objects.update(copy=make_film("draft"))
    page = page_of(client_of(priya), job)
    assert "Render again" not in page
    assert "Open storyboard" in page


def test_the_menu_of_its_card_opens_the_storyboard(make_film, storyboard, priya, client_of):
    menu = page_of(client_of(priya), make_film(), "menu/")
    assert f'href="/studio/storyboards/{storyboard.pk}/"' in menu


def test_of_a_hidden_storyboard_nothing_is_opened(make_film, storyboard, priya, client_of):
    type(storyboard).objects.update(hidden_at=timezone.now())
    assert "Open storyboard" not in page_of(client_of(priya), make_film())


def test_a_failed_film_says_that_no_refund_was_seen(make_film, add_settled_charge):
    job = make_film("failed", failure_message="Scene 4 could not be joined.")
    add_settled_charge(job, 24, RENDER)
    page = load_video_page(job)
    assert page.status_detail == (
        "“Scene 4 could not be joined.” 24 cr were charged; no refund has been seen in the ledger."
    )
    assert page.card.status_text.endswith("No refund seen.")


def test_a_finished_film_without_a_file_says_so(make_film, vera, client_of):
    page = page_of(client_of(vera), make_film(media_url=""))
    assert "The service says that it is completed, and shows no file of it." in page
    assert "?download=1" not in page


def test_a_rendering_film_has_its_scenes_and_its_bar(make_film, vera, client_of):
    job = make_film("running")
    page = page_of(client_of(vera), job)
    assert "data-film-scenes" in page
    assert "timebar" in page
    assert f'href="/videos/{job.pk}/media/' not in page


def test_a_push_has_the_scenes_too(make_film, vera, client_of):
    job = make_film()
    assert f'id="job-{job.pk}-scenes"' in page_of(client_of(vera), job, "?part=news")


@pytest.mark.parametrize("rest", ["", "actions/?at=head", "?part=news"])
def test_its_page_takes_few_queries(
    rest, make_film, charge_clips, priya, client_of, django_assert_max_num_queries
):
    before = make_film("draft", created_at=ago(2000))
    charge_clips(before, (1, 2), 20)
    job, client = make_film(), client_of(priya)
    charge_clips(job, (1, 2, 3, 4), 52)
    client.get("/service/")  # the first request asks the database what it can do
    with django_assert_max_num_queries(18):
        assert client.get(f"/videos/{job.pk}/{rest}").status_code == 200


def test_a_film_of_sixty_scenes_takes_no_more_queries(make_film, storyboard):
    job = make_film()
    load_video_page(job)  # the first one asks the database what it can do
    with CaptureQueriesContext(connection) as few:
        load_video_page(job)
    for place in range(5, 61):
        storyboard.scenes.create(prompt="Fog", duration=6, position=place)
    many = make_film()
    with CaptureQueriesContext(connection) as all_queries:
        load_video_page(many)
    assert len(all_queries) == len(few)
