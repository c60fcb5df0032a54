"""The rail: what is left before the render, which clips can be generated, what they cost."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.storyboards.scene_states import (
    PREVIOUS_CLIP,
    SceneState,
    load_scene_rows,
)
from dashboard.storyboards.queries.rail import Rail, build_rail
from proxyapi.models import ChargeState, JobState, Storyboard, Token
from tests.dashboard.storyboards.boards import (
    HTMX,
    Browser,
    give_clips,
    give_price,
    order,
    reload,
    send,
)
from tests.factories import ChargeFactory
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
    return create_storyboard(priya, token, "A boat leaves", "It meets a storm", "It is home again")


def rail_of(board: Storyboard, reader: Membership) -> Rail:
    board = reload(board)
    return build_rail(reader, board, load_scene_rows(board))


def texts(rail: Rail) -> list[str]:
    return [need.text for need in rail.needs]


def change(board: Storyboard, place: int, **fields: object) -> None:
    scene = board.scenes.all()[place]
    board.scenes.filter(pk=scene.pk).update(**fields)


def test_a_new_storyboard_lacks_its_clips(priya: Membership, board: Storyboard) -> None:
    rail = rail_of(board, priya)

    assert rail.left == 1
    assert texts(rail)[0] == "3 clips are missing or changed"
    assert "16:9 and 720p are offered" in texts(rail)
    assert "4,318 cr are free" in texts(rail)
    assert rail.clips is not None
    assert rail.clips.rate == "1.90 cr per second"
    assert [pick.clip.text for pick in rail.clips.picks] == ["no clip yet, 5 s"] * 3
    total = rail.clips.total
    assert (total.label, total.price_text) == ("Generate 3 clips", "≈ 30 cr")
    assert rail.render is not None
    assert not rail.render.is_ready


def test_each_missing_line_has_its_act(priya: Membership, board: Storyboard) -> None:
    change(board, 0, duration=20)
    change(board, 1, prompt=" ")
    rail = rail_of(board, priya)

    fix, write = rail.needs[0], rail.needs[1]
    assert (fix.text, fix.action_label) == ("1 duration is not offered", "Fix it")
    assert [(it.label, it.seconds) for it in fix.fixes] == [("Scene 1", 15)]
    assert write.text == "Scene 2 has no prompt"
    assert write.url.startswith(reverse("storyboard", args=[board.pk]) + "?scene=")
    assert rail.clips is not None
    assert [pick.clip.blocked for pick in rail.clips.picks] == ["not yet", "not yet", ""]
    assert rail.clips.total.label == "Generate 1 clip"


def test_a_fixed_duration_says_what_its_new_clip_costs(
    priya: Membership, board: Storyboard
) -> None:
    board.engine, board.resolution = "marlow-02", "768P"
    board.save()
    board.scenes.update(duration=6)
    job = send(priya, board)
    give_clips(job, *board.scenes.all())
    reload_account(
        board.account,
        clip_models=[
            {
                **models_without("brook")[0],
                "modifiers": {"duration": {"options": [8, 10], "default": 8}},
            }
        ],
    )

    note = rail_of(board, priya).needs[0].note

    assert note == "Scenes 1, 2 and 3 then need new clips, ≈ 63 cr."


def test_a_film_whose_clips_are_there_asks_for_its_price_by_itself(
    priya: Membership, board: Storyboard
) -> None:
    give_clips(send(priya, board), *board.scenes.all())

    rail = rail_of(board, priya)

    assert (rail.left, rail.clips) == (0, None)
    assert rail.render is not None
    assert rail.render.requests_itself
    assert not rail.render.is_ready


def test_a_film_with_a_price_can_be_rendered(priya: Membership, board: Storyboard) -> None:
    job = send(priya, board)
    give_clips(job, *board.scenes.all())
    give_price(job, 24)

    card = rail_of(board, priya).render

    assert card is not None
    assert card.is_ready
    assert card.price_text == "24 cr"
    assert not card.requests_itself


def test_a_price_from_before_a_clip_is_not_shown(priya: Membership, board: Storyboard) -> None:
    job = send(priya, board)
    give_price(job, 24)
    give_clips(job, *board.scenes.all(), finished_at=timezone.now() + timedelta(days=1))

    card = rail_of(board, priya).render

    assert card is not None
    assert (card.price, card.is_ready) == (None, False)


def test_a_changed_scene_makes_the_other_clips_again_and_says_so(
    priya: Membership, board: Storyboard
) -> None:
    give_clips(send(priya, board), *board.scenes.all())
    change(board, 1, prompt="It meets a whale")

    rail = rail_of(board, priya)

    assert rail.needs[1].text == (
        "Scene 2 changed. The service cannot change a scene, so the film is sent anew and the "
        "clips of 2 other scenes are made again, ≈ 20 cr. Or keep the clip of scene 2."
    )
    assert rail.clips is not None
    reasons = [pick.clip.reason for pick in rail.clips.picks]
    assert reasons == ["made again", "changed", "made again"]
    assert rail.clips.total.count == 3


def test_a_kept_clip_leaves_nothing_to_do(priya: Membership, board: Storyboard) -> None:
    give_clips(send(priya, board), *board.scenes.all())
    change(board, 1, prompt="It meets a whale", kept_at=board.created_at)

    assert rail_of(board, priya).left == 0


def test_a_deleted_scene_and_another_format_are_named(priya: Membership, board: Storyboard) -> None:
    give_clips(send(priya, board), *board.scenes.all())
    board.scenes.all()[0].delete()
    assert rail_of(board, priya).needs[0].text.startswith("A scene was deleted. The service")

    board.resolution = "480p"
    board.save()
    assert texts(rail_of(board, priya))[0].startswith("The resolution changed.")


def test_a_chained_scene_whose_start_was_made_again_is_changed(
    priya: Membership, board: Storyboard
) -> None:
    board.scenes.filter(position=2).update(is_chained=True)
    first, second, _ = board.scenes.all()
    job = send(priya, board)
    job.draft.sent_settings["scenes"][1]["is_chained"] = True
    job.draft.save()
    give_clips(job, second, charge=order(job, priya, [second]))
    give_clips(job, first, charge=order(job, priya, [first]))

    row = load_scene_rows(reload(board))[1]

    assert (row.state, row.changed) == (SceneState.CHANGED, (PREVIOUS_CLIP,))
    assert row.can_keep_clip


def test_a_clip_of_another_format_cannot_be_kept(priya: Membership, board: Storyboard) -> None:
    give_clips(send(priya, board), *board.scenes.all())
    board.scenes.update(kept_at=board.created_at)
    board.resolution = "480p"
    board.save()

    rows = load_scene_rows(reload(board))

    assert {row.state for row in rows} == {SceneState.CHANGED}
    assert not any(row.can_keep_clip for row in rows)


def test_a_new_scene_needs_no_new_film(priya: Membership, board: Storyboard) -> None:
    give_clips(send(priya, board), *board.scenes.all())
    add_scene(board, "Gulls over the pier")

    rail = rail_of(board, priya)

    assert texts(rail)[0] == "1 clip is missing or changed"
    assert rail.clips is not None
    assert [pick.clip.row.number for pick in rail.clips.picks] == [4]


def test_an_engine_that_left_the_plan_is_said_and_nothing_can_be_generated(
    priya: Membership, board: Storyboard
) -> None:
    reload_account(board.account, clip_models=models_without("brook"))

    rail = rail_of(board, priya)

    assert rail.needs[0].text == "Brook is no longer in your plan"
    assert rail.clips is not None
    assert not rail.clips.total.is_ready


def test_clips_that_cost_nothing_are_free_and_have_no_rate(
    priya: Membership, board: Storyboard
) -> None:
    job = send(priya, board)
    order(job, priya, [board.scenes.all()[0]], cost=Decimal(0))

    rail = rail_of(board, priya)

    assert rail.clips is not None
    assert rail.clips.total.price_text == "free"
    assert rail.clips.rate == ""
    assert rail.clips.free_note == "The last clips cost nothing: the render is what is charged."


@pytest.mark.parametrize(("cost", "text"), [(20, "30 cr"), (19, "≈ 30 cr")])
def test_a_price_is_exact_while_clips_cost_what_was_shown(
    priya: Membership, board: Storyboard, cost: int, text: str
) -> None:
    order(send(priya, board), priya, [board.scenes.all()[0]], cost=Decimal(cost))

    rail = rail_of(board, priya)

    assert rail.clips is not None
    assert rail.clips.total.price_text == text


def test_a_lost_answer_says_that_it_is_not_sent_again(priya: Membership, board: Storyboard) -> None:
    job = send(priya, board)
    order(job, priya, [board.scenes.all()[0]], ChargeState.UNKNOWN)

    rail = rail_of(board, priya)

    unknown = next(need for need in rail.needs if need.state == "unknown")
    assert unknown.text.startswith("We do not know whether 20 cr were spent.")
    assert "It will not be sent again" in unknown.text


def test_part_of_a_batch_is_told(priya: Membership, board: Storyboard) -> None:
    scenes = list(board.scenes.all())
    job = send(priya, board)
    charge = order(job, priya, scenes, cost=Decimal(14))
    give_clips(job, *scenes[:2], read_at=charge.applied_at)

    card = rail_of(board, priya).clips

    assert card is not None
    started = "2 of 3 clips were started, 14 of 20 cr charged."
    assert card.notice == f"{started} Scene 3 was not started."


def test_a_refused_request_says_why_until_the_next_one(
    priya: Membership, board: Storyboard
) -> None:
    job = send(priya, board)
    order(job, priya, [board.scenes.all()[0]], ChargeState.REFUSED, reason="Not in your plan.")
    card = rail_of(board, priya).clips
    assert card is not None
    assert card.notice == "Not in your plan."

    order(job, priya, [board.scenes.all()[0]])
    card = rail_of(board, priya).clips
    assert card is not None
    assert card.notice == ""


def test_a_finished_film_is_opened(priya: Membership, board: Storyboard) -> None:
    job = send(priya, board)
    give_clips(job, *board.scenes.all())
    job.state = JobState.COMPLETED
    job.save()

    rail = rail_of(board, priya)

    assert rail.render is not None
    assert rail.render.film_url == reverse("video", args=[job.pk])
    assert rail.clips is not None
    assert not rail.clips.total.is_ready


def test_a_viewer_sees_the_list_without_buttons(
    priya: Membership, vera: Membership, board: Storyboard, client_of: Browser
) -> None:
    page = client_of(vera).get(reverse("storyboard", args=[board.pk])).content.decode()

    assert "3 clips are missing or changed" in page
    assert "Generate" not in page
    assert "chip__select" not in page


def test_a_producer_sees_the_clips_with_their_price(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    page = client_of(priya).get(reverse("storyboard", args=[board.pk])).content.decode()

    assert "Generate 3 clips" in page
    assert "≈ 30 cr" in page
    assert 'name="resolution"' in page


def test_a_film_whose_render_is_unknown_is_neither_changed_nor_rendered_again(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    film = send(priya, board)
    give_clips(film, *board.scenes.all())
    ChargeFactory.create(
        job=film,
        token=film.token,
        member=priya.user,
        operation="text_to_scene.render",
        state=ChargeState.UNKNOWN,
        sent_at=timezone.now(),
    )
    browser = client_of(priya)

    shown = browser.get(reverse("storyboard", args=[board.pk])).content.decode()
    url = reverse("storyboard-render", args=[board.pk])
    question = browser.get(url, headers=HTMX).context["question"]

    locked = "It is not known whether the render was ordered. Scenes are locked until the ledger"
    assert locked in shown and 'class="grip"' not in shown
    assert question.unmet == (f"{locked} shows it.",)
