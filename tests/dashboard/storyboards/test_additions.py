"""A clip's prompt is added to a storyboard: which ones are offered, and what the scene is then."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.utils import timezone

from proxyapi.models import Job, JobKind, JobState, Storyboard, StoryboardScene, Token
from tests.factories import JobFactory
from tests.storyboards import create_storyboard, create_storyboard_token

FILM = "http://127.0.0.1:8001/media/clip.mp4"
PROMPT = "A lighthouse turns its beam across the valley"


@pytest.fixture
def token(priya) -> Token:
    return create_storyboard_token(priya)


@pytest.fixture
def clip(token) -> Job:
    chosen = {
        "model": "brook",
        "prompt": PROMPT,
        "duration": 9,
        "aspect_ratio": "9:16",
        "resolution": "480p",
    }
    return JobFactory.create(
        account=token.account,
        token=token,
        kind=JobKind.CLIP,
        title="Lighthouse",
        state=JobState.COMPLETED,
        remote_id="77",
        media_url=FILM,
        draft__settings=chosen,
    )


def address(clip: Job) -> str:
    return f"/studio/storyboards/additions/{clip.pk}/"


def answer(storyboard: Storyboard | str, **other: Any) -> dict[str, Any]:
    chosen = storyboard if isinstance(storyboard, str) else str(storyboard.pk)
    return {"storyboard": chosen, "scene": str(uuid.uuid4()), **other}


def test_it_offers_the_storyboards_with_the_length_a_scene_would_have(
    clip, token, priya, client_of
):
    create_storyboard(priya, token, "Fog", title="Harbour")
    create_storyboard(priya, token, title="Night train", engine="marlow-02")
    hidden = create_storyboard(priya, token, title="Deleted one")
    Storyboard.objects.filter(pk=hidden.pk).update(hidden_at=timezone.now())
    page = client_of(priya).get(address(clip), headers={"HX-Request": "true"}).content.decode()
    assert "1 scene, Brook, edited" in page
    assert "9 s. Its clip costs ≈ 18 cr." in page
    assert "10 s, nearest to 9 s. Its clip costs ≈ 26 cr. The engine takes no first frame." in page
    assert "Deleted one" not in page
    assert "The service cannot put a clip into a storyboard." in page
    assert "<html" not in page


def test_without_scripts_it_is_a_page_with_the_dialog_open(clip, priya, client_of):
    page = client_of(priya).get(address(clip)).content.decode()
    assert "<html" in page
    assert 'value="new" checked' in page


def test_a_scene_with_its_prompt_is_added_last(clip, token, priya, client_of):
    board = create_storyboard(priya, token, "Fog", "Sea")
    sent = client_of(priya).post(address(clip), answer(board))
    scene = board.scenes.get(position=3)
    assert sent.url == f"/studio/storyboards/{board.pk}/?scene={scene.pk}"
    assert (scene.prompt, scene.duration, scene.first_frame) == (PROMPT, 9, {})
    assert not scene.is_chained


def test_it_starts_on_the_picture_of_the_clip_if_asked(clip, token, priya, client_of):
    board = create_storyboard(priya, token, "Fog")
    client_of(priya).post(address(clip), answer(board, picture="on"))
    frame = board.scenes.get(position=2).first_frame
    assert frame == {"address": FILM, "job": str(clip.pk), "title": "Lighthouse"}


def test_an_engine_that_takes_no_frame_gets_none(clip, token, priya, client_of):
    board = create_storyboard(priya, token, engine="marlow-02")
    client_of(priya).post(address(clip), answer(board, picture="on"))
    scene = board.scenes.get()
    assert (scene.duration, scene.first_frame) == (10, {})


def test_a_clip_without_its_film_gives_no_picture(clip, token, priya, client_of):
    Job.objects.filter(pk=clip.pk).update(media_url="", state=JobState.FAILED)
    board = create_storyboard(priya, token)
    client = client_of(priya)
    assert 'name="picture"' not in client.get(address(clip)).content.decode()
    client.post(address(clip), answer(board, picture="on"))
    assert board.scenes.get().first_frame == {}


def test_a_new_storyboard_has_the_format_of_the_clip(clip, priya, client_of):
    client_of(priya).post(address(clip), answer("new"))
    board = Storyboard.objects.get()
    assert (board.title, board.engine) == ("Lighthouse", "brook")
    assert (board.aspect_ratio, board.resolution, board.audio) == ("9:16", "480p", "")
    assert board.scenes.get().prompt == PROMPT


def test_a_model_that_storyboards_are_not_made_with_is_replaced(clip, priya, client_of):
    clip.draft.settings["model"] = "tessera"
    clip.draft.save()
    client_of(priya).post(address(clip), answer("new"))
    assert Storyboard.objects.get().engine == "brook"


@pytest.mark.parametrize("storyboard", ["new", "existing"])
def test_the_same_form_adds_one_scene(storyboard, clip, token, priya, client_of):
    board = create_storyboard(priya, token) if storyboard == "existing" else storyboard
    client, form = client_of(priya), answer(board)
    first, second = (client.post(address(clip), form) for _ in range(2))
    assert first.url == second.url
    assert (StoryboardScene.objects.count(), Storyboard.objects.count()) == (1, 1)


def test_a_storyboard_whose_film_renders_is_not_changed(clip, token, priya, client_of):
    job = JobFactory.create(
        account=token.account,
        token=token,
        kind=JobKind.STORYBOARD,
        state=JobState.RUNNING,
        remote_id="5",
        next_poll_at=timezone.now(),
    )
    board = create_storyboard(priya, token, copy=job)
    sent = client_of(priya).post(address(clip), answer(board))
    assert sent.status_code == 422
    assert "The film is rendering." in sent.content.decode()
    assert not board.scenes.exists()


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"scene": str(uuid.uuid4())}, "Choose a storyboard."),
        ({"storyboard": "a third one", "scene": str(uuid.uuid4())}, "Choose a storyboard."),
        ({"storyboard": "new", "scene": "x"}, "Reload the page and try again."),
    ],
)
def test_a_form_that_chooses_nothing_is_answered_in_words(form, sentence, clip, priya, client_of):
    sent = client_of(priya).post(address(clip), form)
    assert (sent.status_code, sentence in sent.content.decode()) == (422, True)
    assert not Storyboard.objects.exists()


def test_the_storyboard_of_another_team_does_not_exist(clip, otto, priya, client_of):
    theirs = create_storyboard(otto, create_storyboard_token(otto))
    assert client_of(priya).post(address(clip), answer(theirs)).status_code == 404


def test_the_menu_of_a_clip_offers_it(clip, priya, client_of):
    assert address(clip) in client_of(priya).get(f"/videos/{clip.pk}/menu/").content.decode()


def test_a_clip_whose_prompt_is_not_known_does_not(clip, priya, client_of):
    clip.draft.delete()
    assert address(clip) not in client_of(priya).get(f"/videos/{clip.pk}/menu/").content.decode()
    assert client_of(priya).get(address(clip)).status_code == 404
