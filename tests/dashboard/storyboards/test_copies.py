"""A storyboard in its copies: which one is used, when a new one is made, and what is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from dashboard.members.actions.deactivation import deactivate_member
from dashboard.models import Membership
from dashboard.storyboards.actions import is_placed, place_for_writing, place_in_copy
from dashboard.storyboards.actions.copies import (
    APPROVAL_PENDING,
    CLIP_BEING_MADE,
    FILM_BEING_RENDERED,
    NO_SCENES,
    REQUEST_OPEN,
    SCENES_BEING_WRITTEN,
)
from dashboard.storyboards.readiness.content import ENGINE_GONE
from proxyapi.models import ChargeState, Job, JobPart, JobState, Storyboard, Token, TokenState
from proxyapi.refusals import NotReady, TokenRefused
from tests.factories import ChargeFactory, TokenFactory
from tests.storyboards import (
    MODELS,
    add_scene,
    create_storyboard,
    create_storyboard_token,
    mark_as_sent,
    models_without,
    reload_account,
)

pytestmark = pytest.mark.postgresql


@pytest.fixture
def token(priya: Membership) -> Token:
    return create_storyboard_token(priya)


@pytest.fixture
def board(priya: Membership, token: Token) -> Storyboard:
    return create_storyboard(priya, token, "A boat leaves the harbour", "It meets a storm")


@pytest.fixture
def sent_copy(priya: Membership, board: Storyboard) -> Job:
    job = place_in_copy(by=priya, storyboard=board)
    mark_as_sent(job)
    return job


def change_scene(board: Storyboard, place: int, **fields: object) -> None:
    scene = board.scenes.all()[place]
    board.scenes.filter(pk=scene.pk).update(**fields)


def test_the_first_copy_contains_the_storyboard(priya: Membership, board: Storyboard) -> None:
    job = place_in_copy(by=priya, storyboard=board)
    board.refresh_from_db()
    content = job.draft.settings
    assert (board.copy, job.storyboard_copy.storyboard) == (job, board)
    assert (content["mode"], content["clip_engine_id"]) == ("manual", 7)
    assert [scene["prompt"] for scene in content["scenes"]] == [
        "A boat leaves the harbour",
        "It meets a storm",
    ]
    assert is_placed(board)


def test_without_a_change_the_copy_and_its_price_stay(
    priya: Membership, board: Storyboard, sent_copy: Job
) -> None:
    sent_copy.draft.estimate = Decimal(20)
    sent_copy.draft.save()
    again = place_in_copy(by=priya, storyboard=board)
    assert (again.pk, again.draft.estimate) == (sent_copy.pk, 20)


@pytest.mark.parametrize("change", ["order", "new scene", "frame", "chain"])
def test_a_change_that_the_copy_can_take_drops_its_price(
    priya: Membership, board: Storyboard, sent_copy: Job, change: str
) -> None:
    sent_copy.draft.estimate = Decimal(20)
    sent_copy.draft.save()
    if change == "order":
        change_scene(board, 0, position=5)
    elif change == "new scene":
        add_scene(board, "The harbour again")
    elif change == "frame":
        change_scene(board, 1, last_frame={"address": "https://media.example/1.png"})
    else:
        change_scene(board, 1, is_chained=True)
    assert not is_placed(board)
    again = place_in_copy(by=priya, storyboard=board)
    assert (again.pk, again.draft.estimate) == (sent_copy.pk, None)
    assert again.draft.edited_at > sent_copy.draft.edited_at
    assert is_placed(board)


@pytest.mark.parametrize("change", ["prompt", "duration", "deletion", "resolution", "engine"])
def test_a_change_that_it_cannot_take_makes_a_new_copy(
    priya: Membership, board: Storyboard, sent_copy: Job, change: str
) -> None:
    if change == "prompt":
        change_scene(board, 0, prompt="A ship leaves the harbour")
    elif change == "duration":
        change_scene(board, 0, duration=7)
    elif change == "deletion":
        board.scenes.all()[0].delete()
    elif change == "resolution":
        Storyboard.objects.filter(pk=board.pk).update(resolution="480p")
    else:
        Storyboard.objects.filter(pk=board.pk).update(engine="marlow-02")
    new = place_in_copy(by=priya, storyboard=board)
    board.refresh_from_db()
    assert new.pk != sent_copy.pk
    assert (board.copy, new.draft.sent_settings) == (new, {})
    assert board.copies.count() == 2


def test_a_kept_clip_needs_no_new_copy(
    priya: Membership, board: Storyboard, sent_copy: Job
) -> None:
    change_scene(board, 0, prompt="A ship leaves the harbour", kept_at=timezone.now())
    again = place_in_copy(by=priya, storyboard=board)
    assert again.pk == sent_copy.pk
    assert again.draft.settings["scenes"][0]["prompt"] == "A boat leaves the harbour"


def test_a_finished_film_keeps_its_copy(
    priya: Membership, board: Storyboard, sent_copy: Job
) -> None:
    Job.objects.filter(pk=sent_copy.pk).update(state=JobState.COMPLETED)
    assert place_in_copy(by=priya, storyboard=board).pk != sent_copy.pk


def test_a_failed_film_goes_on_in_the_same_copy(
    priya: Membership, board: Storyboard, sent_copy: Job
) -> None:
    Job.objects.filter(pk=sent_copy.pk).update(state=JobState.FAILED)
    assert place_in_copy(by=priya, storyboard=board).pk == sent_copy.pk


def test_scenes_that_cannot_be_sent_yet_say_why(priya: Membership, board: Storyboard) -> None:
    Storyboard.objects.filter(pk=board.pk).update(engine="marlow-02")
    change_scene(board, 1, prompt=" ")
    job = place_in_copy(by=priya, storyboard=board)
    assert sorted(job.draft.settings["unready"].values()) == [
        "Scene 1: 5 s is not offered by Marlow 02. Nearest: 6 s.",
        "Scene 2 has no prompt.",
    ]


def test_an_engine_that_needs_a_first_frame_waits_for_it(
    priya: Membership, token: Token, board: Storyboard
) -> None:
    frame = {"type": "image", "required": True}
    needy = {**MODELS[0], "modifiers": {**MODELS[0]["modifiers"], "image": frame}}
    reload_account(token.account, clip_models=[needy])
    board.refresh_from_db()
    change_scene(board, 1, is_chained=True)
    job = place_in_copy(by=priya, storyboard=board)
    assert list(job.draft.settings["unready"].values()) == [
        "Scene 1 has no first frame, which Brook needs."
    ]


def test_what_the_engine_does_not_take_is_not_sent(priya: Membership, board: Storyboard) -> None:
    Storyboard.objects.filter(pk=board.pk).update(engine="marlow-02")
    change_scene(board, 1, last_frame={"address": "https://media.example/1.png"}, is_chained=True)
    scene = place_in_copy(by=priya, storyboard=board).draft.settings["scenes"][1]
    assert (scene["last_frame"], scene["is_chained"]) == ({}, False)
    assert scene["unused"] == ["first_frame", "last_frame", "is_chained"]


def test_a_film_that_renders_is_not_changed(
    priya: Membership, board: Storyboard, sent_copy: Job
) -> None:
    now = timezone.now()
    Job.objects.filter(pk=sent_copy.pk).update(state=JobState.RUNNING, next_poll_at=now)
    with pytest.raises(NotReady, match=FILM_BEING_RENDERED):
        place_in_copy(by=priya, storyboard=board)


def test_while_a_clip_is_made_the_film_is_not_sent_anew(
    priya: Membership, board: Storyboard, sent_copy: Job
) -> None:
    now = timezone.now()
    JobPart.objects.create(
        job=sent_copy, list_name="scenes", remote_id="501", position=1, read_at=now
    )
    add_scene(board, "The harbour again")
    assert place_in_copy(by=priya, storyboard=board).pk == sent_copy.pk
    change_scene(board, 0, prompt="A ship leaves the harbour")
    with pytest.raises(NotReady, match=CLIP_BEING_MADE):
        place_in_copy(by=priya, storyboard=board)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [(ChargeState.HELD, REQUEST_OPEN), (ChargeState.DRAFT, APPROVAL_PENDING)],
)
def test_with_an_open_request_the_film_is_not_sent_anew(
    priya: Membership, board: Storyboard, sent_copy: Job, state: ChargeState, sentence: str
) -> None:
    ChargeFactory(job=sent_copy, operation="text_to_scene.clips", state=state)
    assert place_in_copy(by=priya, storyboard=board).pk == sent_copy.pk
    change_scene(board, 0, prompt="A ship leaves the harbour")
    with pytest.raises(NotReady, match=sentence):
        place_in_copy(by=priya, storyboard=board)


def test_the_scenes_are_written_in_an_empty_copy(
    priya: Membership, board: Storyboard, sent_copy: Job
) -> None:
    job = place_for_writing(by=priya, storyboard=board)
    board.refresh_from_db()
    assert (job.draft.settings["mode"], job.draft.settings["scenes"]) == ("wizard", [])
    assert board.copy == sent_copy  # until the scenes are there
    ChargeFactory(job=job, operation="text_to_scene.prompt", state=ChargeState.REFUSED)
    assert place_for_writing(by=priya, storyboard=board) == job
    ChargeFactory(job=job, operation="text_to_scene.prompt")
    for place in (place_for_writing, place_in_copy):
        with pytest.raises(NotReady, match=SCENES_BEING_WRITTEN):
            place(by=priya, storyboard=board)


def test_the_first_writing_is_the_current_copy(priya: Membership, token: Token) -> None:
    board = create_storyboard(priya, token)
    assert place_for_writing(by=priya, storyboard=board) == board.copy
    with pytest.raises(NotReady, match=NO_SCENES):
        place_in_copy(by=priya, storyboard=board)


def test_an_engine_that_left_the_plan_is_refused(
    priya: Membership, token: Token, board: Storyboard
) -> None:
    reload_account(token.account, clip_models=models_without("brook"))
    board.refresh_from_db()
    with pytest.raises(NotReady, match=ENGINE_GONE):
        place_in_copy(by=priya, storyboard=board)
    reload_account(token.account, options={})
    with pytest.raises(NotReady, match=ENGINE_GONE):
        place_in_copy(by=priya, storyboard=board)


def test_the_copy_runs_on_the_members_token_or_the_storyboards(
    priya: Membership, luca: Membership, mira: Membership, token: Token, board: Storyboard
) -> None:
    own = TokenFactory.create(account=token.account, owner=luca.user)
    assert place_in_copy(by=luca, storyboard=board).token == own
    change_scene(board, 0, duration=7)
    mark_as_sent(board.copy)  # type: ignore[arg-type]
    change_scene(board, 0, duration=8)
    assert place_in_copy(by=mira, storyboard=board).token == token
    Token.objects.update(state=TokenState.REVOKED)
    mark_as_sent(board.copy)  # type: ignore[arg-type]
    change_scene(board, 0, duration=9)
    with pytest.raises(TokenRefused):
        place_in_copy(by=mira, storyboard=board)


def test_a_viewer_places_nothing(vera: Membership, board: Storyboard) -> None:
    with pytest.raises(PermissionDenied):
        place_in_copy(by=vera, storyboard=board)


def test_a_token_of_another_account_pays_for_no_copy(
    priya: Membership, luca: Membership, board: Storyboard, token: Token
) -> None:
    """The credits would be held on one account and spent on the other."""
    create_storyboard_token(luca)
    Token.objects.filter(pk=token.pk).update(state=TokenState.REVOKED)
    with pytest.raises(TokenRefused, match="yours opens another account"):
        place_in_copy(by=luca, storyboard=board)
    assert not Job.objects.exists()


def test_a_deactivated_members_token_pays_for_no_new_copy_of_a_colleague(
    mira: Membership, priya: Membership, luca: Membership, board: Storyboard, token: Token
) -> None:
    deactivate_member(by=mira, member=priya)
    with pytest.raises(TokenRefused, match="You have no token yet"):
        place_in_copy(by=luca, storyboard=board)
    own = TokenFactory.create(account=token.account, owner=luca.user)
    assert place_in_copy(by=luca, storyboard=board).token == own
