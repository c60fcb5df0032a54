"""Scenes added, duplicated, moved and deleted; chains that part; undo."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from dashboard.models import Membership
from dashboard.storyboards.actions import add_scene as add_scene_to
from dashboard.storyboards.actions import scenes as scene_actions
from proxyapi.models import Storyboard, StoryboardScene, Token
from proxyapi.refusals import NotReady
from tests.dashboard.storyboards.boards import HTMX, Browser, give_clips, send
from tests.storyboards import create_storyboard, create_storyboard_token


@pytest.fixture
def token(priya: Membership) -> Token:
    return create_storyboard_token(priya)


@pytest.fixture
def board(priya: Membership, token: Token) -> Storyboard:
    """Four scenes; the third continues from the second."""
    board = create_storyboard(priya, token, "one", "two", "three", "four")
    board.scenes.filter(prompt="three").update(is_chained=True)
    return board


def act(client, board: Storyboard, action: str, moved: StoryboardScene | None = None, **more: Any):
    url = reverse("storyboard-scenes", args=[board.pk])
    data = {"action": action, "moved": moved.pk if moved else "", **more}
    return client.post(url, data, headers=HTMX)


def order_of(board: Storyboard) -> list[str]:
    scenes = list(board.scenes.all())
    assert [scene.position for scene in scenes] == list(range(1, len(scenes) + 1))
    return [f"{scene.prompt}+" if scene.is_chained else scene.prompt for scene in scenes]


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


def undo_url_of(html: str) -> str:
    return html.split("?undo=")[0].rsplit('"', 1)[1] + "?undo=" + html.split("?undo=")[1][:36]


def test_a_scene_is_added_at_the_end_and_gets_the_focus(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    html = text_of(act(client_of(priya), board, "add"))
    assert order_of(board) == ["one", "two", "three+", "four", ""]
    assert 'data-focus="id_prompt"' in html
    assert "Scene 5 was added." in html
    assert ">Scene 5</h2>" in html


def test_the_first_scene_of_an_empty_storyboard_has_a_duration_that_the_engine_makes(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    board = create_storyboard(priya, token, engine="marlow-02", resolution="768P")
    act(client_of(priya), board, "add")
    assert board.scenes.get().duration == 6


def test_a_scene_is_inserted_before_another_and_parts_a_chain(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    three = board.scenes.get(prompt="three")
    html = text_of(act(client_of(priya), board, "", insert=three.pk))
    assert order_of(board) == ["one", "two", "", "three", "four"]
    assert "Scene 3 no longer continues from scene 2." in html
    act(client_of(priya), board, "after", board.scenes.get(prompt="four"))
    assert order_of(board)[-1] == ""


def test_a_duplicate_has_the_words_but_neither_clip_nor_chain(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    act(client_of(priya), board, "duplicate", board.scenes.get(prompt="three"))
    assert order_of(board) == ["one", "two", "three+", "three", "four"]


@pytest.mark.parametrize(
    ("prompt", "action", "order", "said"),
    [
        ("four", "left", ["one", "two", "four", "three"], "Scene 4 is now scene 3 of 4."),
        ("one", "right", ["two", "one", "three", "four"], "Scene 1 is now scene 2 of 4."),
        ("one", "left", ["one", "two", "three+", "four"], "Scene 1 is the first of 4."),
        ("four", "right", ["one", "two", "three+", "four"], "Scene 4 is the last of 4."),
    ],
)
def test_a_step_is_announced_and_the_focus_stays_on_the_scene(
    prompt: str,
    action: str,
    order: list[str],
    said: str,
    priya: Membership,
    board: Storyboard,
    client_of: Browser,
) -> None:
    scene = board.scenes.get(prompt=prompt)
    html = text_of(act(client_of(priya), board, action, scene))
    assert order_of(board) == order
    assert said in html
    assert f'data-focus="scene-{scene.pk}"' in html


def test_a_scene_that_leaves_its_partner_is_unchained_and_undo_chains_it_again(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client, three = client_of(priya), board.scenes.get(prompt="three")
    html = text_of(act(client, board, "move", three, to="1"))
    assert order_of(board) == ["three", "one", "two", "four"]
    assert "Scene 3 no longer continues from scene 2." in html
    client.post(undo_url_of(html))
    assert order_of(board) == ["one", "two", "three+", "four"]
    messages = client.post(undo_url_of(html), follow=True)
    assert "This was undone already" in messages.content.decode()


def test_partners_that_move_past_others_stay_chained(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    act(client_of(priya), board, "move", board.scenes.get(prompt="one"), to="4")
    assert order_of(board) == ["two", "three+", "four", "one"]


def test_a_scene_with_a_clip_is_deleted_after_a_question_and_comes_back_with_its_clip(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    job, two = send(priya, board), board.scenes.get(prompt="two")
    give_clips(job, two)
    client = client_of(priya)
    response = act(client, board, "delete", two)
    assert "Delete scene 2?" in text_of(response)
    assert response["HX-Retarget"] == "#dialogs"
    assert order_of(board) == ["one", "two", "three+", "four"]
    html = text_of(act(client, board, "delete", two, confirmed="on"))
    assert order_of(board) == ["one", "three", "four"]
    assert "Scene 2 was deleted." in html
    client.post(undo_url_of(html))
    assert order_of(board) == ["one", "two", "three+", "four"]
    page = text_of(client.get(reverse("storyboard", args=[board.pk])))
    assert 'aria-label="Scene 2, ready, 5 s"' in page


def test_a_scene_without_a_clip_is_deleted_at_once(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client, four = client_of(priya), board.scenes.get(prompt="four")
    html = text_of(act(client, board, "delete", four, scene=four.pk))
    assert order_of(board) == ["one", "two", "three+"]
    assert ">Scene 3</h2>" in html  # the neighbour takes its place


def test_the_last_scene_leaves_an_empty_storyboard(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    board = create_storyboard(priya, token, "only")
    html = text_of(act(client_of(priya), board, "delete", board.scenes.get()))
    assert "No scenes yet" in html
    assert not board.scenes.exists()


def test_a_scene_that_was_deleted_meanwhile_cannot_be_moved(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    one = board.scenes.all()[0]
    board.scenes.filter(pk=one.pk).delete()
    assert act(client_of(priya), board, "right", one).status_code == 404


def test_a_storyboard_has_a_limit(
    priya: Membership, board: Storyboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scene_actions, "MAX_SCENES", 4)
    with pytest.raises(NotReady, match="Nothing was added"):
        add_scene_to(by=priya, storyboard=board)


def test_without_scripts_the_page_is_shown_again_with_the_sentence(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    url, four = reverse("storyboard-scenes", args=[board.pk]), board.scenes.get(prompt="four")
    response = client_of(priya).post(url, {"action": "left", "moved": four.pk}, follow=True)
    assert "Scene 4 is now scene 3 of 4." in response.content.decode()
