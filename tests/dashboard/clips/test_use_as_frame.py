"""A finished clip as a frame of the next one, and its prompt for the clipboard."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dashboard.models import Membership
from proxyapi.models import Job, JobState, Token
from tests.dashboard.clips.conftest import HTMX, PROMPT, SETTINGS, Browser, make_clip_draft
from tests.dashboard.clips.test_composer import PAGE, text_of

TITLE = "Aurora over a silent ridge"


@pytest.fixture
def film(token: Token) -> Job:
    """A finished clip that was composed here."""
    job = make_clip_draft(token, SETTINGS)
    Job.objects.filter(pk=job.pk).update(
        state=JobState.COMPLETED,
        remote_id="91",
        title=TITLE,
        media_url="https://media.example/aurora.mp4",
    )
    return Job.objects.select_related("draft").get(pk=job.pk)


def page_with(film: Job, priya: Membership, client_of: Browser) -> str:
    return text_of(client_of(priya).get(f"{PAGE}?frame={film.pk}"))


def compose(token: Token, model: str, **references: object) -> None:
    """Leave a draft of this model open in the composer."""
    make_clip_draft(token, {**SETTINGS, "model": model, "duration": 5, **references})


def test_the_menu_offers_both_and_the_prompt_is_in_it(
    priya: Membership, film: Job, client_of: Browser
) -> None:
    html = text_of(client_of(priya).get(reverse("video-menu", args=[film.pk]), headers=HTMX))
    assert f'href="{PAGE}?frame={film.pk}"' in html
    assert f'data-copy="{PROMPT}"' in html
    assert f'href="{reverse("video", args=[film.pk])}#prompt"' in html


def test_a_clip_that_is_not_ready_offers_its_prompt_alone(
    priya: Membership, film: Job, client_of: Browser
) -> None:
    Job.objects.filter(pk=film.pk).update(state=JobState.FAILED, media_url="")
    html = text_of(client_of(priya).get(reverse("video-menu", args=[film.pk]), headers=HTMX))
    assert "?frame=" not in html
    assert "Copy prompt" in html


def test_a_clip_that_was_not_composed_here_has_no_prompt(
    priya: Membership, film: Job, client_of: Browser
) -> None:
    film.draft.delete()
    html = text_of(client_of(priya).get(reverse("video-menu", args=[film.pk]), headers=HTMX))
    assert "Use as frame" in html
    assert "Copy prompt" not in html


def test_a_first_frame_is_where_the_clip_ends(
    priya: Membership, film: Job, token: Token, client_of: Browser
) -> None:
    compose(token, "brook")
    html = page_with(film, priya, client_of)
    slot = html.split('data-slot="first_frame"')[1]
    assert 'data-take-now="last"' in slot
    assert f'data-film="{reverse("video-media", args=[film.pk])}"' in slot
    assert f"Taking the last frame of “{TITLE}”." in slot
    assert "Without scripts, download the clip" in slot


def test_a_filled_slot_is_left_and_the_next_takes_the_film(
    priya: Membership, film: Job, token: Token, client_of: Browser
) -> None:
    compose(token, "tessera", image={"address": "https://media.example/face.png"})
    slot = page_with(film, priya, client_of).split('data-slot="video"')[1]
    assert 'data-take-now="film"' in slot
    assert f'data-id="{film.pk}"' in slot
    assert f'name="use-video" value="{film.pk}"' in slot.split("<noscript>")[1]


def test_a_model_without_frames_says_so(
    priya: Membership, film: Job, token: Token, client_of: Browser
) -> None:
    compose(token, "marlow-02")
    html = page_with(film, priya, client_of)
    assert "data-take-now" not in html
    assert (
        f"Marlow 02 takes no frames. Choose a model that takes some, then take “{TITLE}” from the "
        "library."
    ) in html


def test_slots_that_are_all_in_use_are_named(
    priya: Membership, film: Job, token: Token, client_of: Browser
) -> None:
    compose(token, "brook", first_frame={"address": "https://media.example/face.png"})
    html = page_with(film, priya, client_of)
    assert "All references of Brook are in use. Remove one," in html


def test_what_is_not_finished_is_not_found(
    priya: Membership, film: Job, client_of: Browser
) -> None:
    Job.objects.filter(pk=film.pk).update(state=JobState.FAILED)
    assert client_of(priya).get(f"{PAGE}?frame={film.pk}").status_code == 404
    assert client_of(priya).get(f"{PAGE}?frame=nonsense").status_code == 200


def test_a_viewer_watches_and_takes_nothing(
    vera: Membership, film: Job, client_of: Browser
) -> None:
    html = text_of(client_of(vera).get(f"{PAGE}?frame={film.pk}"))
    assert "data-take-now" not in html
    assert "data-menus" not in html
