"""Fields of a scene: each saved by itself, never over another's change; nothing typed is lost."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.storyboards.scene_edits import SceneFieldChange, field_version
from dashboard.storyboards.actions import save_scene_fields
from proxyapi.models import JobState, Storyboard, StoryboardScene, Token
from tests.dashboard.storyboards.boards import HTMX, Browser, give_clips, send
from tests.storyboards import create_storyboard, create_storyboard_token


@pytest.fixture
def token(priya: Membership) -> Token:
    return create_storyboard_token(priya)


@pytest.fixture
def board(priya: Membership, token: Token) -> Storyboard:
    return create_storyboard(priya, token, "A boat leaves the harbour", "It meets a storm")


def form_of(scene: StoryboardScene, **changes: Any) -> dict[str, Any]:
    """What the panel's form posts: its values, and the versions that it was built from."""
    versions = {
        f"{name}_seen": field_version(getattr(scene, name))
        for name in ("prompt", "duration", "is_chained")
    }
    chain = {"is_chained": "on"} if scene.is_chained else {}
    return {"prompt": scene.prompt, "duration": scene.duration, **chain, **versions, **changes}


def save(client, scene: StoryboardScene, data: dict[str, Any], **headers: str):
    url = reverse("storyboard-scene", args=[scene.storyboard_id, scene.pk])
    return client.post(url, data, headers=headers)


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


def test_a_prompt_is_saved_and_its_tile_is_sent_but_not_the_text_itself(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    one, two = board.scenes.all()
    html = text_of(save(client_of(priya), one, form_of(one, prompt="A kite\r\nat dusk"), **HTMX))
    one.refresh_from_db()
    assert (one.prompt, one.edited_by) == ("A kite\nat dusk", priya.user)
    assert f'id="tile-{one.pk}"' in html
    assert f'id="tile-{two.pk}"' not in html
    for part in ("scale", "film-bar", "rail", "scene-version", "editor-known"):
        assert f'id="{part}"' in html
    assert "<textarea" not in html


def test_only_the_changed_column_is_written(
    priya: Membership, board: Storyboard, client_of: Browser, django_capture_on_commit_callbacks
) -> None:
    one = board.scenes.all()[0]
    data = form_of(one, duration=8)
    board.scenes.filter(pk=one.pk).update(prompt="Luca's words")
    save(client_of(priya), one, data, **HTMX)
    one.refresh_from_db()
    assert (one.prompt, one.duration) == ("Luca's words", 8)


def test_a_second_change_of_the_same_field_is_not_saved_and_says_whose_the_first_is(
    priya: Membership, luca: Membership, board: Storyboard, client_of: Browser
) -> None:
    one = board.scenes.all()[0]
    data = form_of(one, prompt="Luca's boat")
    save(client_of(priya), one, form_of(one, prompt="Priya's boat"), **HTMX)
    html = text_of(save(client_of(luca), one, data, **HTMX))
    one.refresh_from_db()
    assert one.prompt == "Priya's boat"
    assert "Priya changed this prompt at" in html
    assert "Yours is not saved." in html
    assert "Take Priya&#x27;s" in html
    assert f'name="prompt_seen" value="{data["prompt_seen"]}"' in html
    save(client_of(luca), one, {**data, "overwrite": "prompt"}, **HTMX)
    one.refresh_from_db()
    assert one.prompt == "Luca's boat"


def test_the_same_change_twice_is_no_conflict(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    one, client = board.scenes.all()[0], client_of(priya)
    data = form_of(one, prompt="Sent twice")
    for _ in range(2):
        html = text_of(save(client, one, data, **HTMX))
    assert "Yours is not saved" not in html


def test_a_change_between_the_read_and_the_write_is_a_conflict(
    priya: Membership, luca: Membership, board: Storyboard
) -> None:
    one = board.scenes.all()[0]
    seen = field_version(one.prompt)
    board.scenes.filter(pk=one.pk).update(prompt="Meanwhile", edited_by=luca.user)
    change = SceneFieldChange("prompt", "Mine", seen)
    saved = save_scene_fields(by=priya, storyboard=board, scene=one, changes=[change])
    assert (saved.saved, saved.conflicts[0].by_name) == ((), "Luca")
    one.refresh_from_db()
    assert one.prompt == "Meanwhile"


def test_only_durations_that_the_engine_makes_are_saved(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    board = create_storyboard(priya, token, "A boat", engine="marlow-02", resolution="768P")
    one = board.scenes.get()
    html = text_of(save(client_of(priya), one, form_of(one, duration=7, prompt="Kept"), **HTMX))
    assert "7 s is not offered by Marlow 02. Nearest: 6 s." in html
    one.refresh_from_db()
    assert (one.duration, one.prompt) == (5, "Kept")
    save(client_of(priya), one, form_of(one, duration=10), **HTMX)
    one.refresh_from_db()
    assert one.duration == 10


def test_the_chain_is_switched_with_its_frame_and_not_of_the_first_scene(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    one, two = board.scenes.all()
    html = text_of(save(client_of(priya), two, form_of(two, is_chained="on"), **HTMX))
    two.refresh_from_db()
    assert two.is_chained
    assert "Last frame of scene 1, once it has a clip. Set by the chain." in html
    html = text_of(save(client_of(priya), one, form_of(one, is_chained="on"), **HTMX))
    one.refresh_from_db()
    assert not one.is_chained
    assert "Scene 1 starts the film" in html


def test_a_change_ends_that_a_clip_is_kept(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    job, one = send(priya, board), board.scenes.all()[0]
    give_clips(job, one)
    board.scenes.filter(pk=one.pk).update(kept_at=timezone.now(), kept_by=priya.user)
    save(client_of(priya), one, form_of(one, prompt="Another boat"), **HTMX)
    one.refresh_from_db()
    assert (one.kept_at, one.kept_by) == (None, None)


def test_an_invisible_character_is_refused_and_the_text_stays_without_scripts(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    one = board.scenes.all()[0]
    response = save(client_of(priya), one, form_of(one, prompt="A boat\u202e leaves"))
    assert response.status_code == 422
    assert "A boat\u202e leaves" in response.content.decode()
    one.refresh_from_db()
    assert one.prompt == "A boat leaves the harbour"


def test_a_plain_form_saves_and_returns_to_the_scene(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    two = board.scenes.all()[1]
    response = save(client_of(priya), two, form_of(two, prompt="Saved without scripts"))
    assert response.status_code == 302
    assert response["Location"].endswith(f"?scene={two.pk}")
    two.refresh_from_db()
    assert two.prompt == "Saved without scripts"


@pytest.mark.parametrize(
    ("words", "hint"), [(4, "at least 5 words"), (1501, "1 words too long"), (5, "")]
)
def test_the_count_of_words_is_a_hint_and_no_refusal(
    words: int, hint: str, priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    one = board.scenes.all()[0]
    prompt = " ".join(["boat"] * words)
    html = text_of(save(client_of(priya), one, form_of(one, prompt=prompt), **HTMX))
    one.refresh_from_db()
    assert one.prompt == prompt
    assert hint in html


def test_nothing_is_saved_while_the_film_renders(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    job, one = send(priya, board), board.scenes.all()[0]
    job.state, job.started_at, job.next_poll_at = JobState.RUNNING, timezone.now(), timezone.now()
    job.save()
    html = text_of(save(client_of(priya), one, form_of(one, prompt="Too late"), **HTMX))
    assert "The film is rendering." in html
    one.refresh_from_db()
    assert one.prompt == "A boat leaves the harbour"


def test_a_scene_that_was_deleted_meanwhile_does_not_exist(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    one = board.scenes.all()[0]
    data = form_of(one, prompt="Gone")
    board.scenes.filter(pk=one.pk).delete()
    assert save(client_of(priya), one, data, **HTMX).status_code == 404
