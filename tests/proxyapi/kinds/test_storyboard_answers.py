"""Answers of another shape than the sandbox's, and refusals by the plan: what a copy does then."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.utils import timezone

from dashboard.models import Membership
from proxyapi.charges import job_effects, reconcile_charge
from proxyapi.models import Charge, ChargeState, Draft, Job, Storyboard
from proxyapi.models.job_part import SCENE_CLIPS, PartState
from proxyapi.polling.part_reads import fetch_parts
from proxyapi.tasks import quote_draft_task
from tests.proxyapi.kinds.storyboard_stage import charge_of, clips_charge, load_copy, send
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    history_page,
    make_response,
)
from tests.storyboards import create_storyboard, create_storyboard_token, place

pytestmark = pytest.mark.django_db
PATH = "/text-to-scene/15701"
CREATED = make_response({"id": 15701, "mode": "manual", "scenes": []}, 201)
VIDEO = {"status": "draft", "url": None}
SCENES: list[dict[str, Any]] = [
    {"id": 501, "raw_video_prompt": "A boat leaves", "duration": 5},
    {"id": 502, "raw_video_prompt": "It meets a storm", "duration": 5},
]
RECORD = {"id": 15701, "scenes": SCENES, "video": VIDEO}


@pytest.fixture
def board(priya: Membership) -> Storyboard:
    token = create_storyboard_token(priya)
    return create_storyboard(priya, token, "A boat leaves", "It meets a storm")


@pytest.fixture
def service(upstream: ScriptedUpstream) -> ScriptedUpstream:
    """It makes the copy, and shows its scenes when it is read."""
    upstream.respond("POST", "/text-to-scene", CREATED)
    upstream.respond("POST", f"{PATH}/scenes", make_response(RECORD, 201))
    upstream.respond("GET", PATH, make_response(RECORD))
    upstream.respond("GET", f"{PATH}/estimate", make_response({"cost": 20}))
    upstream.respond("GET", "/credits/history", history_page())
    return upstream


def quoted(job: Job) -> Draft:
    Draft.objects.filter(pk=job.pk).update(quote_due_at=timezone.now())
    quote_draft_task(str(job.pk))
    return Draft.objects.get(pk=job.pk)


def with_clips(*clips: Any) -> dict[str, Any]:
    scenes = [{**scene, "clip": clip} for scene, clip in zip(SCENES, clips, strict=True)]
    return {**RECORD, "scenes": scenes}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("FEATURE-NOT-ALLOWED", "plan does not include this"),
        ("REACH-PLAN-LIMIT", "A limit of the account's plan"),
        ("REACH-PLAN-STORAGE-LIMIT", "A limit of the account's plan"),
    ],
)
@pytest.mark.parametrize("path", ["/text-to-scene", f"{PATH}/scenes", f"{PATH}/estimate"])
def test_what_the_plan_no_longer_has_is_a_sentence(
    board: Storyboard, service: ScriptedUpstream, code: str, words: str, path: str
) -> None:
    method = "GET" if path.endswith("estimate") else "POST"
    service.respond("GET", PATH, CREATED)
    service.respond(method, path, error_response(403, code))
    job = place(board)
    draft = quoted(job)
    assert words in draft.quote_error
    assert (draft.estimate, draft.quote_due_at) == (None, None)
    assert board.scenes.count() == 2
    charge = send(charge_of(place(board), "text_to_scene.render", 20))
    if method == "POST":
        assert (charge.state, words in charge.reason) == (ChargeState.REFUSED, True)


@pytest.mark.parametrize(
    "answer",
    [
        RECORD,
        {"storyboard": RECORD},
        SCENES,
        {"scenes": SCENES},
        {"message": "added"},
        {"scenes": {"count": 2}},
        None,
        "ok",
    ],
)
def test_scenes_are_known_whatever_the_answer_to_adding_them_is(
    board: Storyboard, service: ScriptedUpstream, answer: Any
) -> None:
    service.respond("POST", f"{PATH}/scenes", make_response(answer, 201))
    draft = quoted(place(board))
    assert [scene["remote_id"] for scene in draft.sent_settings["scenes"]] == [501, 502]
    assert draft.estimate == 20


@pytest.mark.parametrize("shape", [{"id": 15701, "video": VIDEO}, {"scenes": "two"}, [], "x", None])
def test_without_any_scenes_in_answers_the_film_can_still_be_priced(
    board: Storyboard, service: ScriptedUpstream, shape: Any
) -> None:
    service.respond("POST", f"{PATH}/scenes", make_response(None, 201))
    service.respond("GET", PATH, make_response(shape))
    job = place(board)
    assert quoted(job).estimate == 20
    assert len(service.request_bodies("POST", f"{PATH}/scenes")) == 1
    refused = send(clips_charge(load_copy(job), board.scenes.all()[0].pk))
    assert (refused.state, "do not show the scenes" in refused.reason) == (
        ChargeState.REFUSED,
        True,
    )


@pytest.mark.parametrize(
    ("clip", "state"),
    [
        ({"status": "completed", "url": "https://media.example/1.mp4"}, PartState.COMPLETED),
        ({"status": "success", "video_url": "https://media.example/1.mp4"}, PartState.COMPLETED),
        ({"url": "https://media.example/1.mp4"}, PartState.COMPLETED),
        ("https://media.example/1.mp4", PartState.COMPLETED),
        ({"status": "completed", "url": None}, PartState.RUNNING),
        ({"status": "thinking", "url": None}, PartState.RUNNING),
        ({"status": "failed", "failure": "Provider timed out."}, PartState.FAILED),
        ({"status": "failed", "failure": {"code": "X", "message": "No."}}, PartState.FAILED),
        (7, PartState.RUNNING),
    ],
)
def test_a_clip_is_read_in_other_shapes(
    board: Storyboard, service: ScriptedUpstream, clip: Any, state: PartState
) -> None:
    job = place(board)
    quoted(job)
    service.respond("GET", PATH, make_response(with_clips(clip, None)))
    fetch_parts(load_copy(job))
    (part,) = job.parts.filter(list_name=SCENE_CLIPS)
    assert (part.remote_id, part.state, part.text) == ("501", state, "A boat leaves")


def test_scenes_without_a_clip_have_no_part(board: Storyboard, service: ScriptedUpstream) -> None:
    job = place(board)
    quoted(job)
    assert not job.parts.exists()


def test_the_ids_of_the_service_are_sent(board: Storyboard, service: ScriptedUpstream) -> None:
    clips = charged_response(with_clips(None, {"status": "queued"}), 12)
    service.respond("POST", f"{PATH}/clips", clips)
    charge = send(clips_charge(place(board), board.scenes.all()[1].pk))
    assert service.request_bodies("POST", f"{PATH}/clips") == [{"scenes": [502]}]
    assert charge.body == {"scenes": [str(board.scenes.all()[1].pk)]}
    assert charge.job is not None and charge.job.parts.get().charge == charge


def lost_clips(board: Storyboard, service: ScriptedUpstream, before: Any, after: Any) -> Charge:
    """An order of the first scene's clip whose answer was lost; what was shown before and after."""
    quoted(place(board))
    service.respond("GET", PATH, make_response(before))
    service.respond("POST", f"{PATH}/clips", httpx.ReadTimeout)
    charge = send(clips_charge(place(board), board.scenes.all()[0].pk))
    service.respond("GET", PATH, make_response(after))
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    return charge


OLD = {"status": "completed", "url": "https://media.example/old.mp4?sig=1"}
SIGNED = {"status": "completed", "url": "https://media.example/old.mp4?sig=2"}
NEW = {"status": "completed", "url": "https://media.example/new.mp4"}
QUEUED, FAILED = {"status": "queued", "url": None}, {"status": "failed", "failure": "No."}


@pytest.mark.parametrize(
    ("before", "after", "proved"),
    [
        ((None, None), (QUEUED, None), True),
        ((OLD, None), (QUEUED, None), True),
        ((OLD, None), (NEW, None), True),
        ((OLD, None), (FAILED, None), True),
        ((FAILED, None), (QUEUED, None), True),
        ((OLD, None), (SIGNED, None), False),
        ((FAILED, None), (FAILED, None), False),
        ((QUEUED, None), (OLD, None), False),  # it went on by itself
        ((None, QUEUED), (None, OLD), False),  # of another scene
        ((None, None), (None, QUEUED), False),
    ],
)
def test_what_proves_that_a_clip_was_ordered(
    board: Storyboard, service: ScriptedUpstream, before: Any, after: Any, proved: bool
) -> None:
    charge = lost_clips(board, service, with_clips(*before), with_clips(*after))
    assert (charge.applied_at is not None) is proved


def test_without_the_scenes_before_nothing_is_proved_by_those_after(
    board: Storyboard, service: ScriptedUpstream
) -> None:
    hidden = {"id": 15701, "video": VIDEO}
    charge = lost_clips(board, service, hidden, with_clips(QUEUED, None))
    assert charge.applied_at is None


def test_an_answer_without_the_written_scenes_is_read_back_once(
    board: Storyboard, service: ScriptedUpstream
) -> None:
    empty = make_response({**RECORD, "scenes": []})
    service.respond("GET", PATH, empty)
    service.respond("POST", f"{PATH}/prompt", charged_response({"message": "written"}, 4))
    job = place(board, mode="wizard")
    charge = send(charge_of(job, "text_to_scene.prompt", 4, {"prompt": "A boat"}))
    assert (charge.state, charge.cost) == (ChargeState.CONFIRMED, 4)
    service.respond("GET", PATH, make_response(RECORD))
    fetch_parts(load_copy(job))
    assert [scene.prompt for scene in board.scenes.all()] == ["A boat leaves", "It meets a storm"]
    board.scenes.all()[0].delete()
    fetch_parts(load_copy(job))
    assert board.scenes.count() == 1


@pytest.mark.parametrize("is_edited", [False, True])
def test_scenes_that_were_paid_for_and_not_shown_come_with_a_later_reading(
    board: Storyboard, service: ScriptedUpstream, is_edited: bool
) -> None:
    """The debit proved the writing while the service showed no scenes."""
    service.respond("GET", PATH, make_response({**RECORD, "scenes": []}))
    service.respond("POST", f"{PATH}/prompt", httpx.ReadTimeout)
    job = place(board, mode="wizard")
    charge = send(charge_of(job, "text_to_scene.prompt", 4, {"prompt": "A boat"}))
    job_effects.apply_result(charge, {})
    job.refresh_from_db()
    assert job.parts_due_at is not None
    if is_edited:
        board.scenes.update(prompt="Ours", edited_at=timezone.now())
    service.respond("GET", PATH, make_response(RECORD))
    fetch_parts(load_copy(job))
    ours = {scene.prompt for scene in board.scenes.all()} == {"Ours"}
    assert ours is is_edited
    board.scenes.update(prompt="Edited later")
    fetch_parts(load_copy(job))
    assert {scene.prompt for scene in board.scenes.all()} == {"Edited later"}


def test_a_storyboard_that_was_sent_anew_meanwhile_keeps_its_scenes(
    board: Storyboard, service: ScriptedUpstream
) -> None:
    service.respond("GET", PATH, make_response({**RECORD, "scenes": []}))
    service.respond("POST", f"{PATH}/prompt", httpx.ReadTimeout)
    charge = send(
        charge_of(place(board, mode="wizard"), "text_to_scene.prompt", 4, {"prompt": "A boat"})
    )
    board.scenes.update(prompt="Ours")
    board.copy = None
    place(board)
    service.respond("GET", PATH, make_response(RECORD))
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.applied_at is not None
    assert {scene.prompt for scene in board.scenes.all()} == {"Ours"}
