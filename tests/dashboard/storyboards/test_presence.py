"""Who is in which scene: seen by the others for a while, and never without Redis an error."""

from __future__ import annotations

import time

import pytest
import redis
from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.storyboards import presence
from proxyapi.models import Storyboard
from tests.dashboard.storyboards.boards import HTMX, Browser
from tests.storyboards import create_storyboard, create_storyboard_token


@pytest.fixture
def board(priya: Membership) -> Storyboard:
    token = create_storyboard_token(priya)
    return create_storyboard(priya, token, "A boat leaves the harbour", "It meets a storm")


def mark(client, board: Storyboard, scene_id: object) -> None:
    url = reverse("storyboard-presence", args=[board.pk])
    assert client.post(url, {"scene": scene_id}, headers=HTMX).status_code == 204


def page(client, board: Storyboard) -> str:
    return client.get(reverse("storyboard", args=[board.pk])).content.decode()


def test_the_others_see_the_name_on_the_tile_and_in_the_head(
    priya: Membership, luca: Membership, board: Storyboard, client_of: Browser
) -> None:
    two = board.scenes.all()[1]
    mark(client_of(priya), board, two.pk)
    html = page(client_of(luca), board)
    assert "Priya is editing scene 2." in html
    assert 'title="Priya is editing this scene">PR<' in html
    assert "is editing" not in page(client_of(priya), board)
    mark(client_of(priya), board, "")
    assert "is editing" not in page(client_of(luca), board)


def test_a_mark_ends_by_itself(
    priya: Membership, luca: Membership, board: Storyboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = board.scenes.all()[0]
    assert presence.mark_presence(board.pk, priya.user, scene.pk)
    assert not presence.mark_presence(board.pk, priya.user, scene.pk)  # nothing new to others
    assert presence.load_presence(board.pk, luca.user)
    later = time.time() + presence.PRESENCE_TTL_S + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert presence.load_presence(board.pk, luca.user) == ()


def test_without_redis_nobody_is_shown(
    priya: Membership, board: Storyboard, monkeypatch: pytest.MonkeyPatch, client_of: Browser
) -> None:
    def refuse() -> None:
        raise redis.ConnectionError

    monkeypatch.setattr(presence, "connect_redis", refuse)
    mark(client_of(priya), board, board.scenes.all()[0].pk)
    assert "2 scenes" in page(client_of(priya), board)
