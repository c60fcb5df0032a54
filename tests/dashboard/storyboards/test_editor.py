"""The page of the editor: what it shows of each scene, to whom, and how much it sends."""

from __future__ import annotations

import gzip
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.storyboards.scene_edits import field_version
from proxyapi.models import ChargeState, JobState, Storyboard, Token
from tests.dashboard.storyboards.boards import HTMX, Browser, give_clips, order, send
from tests.factories import ChargeFactory
from tests.storyboards import add_scene, create_storyboard, create_storyboard_token, models_without

PROMPT = "The night train crosses a still fjord under a crescent moon, slowly and without a cut"
PAGE_KB, ANSWER_KB = 90_000, 15_000  # sent, compressed, without media


@pytest.fixture
def token(priya: Membership) -> Token:
    return create_storyboard_token(priya)


@pytest.fixture
def board(priya: Membership, token: Token) -> Storyboard:
    return create_storyboard(priya, token, "A boat leaves the harbour", "It meets a storm", "")


def page(client, board: Storyboard, query: str = "", **headers: str) -> str:
    response = client.get(f"{reverse('storyboard', args=[board.pk])}{query}", headers=headers)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_each_scene_has_a_tile_in_its_state_and_the_first_one_is_picked(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    html = page(client_of(priya), board)
    assert 'aria-label="Scene 1, no clip yet, 5 s"' in html
    assert 'aria-label="Scene 3, no prompt yet, 5 s"' in html
    assert "3 scenes, 0 ready." in html
    assert 'id="panel-title" tabindex="-1">Scene 1</h2>' in html
    assert "The film to scale, 15 seconds: scenes 1 to 2 no clip, 3 no prompt" in html


def test_clips_make_scenes_ready_changed_failed_or_generating(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    add_scene(board, "A third one")
    job = send(priya, board)
    one, two, _, four = board.scenes.all()
    give_clips(job, one)
    give_clips(job, two, status="failed", failure_message="Provider timed out.")
    order(job, priya, [four], ChargeState.SENDING)
    html = page(client_of(priya), board, f"?scene={two.pk}")
    for label in ("Scene 1, ready", "Scene 2, failed", "Scene 4, generating"):
        assert f'aria-label="{label}, 5 s"' in html
    assert "“Provider timed out.”" in html
    now = timezone.now() + timedelta(seconds=1)
    board.scenes.filter(pk=one.pk).update(prompt="Another boat", edited_at=now)
    html = page(client_of(priya), board, f"?scene={one.pk}")
    assert 'aria-label="Scene 1, changed since its clip, 5 s"' in html
    assert "The prompt changed at" in html


def test_a_duration_that_the_engine_does_not_make_names_the_nearest_one(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    board = create_storyboard(priya, token, PROMPT, engine="marlow-02", resolution="768P")
    html = page(client_of(priya), board)
    assert "5 s, not offered by Marlow 02, nearest 6 s" in html
    assert "5 s is not offered by Marlow 02. Nearest: 6 s." in html
    assert "Marlow 02 takes no last frame." in html
    assert html.count('type="radio" name="duration"') == 2


def test_an_engine_with_a_range_of_durations_has_a_number_field(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    html = page(client_of(priya), board)
    assert 'min="1" max="15" value="5"' in html
    assert "Brook makes 1 to 15 s. 5 s: ≈ 10 cr" in html


def test_an_engine_that_left_the_plan_is_said(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    board.account.clip_models = models_without("brook")
    board.account.save()
    assert "brook is no longer in your plan." in page(client_of(priya), board)


def test_an_empty_storyboard_offers_the_first_scene(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    html = page(client_of(priya), create_storyboard(priya, token))
    assert "No scenes yet" in html
    assert 'name="action" value="add"' in html


def test_an_empty_storyboard_leads_back_to_its_description(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    board = create_storyboard(priya, token, description="Lanterns on the platform")
    html = page(client_of(priya), board)
    address = f"{reverse('new-storyboard')}?storyboard={board.pk}"
    assert f'href="{address}"' in html
    assert "Lanterns on the platform" in client_of(priya).get(address).content.decode()


def test_a_single_scene_has_no_chain_and_no_neighbours(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    html = page(client_of(priya), create_storyboard(priya, token, PROMPT))
    assert 'name="is_chained"' not in html
    assert "data-pick" not in html


def test_a_viewer_reads_and_changes_nothing(
    vera: Membership, board: Storyboard, client_of: Browser
) -> None:
    html = page(client_of(vera), board)
    assert "A boat leaves the harbour" in html
    for part in ('class="grip"', 'class="seam', "<textarea", 'id="arrange"', "data-presence"):
        assert part not in html


def test_the_scenes_are_locked_while_the_film_renders(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    job = send(priya, board)
    job.state, job.started_at, job.next_poll_at = JobState.RUNNING, timezone.now(), timezone.now()
    job.save()
    html = page(client_of(priya), board)
    assert "The film is rendering. Scenes are locked until it ends." in html
    assert 'class="grip"' not in html
    assert 'aria-describedby="id_prompt_limit id_prompt_help" disabled>' in html


def test_scenes_that_are_being_written_have_their_places(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    board = create_storyboard(priya, token, PROMPT, scene_count=4)
    job = send(priya, board)
    fields = {"operation": "text_to_scene.prompt", "state": ChargeState.HELD, "hold": 4, "quote": 4}
    ChargeFactory.create(job=job, token=job.token, member=priya.user, **fields)
    html = page(client_of(priya), board)
    assert "Writing 4 scenes" in html
    assert html.count("bone--scene") == 4


def test_picking_a_scene_sends_the_panel_and_its_place_only(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    two = board.scenes.all()[1]
    html = page(client_of(priya), board, f"?scene={two.pk}", **HTMX)
    assert "It meets a storm" in html
    assert 'id="scale"' in html
    assert 'id="scenes"' not in html


def test_a_page_that_shows_everything_gets_nothing_again(
    priya: Membership, luca: Membership, board: Storyboard, client_of: Browser
) -> None:
    client, one = client_of(priya), board.scenes.all()[0]
    url = f"{reverse('storyboard', args=[board.pk])}?part=live&scene={one.pk}"
    shown = client.get(url, headers=HTMX)
    version = shown.content.decode().split('name="version" value="')[1].split('"')[0]
    assert client.get(f"{url}&version={version}", headers=HTMX).status_code == 204
    board.scenes.filter(pk=one.pk).update(prompt="Changed by Luca", edited_by=luca.user)
    answer = client.get(f"{url}&version={version}&prompt_seen=before", headers=HTMX)
    assert "Changed by Luca" in answer.content.decode()


def test_sixty_scenes_keep_within_the_bytes_and_the_queries(
    priya: Membership, token: Token, client_of: Browser, django_assert_max_num_queries
) -> None:
    board = create_storyboard(priya, token, *(f"{PROMPT}, take {n}" for n in range(60)))
    give_clips(send(priya, board), *board.scenes.all()[:40])
    client, one = client_of(priya), board.scenes.all()[50]
    with django_assert_max_num_queries(45):
        sent = client.get(reverse("storyboard", args=[board.pk])).content
    assert len(gzip.compress(sent)) < PAGE_KB / 3
    assert len(sent) < 2 * PAGE_KB
    data = {"prompt": f"{PROMPT} again", "prompt_seen": field_version(one.prompt)}
    url = reverse("storyboard-scene", args=[board.pk, one.pk])
    with django_assert_max_num_queries(45):
        answer = client.post(url, data, headers=HTMX).content
    assert len(gzip.compress(answer)) < ANSWER_KB
    print(len(sent), len(gzip.compress(sent)), len(answer), len(gzip.compress(answer)))
