"""How a film was made: what each scene cost, what failed, and the sum of it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.library.queries.video_page import load_video_page
from proxyapi.models import Charge, JobPart, StoryboardCopy
from tests.dashboard.library.conftest import ago
from tests.dashboard.library.storyboards.conftest import RENDER, WRITING


def steps(job):
    return {step.name: step for step in load_video_page(job).history_steps}


def amount(step):
    return step.amount.kind, step.amount.value


def test_a_film_names_each_step_in_its_order(make_film, charge_clips, add_settled_charge):
    job = make_film()
    add_settled_charge(job, 4, WRITING, sent_at=ago(900), body={"prompt": "A train at night"})
    charge_clips(job, (1, 2, 3, 4), 52, sent_at=ago(800))
    add_settled_charge(job, 24, RENDER)
    assert list(steps(job)) == [
        "Storyboard",
        "4 scenes written",
        "Clips of 4 scenes",
        "Scene 1",
        "Scene 2",
        "Scene 3",
        "Scene 4",
        "Render",
    ]
    assert steps(job)["4 scenes written"].meta.startswith("By the service from 4 words, ")


def test_a_charge_for_several_clips_is_split_by_their_list_prices(make_film, charge_clips):
    job = make_film()
    charge_clips(job, (1, 2, 3, 4), 52)
    shown = steps(job)
    split = [amount(shown[f"Scene {number}"]) for number in (1, 2, 3, 4)]
    assert split == [("about", 16), ("about", 10), ("about", 10), ("about", 16)]
    assert amount(shown["Clips of 4 scenes"]) == ("exact", 52)


@pytest.mark.parametrize("cost", [1, 7, 53, 100.25])
def test_the_parts_of_a_charge_add_up_to_it(cost, make_film, charge_clips):
    job = make_film()
    charge_clips(job, (1, 2, 3, 4), cost)
    scenes = [step for step in steps(job).values() if step.scene]
    assert sum(step.amount.value for step in scenes) == Decimal(str(cost))


def test_the_price_of_one_clip_is_exact(make_film, charge_clips):
    job = make_film()
    charge_clips(job, (2,), 10)
    assert amount(steps(job)["Scene 2"]) == ("exact", 10)
    assert steps(job)["Scene 2"].meta == "6 s, Marlow 02"


def test_clips_that_cost_nothing_are_free(make_film, charge_clips):
    job = make_film()
    charge_clips(job, (1, 2), 0)
    assert amount(steps(job)["Scene 1"])[0] == "free"
    assert amount(steps(job)["Clips of 2 scenes"])[0] == "free"


def test_a_clip_that_failed_is_quoted_with_what_it_cost(make_film, charge_clips):
    job = make_film()
    charge_clips(job, (3,), 10)
    JobPart.objects.filter(job=job, remote_id="3").update(
        status="failed", failure_message="Provider timed out."
    )
    step = steps(job)["Scene 3"]
    assert (step.state, step.meta) == ("failed", "6 s, failed")
    assert step.quote == "“Provider timed out.”"
    assert step.note.startswith("10 cr were charged for it.")
    assert step.note.endswith("None has come back.")


def test_a_clip_that_failed_first_keeps_its_reason(make_film, charge_clips):
    job = make_film()
    first = charge_clips(job, (3,), 10, sent_at=ago(900))
    again = charge_clips(job, (3,), 10, sent_at=ago(800))
    JobPart.objects.filter(job=job, remote_id="3").update(charge=again)
    JobPart.objects.create(
        job=job,
        list_name="earlier clips",
        remote_id="3 before",
        position=3,
        status="failed",
        failure_message="Provider timed out.",
        details={"scene": "3"},
        charge=first,
        read_at=ago(850),
    )
    step = steps(job)["Scene 3"]
    assert (step.state, step.quote_state) == ("completed", "failed")
    assert step.meta == "6 s, failed once, then made"
    assert step.quote == "“Provider timed out.”"
    assert amount(step) == ("exact", 20)
    assert "2 clips, 1 failed" in steps(job)["Clips of 1 scene"].meta


def test_clips_of_a_copy_that_was_replaced_belong_to_the_film(
    make_film, charge_clips, add_settled_charge
):
    first = make_film("draft", created_at=ago(2000))
    charge_clips(first, (1, 2), 20, sent_at=ago(1900))
    job = make_film(created_at=ago(1000))
    charge_clips(job, (1,), 16, sent_at=ago(900))
    add_settled_charge(job, 24, RENDER)
    assert steps(job)["Scene 1"].meta == "10 s, made twice"
    made = steps(job)["Clips of 2 scenes"].meta
    assert made.endswith("3 clips, 2 before a change that sent the film anew")
    assert load_video_page(job).spent.value == 60


def test_what_an_earlier_film_cost_is_its_own(make_film, charge_clips):
    before = make_film("draft", created_at=ago(4000))
    charge_clips(before, (1,), 16)
    charge_clips(make_film("completed", created_at=ago(3000)), (1,), 16)
    job = make_film(created_at=ago(1000))
    assert load_video_page(job).spent.value == 0


def test_clips_of_a_removed_scene_are_one_step(make_film, storyboard, charge_clips):
    first = make_film("draft", created_at=ago(2000))
    charge_clips(first, (4,), 16, sent_at=ago(1900))
    storyboard.scenes.last().delete()
    job = make_film(created_at=ago(1000))
    step = steps(job)["Scenes that were removed"]
    assert (step.amount.value, step.meta) == (16, "1 clip, not used")


def test_a_render_that_failed_is_quoted_before_the_one_that_plays(make_film, add_settled_charge):
    job = make_film()
    add_settled_charge(job, 24, RENDER, sent_at=ago(900))
    failure = {"code": "JOIN", "message": "Scene 4 could not be joined."}
    add_settled_charge(job, 24, RENDER, sent_at=ago(400), before={"failure": failure})
    shown = steps(job)
    assert shown["Render"].quote == "“Scene 4 could not be joined.”"
    assert shown["Render"].note == "No refund has been seen in the ledger."
    assert shown["Render again"].current


@pytest.mark.parametrize("state", ["held", "unknown"])
def test_an_open_request_of_clips_is_a_step(state, make_film, add_open_charge):
    job = make_film("running")
    add_open_charge(job, state, operation="text_to_scene.clips", body={"scenes": []})
    assert steps(job)["Scene clips"].amount.kind == state


def test_a_job_without_a_draft_shows_its_charges(make_film, add_settled_charge):
    job = make_film()
    StoryboardCopy.objects.all().delete()
    job.draft.delete()
    add_settled_charge(job, 52, "text_to_scene.clips", body={"scenes": [7, 8]})
    add_settled_charge(job, 24, RENDER)
    page = load_video_page(type(job).objects.get(pk=job.pk))
    assert page.film is None
    assert [step.name for step in page.history_steps] == ["Storyboard", "Scene clips", "Render"]
    assert page.spent.value == 76


def test_a_refunded_clip_costs_nothing(make_film, charge_clips):
    job = make_film()
    charge = charge_clips(job, (2,), 10)
    Charge.objects.filter(pk=charge.pk).update(refunded_at=timezone.now())
    assert amount(steps(job)["Scene 2"]) == ("exact", 0)
