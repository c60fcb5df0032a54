"""The list of voices: found by name, language and gender, heard where a film of the team has it."""

from __future__ import annotations

from django.utils import timezone

from dashboard.models import Membership
from proxyapi.models import Job, JobKind, JobState
from tests.dashboard.studio.conftest import Browser, get_page, step_url
from tests.factories import JobFactory, TokenFactory

HTMX = {"HX-Request": "true", "HX-Target": "voices"}


def test_all_voices_are_listed_with_what_they_speak(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), step_url(draft, "voice"))
    assert "3 voices" in html
    assert "English, German, female" in html


def test_a_search_finds_by_name_and_language(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), step_url(draft, "voice") + "?q=german")
    assert "1 of 3 voices" in html
    assert ("Maren" in html, "Theo" in html) == (True, False)


def test_language_and_gender_narrow_it(priya: Membership, draft: Job, client_of: Browser) -> None:
    html = get_page(client_of(priya), step_url(draft, "voice") + "?language=English&gender=male")
    assert ("Theo" in html, "Maren" in html) == (True, False)


def test_a_search_answers_the_list_alone_and_keeps_the_choice(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    url = step_url(draft, "voice") + "?q=french&voice_id=7"
    html = get_page(client_of(priya), url, **HTMX)
    assert "<html" not in html
    assert 'value="7" checked' in html
    assert "Aurélie" in html


def test_nothing_found_says_so(priya: Membership, draft: Job, client_of: Browser) -> None:
    assert "No results." in get_page(client_of(priya), step_url(draft, "voice") + "?q=klingon")


def test_a_voice_is_heard_in_a_finished_film_of_the_team(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    film = JobFactory.create(
        account=draft.account,
        token=draft.token,
        title="Night trains are back",
        draft__settings={"voice_id": 7},
        state=JobState.COMPLETED,
        remote_id="8",
        finished_at=timezone.now(),
    )
    html = get_page(client_of(priya), step_url(draft, "voice"))
    assert "Used in “Night trains are back”, 0:12" in html
    assert f'data-src="/videos/{film.pk}/media/"' in html
    assert html.count("The service provides no samples") == 1


def test_a_clone_plays_its_own_preview(priya: Membership, draft: Job, client_of: Browser) -> None:
    """The service lists it among its voices by its name."""
    clones = [
        JobFactory.create(
            account=token.account,
            token=token,
            kind=JobKind.CLONE,
            title=name,
            draft=None,
            state=JobState.COMPLETED,
            media_url="https://media.example/preview.mp3",
            remote_id=name,
            finished_at=timezone.now(),
        )
        for token, name in ((draft.token, "Theo"), (TokenFactory.create(), "Maren"))
    ]
    html = get_page(client_of(priya), step_url(draft, "voice"))
    assert html.count("Preview of the clone") == 1
    assert f'data-src="/videos/{clones[0].pk}/media/"' in html


def test_a_film_of_another_team_is_never_played(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    JobFactory.create(draft__settings={"voice_id": 7}, state=JobState.COMPLETED, remote_id="8")
    assert "Used in" not in get_page(client_of(priya), step_url(draft, "voice"))
