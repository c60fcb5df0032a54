"""The first and last frame of a scene: uploaded, taken from a clip, removed; kept encrypted."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from dashboard.models import Membership
from proxyapi.models import StoredFile, Storyboard, StoryboardScene, Token
from tests.dashboard.clips.test_references import picture
from tests.dashboard.storyboards.boards import HTMX, Browser, give_clips, send
from tests.storyboards import create_storyboard, create_storyboard_token


@pytest.fixture
def token(priya: Membership) -> Token:
    return create_storyboard_token(priya)


@pytest.fixture
def board(priya: Membership, token: Token) -> Storyboard:
    return create_storyboard(priya, token, "A boat leaves the harbour", "It meets a storm")


def url_of(scene: StoryboardScene, name: str = "last_frame") -> str:
    return reverse("storyboard-frame", args=[scene.storyboard_id, scene.pk, name])


def upload(client, scene: StoryboardScene, content: bytes, name: str = "last_frame", **more: Any):
    file = SimpleUploadedFile("dawn.png", content, "image/png")
    return client.post(url_of(scene, name), {f"file-{name}": file, **more}, headers=HTMX)


def test_a_picture_is_kept_shown_and_removed(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client, one = client_of(priya), board.scenes.all()[0]
    html = upload(client, one, picture(), origin="Scene 2, last frame").content.decode()
    one.refresh_from_db()
    file = StoredFile.objects.get(pk=one.last_frame["file"])
    assert (file.storyboard, one.last_frame["name"]) == (board, "Scene 2, last frame")
    assert picture() not in bytes(file.ciphertext)
    assert "Scene 2, last frame" in html
    assert f'id="tile-{one.pk}"' in html
    shown = client.get(url_of(one))
    assert shown["Content-Type"] == "image/png"
    assert "sandbox" in shown["Content-Security-Policy"]
    client.post(url_of(one), {"removal": "on"}, headers=HTMX)
    one.refresh_from_db()
    assert one.last_frame == {}
    assert client.get(url_of(one)).status_code == 404


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"%PDF-1.7 not a picture", "is not a picture"),
        (b"", "“dawn.png” is empty. Choose another file."),
    ],
)
def test_a_file_that_is_no_picture_is_refused_beside_its_slot(
    content: bytes, sentence: str, priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client, one = client_of(priya), board.scenes.all()[0]
    html = upload(client, one, content).content.decode()
    assert sentence in html
    assert "data-refused" in html
    one.refresh_from_db()
    assert one.last_frame == {}


def test_the_chain_sets_the_first_frame(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    two = board.scenes.all()[1]
    board.scenes.filter(pk=two.pk).update(is_chained=True)
    html = upload(client_of(priya), two, picture(), "first_frame").content.decode()
    assert "The chain sets the first frame of this scene." in html
    two.refresh_from_db()
    assert two.first_frame == {}


def test_frames_are_taken_from_clips_of_other_scenes(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    one, two = board.scenes.all()
    client = client_of(priya)
    empty = client.get(f"{url_of(two)}?from=scenes", headers=HTMX).content.decode()
    assert "No other scene has a clip yet." in empty
    give_clips(send(priya, board), one, two)
    html = client.get(f"{url_of(two)}?from=scenes", headers=HTMX).content.decode()
    assert "<bdi>Scene 1</bdi>" in html
    assert "<bdi>Scene 2</bdi>" not in html
    page = client.get(f"{url_of(two)}?from=library").content.decode()
    assert "No finished videos yet." in page
    assert "data-page" in page


def test_another_name_is_no_frame(priya: Membership, board: Storyboard, client_of: Browser) -> None:
    one = board.scenes.all()[0]
    assert client_of(priya).get(url_of(one, "middle_frame")).status_code == 404
