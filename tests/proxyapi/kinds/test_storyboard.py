"""A storyboard and the sandbox: sent step by step, its clips, its price, its film."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone

from proxyapi import stored_files
from proxyapi.charges import reconcile_charge
from proxyapi.kinds import KINDS
from proxyapi.models import ChargeState, Draft, JobKind, JobState, Storyboard
from proxyapi.models.job_part import EARLIER_CLIPS, SCENE_CLIPS, PartState
from proxyapi.polling.part_reads import fetch_parts
from proxyapi.polling.poller import poll_job
from proxyapi.rate_limiter import Priority
from proxyapi.tasks import quote_draft_task
from tests.contract.staging import png
from tests.proxyapi.kinds.storyboard_stage import (
    PROMPTS,
    charge_of,
    clips_charge,
    finish_clips,
    load_copy,
    send,
    shown_prompts,
    shown_scenes,
    sync,
    writes,
)
from tests.proxyapi.money.in_process_sandbox import InProcessSandbox
from tests.proxyapi.money.sandbox_account import SandboxAccount
from tests.storyboards import add_scene, place

pytestmark = pytest.mark.django_db(transaction=True)
WRITING = {"prompt": "A keeper climbs the stairs, then she cleans the lens", "scenes": 3}


def test_a_copy_is_sent_once_and_then_only_what_differs(
    stage: SandboxAccount, board: Storyboard
) -> None:
    job = sync(board)
    assert shown_prompts(stage, job) == list(PROMPTS)
    assert writes(stage) == ["text-to-scene", "scenes"]
    sync(board)
    assert len(writes(stage)) == 2
    first = board.scenes.all()[0]
    board.scenes.filter(pk=first.pk).update(position=9)
    board.scenes.filter(prompt=PROMPTS[2]).update(is_chained=True)
    add_scene(board, "Night falls", last_frame={"address": "https://media.example/1.png"})
    board.scenes.filter(prompt="Night falls").update(position=10)
    job = sync(board)
    assert writes(stage)[2:] == ["scenes", "sort", "chain", "frames"]
    shown = shown_scenes(stage, job)
    assert [one["raw_video_prompt"] for one in shown] == [*PROMPTS[1:], PROMPTS[0], "Night falls"]
    assert shown[1]["chained"] is True
    assert shown[3]["last_frame"] == "https://media.example/1.png"
    sync(board)
    assert len(writes(stage)) == 6


def test_a_frame_that_is_a_file_is_uploaded_and_can_be_taken_away(
    stage: SandboxAccount, board: Storyboard
) -> None:
    file = stored_files.store_file(board, name="mine.png", content_type="image/png", content=png())
    address = {"address": "https://media.example/last.png"}
    board.scenes.filter(prompt=PROMPTS[1]).update(
        first_frame={"file": str(file.pk), "name": "mine.png"}, last_frame=address
    )
    job = sync(board)
    scene = shown_scenes(stage, job)[1]
    assert scene["first_frame"].startswith("http://127.0.0.1")
    assert scene["last_frame"] == address["address"]
    new = stored_files.store_file(board, name="b.png", content_type="image/png", content=png())
    board.scenes.filter(prompt=PROMPTS[1]).update(
        first_frame={"file": str(new.pk), "name": "b.png"}, last_frame={}
    )
    sync(board)
    scene = shown_scenes(stage, job)[1]
    assert (scene["last_frame"], bool(scene["first_frame"])) == (None, True)
    board.scenes.update(first_frame={})
    sync(board)
    assert shown_scenes(stage, job)[1]["first_frame"] is None


def test_clips_are_parts_linked_with_their_charge(
    sandbox: InProcessSandbox, stage: SandboxAccount, board: Storyboard
) -> None:
    first, second, _ = board.scenes.all()
    job = place(board)
    charge = send(clips_charge(job, first.pk, second.pk))
    assert charge.state == ChargeState.CONFIRMED
    clips = list(job.parts.filter(list_name=SCENE_CLIPS))
    assert [(clip.position, clip.state, clip.charge) for clip in clips] == [
        (1, PartState.RUNNING, charge),
        (2, PartState.RUNNING, charge),
    ]
    assert clips[0].text == PROMPTS[0]
    job.refresh_from_db()
    assert (job.state, job.parts_due_at is not None) == (JobState.DRAFT, True)
    finish_clips(sandbox, job)
    done = list(job.parts.filter(list_name=SCENE_CLIPS))
    assert [(clip.state, bool(clip.media_url)) for clip in done] == [
        (PartState.COMPLETED, True)
    ] * 2


def test_a_clip_that_another_one_replaced_is_kept(
    sandbox: InProcessSandbox, stage: SandboxAccount, board: Storyboard
) -> None:
    first = board.scenes.all()[0]
    charge = send(clips_charge(place(board), first.pk))
    job = place(board)
    finish_clips(sandbox, job)
    old = job.parts.get(list_name=SCENE_CLIPS)
    again = send(clips_charge(job, first.pk))
    (kept,) = job.parts.filter(list_name=EARLIER_CLIPS)
    assert (kept.state, kept.charge, kept.media_url) == (
        PartState.COMPLETED,
        charge,
        old.media_url,
    )
    new = job.parts.get(list_name=SCENE_CLIPS)
    assert (new.state, new.charge) == (PartState.RUNNING, again)
    finish_clips(sandbox, job)
    finish_clips(sandbox, job)
    assert job.parts.filter(list_name=EARLIER_CLIPS).count() == 1


def test_a_frame_that_ends_a_clip_keeps_it_as_an_earlier_one(
    sandbox: InProcessSandbox, stage: SandboxAccount, board: Storyboard
) -> None:
    first, second, _ = board.scenes.all()
    send(clips_charge(place(board), first.pk))
    job = place(board)
    finish_clips(sandbox, job)
    frame = {"address": "https://media.example/1.png"}
    board.scenes.filter(pk=first.pk).update(first_frame=frame)
    send(clips_charge(place(board), second.pk))
    assert job.parts.get(list_name=EARLIER_CLIPS).text == PROMPTS[0]
    assert job.parts.get(list_name=SCENE_CLIPS).text == PROMPTS[1]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_lost_answer_to_a_clip_that_is_made_again_is_settled_by_what_is_shown(
    sandbox: InProcessSandbox, stage: SandboxAccount, board: Storyboard, when: str
) -> None:
    first, second, _ = board.scenes.all()
    send(clips_charge(place(board), first.pk))
    job = place(board)
    finish_clips(sandbox, job)
    send(clips_charge(job, second.pk))  # still in the making, and no evidence for the first
    stage.set_fault(f"/v2/text-to-scene/{job.remote_id}/clips", "close", when)
    charge = send(clips_charge(place(board), first.pk))
    assert charge.state == ChargeState.UNKNOWN
    for _ in range(40):
        sandbox.clock.advance(30)
        reconcile_charge(charge.pk)
        charge.refresh_from_db()
    expected = ChargeState.MATCHED if when == "after" else ChargeState.REFUSED
    assert charge.state == expected


def test_the_scenes_of_the_service_replace_those_of_the_storyboard_once(
    stage: SandboxAccount, board: Storyboard
) -> None:
    job = place(board, mode="wizard")
    charge = send(charge_of(job, "text_to_scene.prompt", 4, WRITING))
    assert charge.state == ChargeState.CONFIRMED
    scenes = list(board.scenes.all())
    shown = shown_scenes(stage, job)
    assert [scene.prompt for scene in scenes] == [one["raw_video_prompt"] for one in shown]
    assert [scene.duration for scene in scenes] == [one["duration"] for one in shown]
    board.scenes.filter(pk=scenes[0].pk).update(prompt="Ours now")
    job = load_copy(job)
    fetch_parts(job)
    assert board.scenes.all()[0].prompt == "Ours now"
    ids = [scene["remote_id"] for scene in job.draft.sent_settings["scenes"]]
    assert ids == [one["id"] for one in shown]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_lost_answer_of_the_writer_is_read_back(
    sandbox: InProcessSandbox, stage: SandboxAccount, board: Storyboard, when: str
) -> None:
    job = place(board, mode="wizard")
    stage.set_fault("/v2/text-to-scene/*/prompt", "close", when)
    charge = send(charge_of(job, "text_to_scene.prompt", 4, WRITING))
    for _ in range(40):
        sandbox.clock.advance(30)
        reconcile_charge(charge.pk)
    charge.refresh_from_db()
    was_written = board.scenes.filter(prompt=PROMPTS[0]).count() == 0
    assert was_written is (when == "after")
    assert charge.state == (ChargeState.MATCHED if was_written else ChargeState.REFUSED)


def test_the_price_is_exact_and_the_film_is_made(
    sandbox: InProcessSandbox, stage: SandboxAccount, board: Storyboard
) -> None:
    job = place(board)
    Draft.objects.filter(pk=job.pk).update(quote_due_at=timezone.now())
    quote_draft_task(str(job.pk))
    job = load_copy(job)
    price = job.draft.estimate or Decimal(0)
    assert (price, job.draft.quote_error) == (Decimal(33), "")
    charge = send(charge_of(job, "text_to_scene.render", price))
    assert (charge.state, charge.cost) == (ChargeState.CONFIRMED, price)
    sandbox.clock.advance(3600)
    with sandbox.frozen():
        poll_job(job.pk, lane=Priority.PERSON)
    job.refresh_from_db()
    assert (job.state, bool(job.media_url)) == (JobState.COMPLETED, True)


def test_a_failed_film_is_failed_and_rendered_again_in_the_same_copy(
    sandbox: InProcessSandbox, stage: SandboxAccount, board: Storyboard
) -> None:
    job = sync(board)
    words = {
        "kind": "storyboard",
        "id": int(job.remote_id or 0),
        "statuses": ["rendering", "failed"],
    }
    assert stage.control.post("outcomes", json=words).is_success
    send(charge_of(job, "text_to_scene.render", 33))
    sandbox.clock.advance(3600)
    with sandbox.frozen():
        poll_job(job.pk, lane=Priority.PERSON)
    job = load_copy(job)
    assert (job.state, bool(job.failure_message)) == (JobState.FAILED, True)
    sandbox.clock.advance(60)
    charge = send(charge_of(job, "text_to_scene.render", 33))
    job.refresh_from_db()
    assert (charge.state, job.state) == (ChargeState.CONFIRMED, JobState.RUNNING)


def test_failed_is_the_failed_status() -> None:
    reading = KINDS[JobKind.STORYBOARD].read_status(
        {"video": {"status": "failed", "failure": {"code": "X", "message": "Scene 4."}}}
    )
    assert (reading.state, reading.failure_message) == (JobState.FAILED, "Scene 4.")
