"""Settings of a storyboard: what breaks nothing applies at once, what breaks something asks first,
and is applied together or not at all."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from dashboard.models import Membership
from proxyapi.models import Job, JobState, Storyboard, Token
from tests.dashboard.storyboards.boards import HTMX, Browser, give_clips, reload, send
from tests.storyboards import (
    add_scene,
    create_storyboard,
    create_storyboard_token,
    models_without,
    reload_account,
)

pytestmark = pytest.mark.usefixtures("template_contexts")


@pytest.fixture
def token(priya: Membership) -> Token:
    return create_storyboard_token(priya)


@pytest.fixture
def board(priya: Membership, token: Token) -> Storyboard:
    return create_storyboard(priya, token, "A boat leaves", "It meets a storm")


def choose(client: Any, board: Storyboard, **data: Any) -> Any:
    return client.post(reverse("storyboard-settings", args=[board.pk]), data, headers=HTMX)


def undo_address(client: Any, board: Storyboard) -> str:
    page = client.get(reverse("storyboard", args=[board.pk])).content.decode()
    found = re.search(r'action="([^"]+\?undo=[^"]+)"', page)
    assert found is not None
    return found[1]


def durations_of(board: Storyboard) -> list[int]:
    return [scene.duration for scene in board.scenes.all()]


def test_a_format_that_breaks_nothing_applies_at_once_and_can_be_undone(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    response = choose(client, board, aspect_ratio="9:16")

    assert "HX-Redirect" in response.headers
    assert reload(board).aspect_ratio == "9:16"

    client.post(undo_address(client, board))
    assert reload(board).aspect_ratio == "16:9"


def test_an_engine_that_breaks_scenes_asks_first(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    board.scenes.filter(position=2).update(duration=9)
    response = choose(client_of(priya), board, engine="marlow-02")

    page = response.context["page"]
    assert response.headers["HX-Retarget"] == "#dialogs"
    assert page.heading == "Change the engine to Marlow 02?"
    assert page.summary == (
        "Marlow 02 makes 6 or 10 s, in 768P. Two scenes and the resolution do not fit. "
        "Nothing is charged by the change."
    )
    chosen = [[it.value for it in row.choices if it.is_chosen] for row in page.rows]
    assert chosen == [["6"], ["10"], ["768P"]]
    assert [(row.before, row.after) for row in page.rows[:2]] == [(10, 16), (18, 26)]
    assert [total.amount for total in page.totals] == [Decimal(28), Decimal(42)]
    assert reload(board).engine == "brook"


def test_the_change_is_applied_together_and_undone_together(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    page = choose(client, board, engine="marlow-02").context["page"]
    first = board.scenes.all()[0]

    choose(
        client, board, **page.hidden, fix="on", resolution="768P", **{f"duration-{first.pk}": 10}
    )
    after = reload(board)
    assert (after.engine, after.resolution, durations_of(board)) == ("marlow-02", "768P", [10, 6])

    client.post(undo_address(client, board))
    before = reload(board)
    assert (before.engine, before.resolution, durations_of(board)) == ("brook", "720p", [5, 5])


def test_durations_stay_without_the_tick(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    page = choose(client, board, engine="marlow-02").context["page"]

    choose(client, board, **page.hidden)

    assert reload(board).engine == "marlow-02"
    assert durations_of(board) == [5, 5]


def test_a_scene_that_changed_since_the_dialog_changes_nothing(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    page = choose(client, board, engine="marlow-02").context["page"]
    add_scene(board, "Gulls over the pier")

    again = choose(client, board, **page.hidden, fix="on").context["page"]

    assert "changed since this was shown" in again.refusal
    assert len([row for row in again.rows if row.is_scene]) == 3
    assert (reload(board).engine, durations_of(board)) == ("brook", [5, 5, 5])


def test_a_choice_changes_only_the_totals(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    page = choose(client, board, engine="marlow-02").context["page"]
    first = board.scenes.all()[0]

    response = choose(client, board, **page.hidden, part="totals", **{f"duration-{first.pk}": 10})

    assert response.context["page"].totals[1].amount == Decimal(42)
    assert "<dialog" not in response.content.decode()
    assert reload(board).engine == "brook"


def test_an_engine_that_left_the_plan_meanwhile_is_refused(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    page = choose(client, board, engine="marlow-02").context["page"]
    reload_account(board.account, clip_models=models_without("marlow-02"))

    choose(client, board, **page.hidden, fix="on")

    shown = client.get(reverse("storyboard", args=[board.pk])).content.decode()
    assert "Marlow 02 is no longer in your plan." in shown
    assert (reload(board).engine, durations_of(board)) == ("brook", [5, 5])


def test_a_value_that_is_not_offered_is_refused(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    choose(client, board, resolution="8K")

    shown = client.get(reverse("storyboard", args=[board.pk])).content.decode()
    assert "8K is not offered by Brook. Nothing was changed." in shown
    assert reload(board).resolution == "720p"


def test_a_format_that_loses_clips_asks_first(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    give_clips(send(priya, board), *board.scenes.all())
    page = choose(client_of(priya), board, resolution="480p").context["page"]

    assert page.heading == "Change the resolution to 480p?"
    assert page.lines[-1].text == (
        "The service cannot change the resolution of a film, so it is sent anew and the clips of "
        "scenes 1 and 2 are made again. They stay in the history."
    )
    assert [total.amount for total in page.totals] == [0, 20]


def test_frames_that_the_engine_does_not_take_are_kept(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    board.scenes.filter(position=2).update(last_frame={"address": "https://media.example/a.png"})
    page = choose(client_of(priya), board, engine="marlow-02").context["page"]

    assert "Last frame of scene 2 is kept but not used." in [line.text for line in page.lines]


def test_without_scripts_the_dialog_is_a_page(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    url, client = reverse("storyboard-settings", args=[board.pk]), client_of(priya)
    page = client.post(url, {"engine": "marlow-02"}).content.decode()
    assert "Change the engine to Marlow 02?" in page
    assert "</html>" in page

    response = client.post(url, {"aspect_ratio": "9:16"})
    assert response["Location"] == reverse("storyboard", args=[board.pk])


def test_nothing_is_changed_while_the_film_renders(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    job = send(priya, board)
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, next_poll_at=board.created_at)
    client = client_of(priya)

    choose(client, board, aspect_ratio="9:16")

    assert reload(board).aspect_ratio == "16:9"
    shown = client.get(reverse("storyboard", args=[board.pk])).content.decode()
    assert "The film is rendering. Scenes are locked until it ends. Nothing was changed." in shown


def test_the_title_is_changed_and_never_empty(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    choose(client, board, title="  Night train   north ")
    assert reload(board).title == "Night train north"

    choose(client, board, title=" ")
    assert reload(board).title == "Night train north"


def test_all_durations_are_fixed_together_and_undone(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    board.engine, board.resolution = "marlow-02", "768P"
    board.save()
    board.scenes.filter(position=2).update(duration=8)
    url, client = reverse("storyboard-durations", args=[board.pk]), client_of(priya)

    client.post(url)
    assert durations_of(board) == [6, 6]

    undo = undo_address(client, board)
    board.scenes.filter(position=1).update(duration=10)  # somebody chose another one since
    client.post(undo)
    assert durations_of(board) == [10, 8]


def test_a_forged_undo_does_not_exist(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    url = reverse("storyboard-durations", args=[board.pk])

    assert client_of(priya).post(f"{url}?undo=abc").status_code == 404


def test_a_changed_scene_keeps_its_clip_and_the_member_is_recorded(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    give_clips(send(priya, board), *board.scenes.all())
    scene = board.scenes.all()[0]
    url, client = reverse("storyboard-kept-clips", args=[board.pk]), client_of(priya)
    client.post(url, {"scene": str(scene.pk)})
    scene.refresh_from_db()
    assert scene.kept_at is None  # it did not change after its clip

    board.scenes.filter(pk=scene.pk).update(prompt="A ferry leaves")
    client.post(url, {"scene": str(scene.pk)})
    scene.refresh_from_db()
    assert scene.kept_by == priya.user


@pytest.mark.parametrize("name", ["settings", "durations", "kept-clips", "price"])
def test_a_viewer_changes_nothing(
    vera: Membership, board: Storyboard, client_of: Browser, name: str
) -> None:
    url = reverse(f"storyboard-{name}", args=[board.pk])
    scene = str(board.scenes.all()[0].pk)

    assert client_of(vera).post(url, {"engine": "marlow-02", "scene": scene}).status_code == 403
