"""A storyboard on bad days: answers lost, methods refused, limits, dead workers, restored rows."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from proxyapi.charges import dispatch_charge
from proxyapi.kinds import can_take, storyboard_sync
from proxyapi.kinds.storyboard_requests import (
    CopyGone,
    FrameMissing,
    SceneRefused,
    ScenesDelayed,
    UnknownScenes,
)
from proxyapi.models import ChargeState, Draft, Job, JobState, Storyboard
from proxyapi.models.job_part import SCENE_CLIPS
from proxyapi.tasks import quote_draft_task
from proxyapi.upstream import errors
from tests.proxyapi.kinds.storyboard_stage import (
    PROMPTS,
    SCENES_PATH,
    charge_of,
    clips_charge,
    finish_clips,
    send,
    shown_prompts,
    shown_scenes,
    sync,
    writes,
)
from tests.proxyapi.money.in_process_sandbox import InProcessSandbox, ProcessKilled
from tests.proxyapi.money.sandbox_account import SandboxAccount
from tests.storyboards import add_scene, create_board_on, place

pytestmark = pytest.mark.django_db(transaction=True)
RETRY_AFTER_S = 600


def quoted(job: Job) -> Draft:
    Draft.objects.filter(pk=job.pk).update(quote_due_at=timezone.now())
    quote_draft_task(str(job.pk))
    return Draft.objects.get(pk=job.pk)


def test_scenes_whose_answer_was_lost_are_read_back(
    stage: SandboxAccount, board: Storyboard
) -> None:
    stage.set_fault(SCENES_PATH, "close", "after")
    with pytest.raises(errors.OutcomeUnknown):
        sync(board)
    job = sync(board)
    assert shown_prompts(stage, job) == list(PROMPTS)
    assert writes(stage) == ["text-to-scene", "scenes"]


def test_scenes_that_never_arrived_are_sent_again_when_they_cannot_come_any_more(
    sandbox: InProcessSandbox, stage: SandboxAccount, board: Storyboard
) -> None:
    stage.set_fault(SCENES_PATH, "close", "before")
    with pytest.raises(errors.OutcomeUnknown):
        sync(board)
    with pytest.raises(ScenesDelayed):
        sync(board)
    sandbox.clock.advance(RETRY_AFTER_S)
    job = sync(board)
    assert shown_prompts(stage, job) == list(PROMPTS)


def test_a_scene_that_was_changed_while_its_answer_was_lost_needs_a_new_copy(
    stage: SandboxAccount, board: Storyboard
) -> None:
    stage.set_fault(SCENES_PATH, "close", "after")
    with pytest.raises(errors.OutcomeUnknown):
        sync(board)
    board.scenes.filter(prompt=PROMPTS[0]).update(prompt="Another one")
    draft = place(board).draft
    assert not can_take(draft.sent_settings, draft.settings)


def test_a_restored_database_recognizes_the_scenes_that_it_forgot(
    stage: SandboxAccount, board: Storyboard
) -> None:
    job = sync(board)
    draft = Draft.objects.get(pk=job.pk)
    draft.sent_settings = {**draft.sent_settings, "scenes": draft.sent_settings["scenes"][:1]}
    draft.save()
    job = sync(board)
    assert shown_prompts(stage, job) == list(PROMPTS)
    assert writes(stage) == ["text-to-scene", "scenes"]


def test_scenes_that_were_not_sent_from_here_need_a_new_copy(
    stage: SandboxAccount, board: Storyboard
) -> None:
    job = sync(board)
    scene = {"raw_video_prompt": "Somebody else's"}
    stage.response_data("POST", f"/text-to-scene/{job.remote_id}/scenes", json=scene)
    with pytest.raises(UnknownScenes):
        sync(board)
    draft = Draft.objects.get(pk=job.pk)
    assert not can_take(draft.sent_settings, draft.settings)


def test_a_copy_that_is_gone_needs_a_new_one(stage: SandboxAccount, board: Storyboard) -> None:
    job = sync(board)
    Job.objects.filter(pk=job.pk).update(remote_id="1")
    with pytest.raises(CopyGone):
        sync(board)
    draft = Draft.objects.get(pk=job.pk)
    assert not can_take(draft.sent_settings, draft.settings)


@pytest.mark.parametrize("step", ["sort", "frames", "chain"])
def test_a_method_that_the_service_does_not_take_names_the_setting(
    stage: SandboxAccount, board: Storyboard, step: str
) -> None:
    job = sync(board)
    sent = job.draft.sent_settings
    stage.control.put("settings", json={"scene_edit_method": "POST"})
    if step == "sort":
        board.scenes.filter(prompt=PROMPTS[0]).update(position=9)
    elif step == "frames":
        frame = {"address": "https://media.example/1.png"}
        board.scenes.filter(prompt=PROMPTS[1]).update(first_frame=frame)
    else:
        board.scenes.filter(prompt=PROMPTS[1]).update(is_chained=True)
    charge = send(clips_charge(place(board), board.scenes.all()[0].pk))
    assert charge.state == ChargeState.REFUSED
    assert f"Set VIDEO_API_METHODS=text_to_scene.{step}=POST" in charge.reason
    assert "PUT" in charge.reason
    assert Draft.objects.get(pk=job.pk).sent_settings == sent  # nothing is lost
    stage.control.put("settings", json={"scene_edit_method": "any"})
    sync(board)


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_order_whose_answer_was_lost_is_sent_again(
    stage: SandboxAccount, board: Storyboard, when: str
) -> None:
    sync(board)
    stage.set_fault(f"{SCENES_PATH}/sort", "close", when)
    board.scenes.filter(prompt=PROMPTS[0]).update(position=9)
    with pytest.raises(errors.OutcomeUnknown):
        sync(board)
    board.scenes.filter(prompt=PROMPTS[0]).update(position=1)  # undone
    job = sync(board)
    assert shown_prompts(stage, job) == list(PROMPTS)


def test_a_worker_that_dies_at_each_request_sends_nothing_twice(
    sandbox: InProcessSandbox, stage: SandboxAccount, board: Storyboard
) -> None:
    frame = {"address": "https://media.example/1.png"}
    board.scenes.filter(prompt=PROMPTS[1]).update(last_frame=frame)
    board.scenes.filter(prompt=PROMPTS[2]).update(is_chained=True)
    for _ in range(8):
        sandbox.clock.advance(RETRY_AFTER_S)
        sandbox.point = "wire"  # before the first byte of the next write is out
        try:
            job = sync(board)
            break
        except ProcessKilled:
            sandbox.point = ""
            continue_one_write(sandbox, board)
    scenes = shown_scenes(stage, job)
    assert [scene["raw_video_prompt"] for scene in scenes] == list(PROMPTS)
    assert (scenes[1]["last_frame"], scenes[2]["chained"]) == (frame["address"], True)


def continue_one_write(sandbox: InProcessSandbox, board: Storyboard) -> None:
    """The next worker gets one write further and dies at the following one."""
    count = 0

    def die_at_the_second(name: str) -> None:
        nonlocal count
        count += name == "wire"
        if count > 1:
            raise ProcessKilled

    sandbox.on_point = die_at_the_second
    sandbox.clock.advance(RETRY_AFTER_S)
    try:
        sync(board)
    except ProcessKilled:
        pass
    finally:
        sandbox.on_point = None


def test_a_worker_killed_amid_twelve_clips_orders_them_once(
    sandbox: InProcessSandbox, stage: SandboxAccount
) -> None:
    board = create_board_on(stage.token, *(f"Scene number {n} at sea" for n in range(12)))
    job = place(board)
    charge = clips_charge(job, *(scene.pk for scene in board.scenes.all()), credits=400)
    with sandbox.dying_at("answered"):
        dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.SENDING
    dispatch_charge(charge.pk)
    finish_clips(sandbox, job)
    clips = job.parts.filter(list_name=SCENE_CLIPS)
    assert clips.count() == 12
    assert {clip.charge_id for clip in clips} == {charge.pk}
    assert writes(stage).count("clips") == 1


def test_more_scenes_than_the_service_takes_is_a_sentence(stage: SandboxAccount) -> None:
    board = create_board_on(stage.token, *(f"Scene number {n} at sea" for n in range(60)))
    draft = quoted(place(board))
    assert "must not have more than 40 scenes" in draft.quote_error
    assert (draft.estimate, draft.sent_settings["scenes"]) == (None, [])


def test_a_duration_that_the_service_refuses_names_its_scene(
    stage: SandboxAccount, board: Storyboard
) -> None:
    board.scenes.filter(prompt=PROMPTS[1]).update(duration=7)
    with pytest.raises(SceneRefused) as refused:
        sync(board)
    assert refused.value.user_message == (
        "The service does not accept the duration of scene 2: “The duration is not one that the "
        "clip engine supports.” Nothing was charged."
    )
    board.scenes.filter(prompt=PROMPTS[1]).update(duration=10)
    assert shown_prompts(stage, sync(board)) == list(PROMPTS)


def test_a_frame_that_is_gone_is_named(stage: SandboxAccount, board: Storyboard) -> None:
    frame = {"file": "2c3f0d0e-0000-4000-8000-000000000000", "name": "gone.png"}
    board.scenes.filter(prompt=PROMPTS[1]).update(last_frame=frame)
    with pytest.raises(FrameMissing) as missing:
        sync(board)
    assert "last frame of scene 2" in missing.value.user_message


def test_a_scene_that_is_not_ready_is_left_out_and_its_clip_refused(
    stage: SandboxAccount, board: Storyboard
) -> None:
    first, second, _ = board.scenes.all()
    sentence = "Scene 2 has no prompt."
    unready = {str(second.pk): sentence}
    refused = send(clips_charge(place(board, unready=unready), second.pk))
    assert (refused.state, refused.reason) == (
        ChargeState.REFUSED,
        f"{sentence} Nothing was sent.",
    )
    job = place(board, unready=unready)
    assert shown_prompts(stage, job) == [PROMPTS[0], PROMPTS[2]]
    assert send(clips_charge(job, first.pk)).state == ChargeState.CONFIRMED
    assert quoted(place(board, unready=unready)).quote_error == sentence
    job = place(board)
    assert quoted(job).estimate is not None
    assert shown_prompts(stage, job) == list(PROMPTS)  # in its place


def test_a_scene_that_is_not_there_any_more_is_refused(
    stage: SandboxAccount, board: Storyboard
) -> None:
    gone = board.scenes.all()[1]
    charge = clips_charge(place(board), gone.pk)
    gone.delete()
    place(board)
    assert "not in the storyboard any more" in send(charge).reason


def test_a_storyboard_that_is_busy_is_polled(
    sandbox: InProcessSandbox, stage: SandboxAccount, board: Storyboard
) -> None:
    job = sync(board)
    stage.response_data("POST", f"/text-to-scene/{job.remote_id}/render")
    charge = send(charge_of(place(board), "text_to_scene.render", 33))
    job.refresh_from_db()
    assert (charge.state, job.state) == (ChargeState.REFUSED, JobState.RUNNING)


def test_no_price_is_asked_while_a_charge_is_open(stage: SandboxAccount, board: Storyboard) -> None:
    job = sync(board)
    clips_charge(job, board.scenes.all()[0].pk)
    before = len(stage.control.get("journal").json())
    draft = quoted(job)
    assert draft.quote_due_at is not None and draft.estimate is None
    assert len(stage.control.get("journal").json()) == before


def test_a_change_during_the_request_drops_the_price(
    stage: SandboxAccount, board: Storyboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = storyboard_sync.sync_copy

    def change_meanwhile(job: Job, *rest: Any) -> Any:
        answer = real(job, *rest)
        add_scene(board, "One more")
        place(board)
        return answer

    monkeypatch.setattr(storyboard_sync, "sync_copy", change_meanwhile)
    assert quoted(place(board)).estimate is None
