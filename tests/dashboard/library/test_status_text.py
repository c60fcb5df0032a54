"""What a video shows itself as, and the sentences that say it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from dashboard.library.queries import video_page
from dashboard.shared.videos.progress import usual_duration_note
from proxyapi.models import AccountPlan, Job, RenderDurations, TokenState
from proxyapi.models.job import MAX_JOB_CRASHES
from proxyapi.polling.duration_history import UsualDuration
from proxyapi.polling.job_quarantine import POLLING_QUARANTINED_TEXT
from tests.dashboard.library.conftest import ago
from tests.factories import AccountFactory, TokenFactory

pytestmark = pytest.mark.django_db


def video_of(job: Job) -> Any:
    return video_page.load_video_page(job)


def learn_durations(job: Job, *durations_s: float) -> None:
    """What the polling learns from the ends of renders like this one."""
    for seconds in durations_s:
        RenderDurations.objects.add_duration(job, seconds)


def state(video: Any) -> tuple[str, str]:
    return video.card.state.name, video.card.state.label


@pytest.mark.parametrize(
    ("job", "shown"),
    [
        ("draft", ("draft", "Draft")),
        ("running", ("running", "Rendering")),
        ("completed", ("completed", "Completed")),
        ("failed", ("failed", "Failed")),
    ],
)
def test_a_job_at_rest_shows_its_own_state(job, shown, make_video_job):
    assert state(video_of(make_video_job(job))) == shown


@pytest.mark.parametrize(
    ("charge", "shown"),
    [
        ("held", ("waiting", "Waiting")),
        ("sending", ("running", "Sending")),
        ("unknown", ("unknown", "Unknown")),
    ],
)
def test_an_open_charge_speaks_for_the_video(charge, shown, make_video_job, add_open_charge):
    job = make_video_job("draft")
    add_open_charge(job, charge)
    assert state(video_of(job)) == shown


def test_pitfall_7_an_unknown_word_is_in_progress_and_shown_raw(make_video_job):
    assert state(video_of(make_video_job("running", raw_status="syncing"))) == (
        "running",
        "In progress: syncing",
    )


@pytest.mark.parametrize("stopped", [TokenState.REVOKED, TokenState.PAUSED, TokenState.REMOVED])
def test_a_token_that_stopped_pauses_the_polling_not_the_render(stopped, make_video_job, token):
    job = make_video_job("running")
    type(token).objects.update(state=stopped)
    video = video_of(job)
    assert state(video) == ("paused", "Paused")
    assert "Priya’s token" in video.status_detail or "plan lapsed" in video.status_detail
    assert "Last seen" not in video.status_detail
    assert video.card.freshness.last_status == "rendering"


def test_a_trial_did_not_lapse(make_video_job, token):
    job = make_video_job("running")
    type(token).objects.update(state=TokenState.PAUSED)
    type(job.account).objects.update(plan=AccountPlan.TRIAL)
    story = video_of(job).status_detail
    assert story.startswith(
        "The service allows its API on paid plans only, not on trials. The balance and the ledger "
        "can still be read."
    )
    assert "lapsed" not in story


def test_the_first_of_its_kind_has_no_band(make_video_job):
    bar = video_of(make_video_job("running")).card.bar
    assert (bar.usual_width, bar.note) == (0, "first of its kind")


@pytest.mark.parametrize(("seconds", "low", "high"), [(0, 0, 1), (39, 45, 55), (600, 85, 90)])
def test_the_bar_of_the_first_of_its_kind_starts_empty_and_never_fills_up(
    seconds, low, high, make_video_job
):
    bar = video_of(make_video_job("running", started_at=ago(seconds))).card.bar
    assert low <= bar.fill <= high


def test_the_band_is_where_eight_of_ten_finished(make_video_job):
    learn_durations(make_video_job("completed"), *range(60, 160, 10))
    bar = video_of(make_video_job("running", started_at=ago(50))).card.bar
    assert bar.note == "usually 1–2 min"
    assert 0 < bar.usual_start < bar.usual_start + bar.usual_width < 100
    assert bar.fill < bar.usual_start


def test_past_nineteen_in_twenty_it_is_late_and_not_failed(make_video_job):
    learn_durations(make_video_job("completed"), *[60] * 5)
    video = video_of(
        make_video_job("running", started_at=ago(365), polled_at=ago(11), next_poll_at=ago(-19))
    )
    assert state(video) == ("late", "Rendering")
    assert video.status_detail == (
        "6 min 05 s, longer than usual. It was still rendering 11 s ago. It has not "
        "failed, and we keep checking, every 30 s."
    )
    assert video.card.bar.fill < 100


def test_a_quarantined_video_says_why_it_is_not_polled_any_more(make_video_job):
    learn_durations(make_video_job("completed"), *[60] * 5)
    parked = {
        "failures": MAX_JOB_CRASHES,
        "poll_error": POLLING_QUARANTINED_TEXT,
        "poll_failing_since": ago(60),
    }
    video = video_of(make_video_job("running", started_at=ago(365), polled_at=ago(90), **parked))
    assert video.status_detail == POLLING_QUARANTINED_TEXT
    assert (video.card.freshness.last_status, video.card.freshness.suffix) == ("rendering", "")


def test_another_length_is_another_class(make_video_job):
    learn_durations(make_video_job("completed", length=900), *[300] * 5)
    assert video_of(make_video_job("running")).card.bar.note == "first of its kind"


def test_other_tenants_do_not_say_what_is_usual_here(make_video_job, otto):
    elsewhere = TokenFactory.create(
        account=AccountFactory.create(tenant=otto.team.tenant), owner=otto.user
    )
    learn_durations(make_video_job("completed", token=elsewhere), *[300] * 5)
    assert video_of(make_video_job("running")).card.bar.note == "first of its kind"


@pytest.mark.parametrize(
    ("seconds", "note"),
    [
        ([], "first of its kind"),
        ([41.0], "last time 41 s"),
        ([10.0, 11.0, 12.0], "usually 10–12 s"),
        ([240.0, 300.0, 420.0], "usually 4–7 min"),
        ([30.0, 40.0, 400.0], "usually 32 s to 5 min"),
    ],
)
def test_the_usual_in_words(seconds, note):
    assert usual_duration_note(UsualDuration.of_durations(seconds)) == note


def test_of_few_durations_the_newest_is_shown_and_none_is_late():
    few = UsualDuration.of_durations([50.0, 41.0])
    assert (few.last, few.low, few.is_late(1e6)) == (41.0, None, False)
    assert not UsualDuration.of_durations([60.0] * 4).is_late(1e6)
    assert UsualDuration.of_durations([60.0] * 5).is_late(61)


def test_two_slower_renders_are_the_new_usual():
    """A machine that got busy makes every render slower: not all of them are late for long."""
    usual = UsualDuration.of_durations([*[9.0, 10.0] * 32, 40.0, 41.0])
    assert not usual.is_late(40)
    assert usual_duration_note(usual) == "usually 9–37 s"
    assert UsualDuration.of_durations([9.0, 10.0] * 32).is_late(40)


def test_a_failed_poll_ages_what_we_know_and_changes_no_state(make_video_job):
    job = make_video_job(
        "running",
        polled_at=ago(40),
        poll_error="The service did not answer.",
        poll_failing_since=timezone.now(),
    )
    video = video_of(job)
    assert state(video) == ("running", "Rendering")
    assert video.card.freshness.last_status == "rendering"
    assert video.card.freshness.suffix.startswith("; the service has not responded since ")


def test_a_good_poll_says_when_and_when_next(make_video_job, time_machine):
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    times = {"polled_at": now - timedelta(seconds=4), "next_poll_at": now + timedelta(seconds=9)}
    fresh = video_of(make_video_job("running", **times)).card.freshness
    assert (fresh.age_s, fresh.next_check_s) == (4, 9)


@pytest.mark.parametrize(
    ("now", "sent", "last"), [("12:00", "11:59", "12:14"), ("23:50", "23:49", "7 Nov 00:04")]
)
def test_a_lost_answer_is_said_in_full(
    now, sent, last, make_video_job, add_open_charge, time_machine
):
    here = timezone.get_current_timezone()
    today = datetime(2026, 11, 6, int(now[:2]), int(now[3:]), tzinfo=here)
    time_machine.move_to(today, tick=False)
    job = make_video_job("draft")
    add_open_charge(job, "unknown")
    video = video_of(job)
    assert video.status_detail == (
        f"We do not know whether 42 cr were spent. The render was sent at {sent} and the response "
        "was lost. It will not be sent again. The ledger shows whether it was charged, at the "
        f"latest by {last}."
    )
    assert "46 cr stay held" in video.card.status_text
    assert (video.card.cost.kind, video.card.cost.low, video.card.cost.value) == ("unknown", 0, 42)


def test_an_outcome_that_was_unknown_is_explained_after_it_is_settled(
    make_video_job, add_settled_charge
):
    job = make_video_job("running")
    add_settled_charge(job, 42, state="matched")
    assert video_of(job).status_detail.startswith("It was charged: 42 cr, ledger ")


def test_a_charge_that_was_never_made_leaves_its_sentence(make_video_job, add_open_charge):
    job = make_video_job("draft")
    add_open_charge(job, "refused", reason="It was never charged. The 46 cr held are released.")
    assert video_of(job).status_detail == "It was never charged. The 46 cr held are released."


@pytest.mark.parametrize("word", ["draft", "running", "completed"])
def test_a_charge_that_was_called_uncharged_and_took_credits_says_so(
    word, make_video_job, add_settled_charge
):
    """Ordered again, it is a step of its own: it did not fail, as one that was retried did."""
    job, said = (
        make_video_job(word),
        "It was reported as not charged, but a debit of 42 cr was recorded at 14:10 UTC.",
    )
    add_settled_charge(job, 42, state="matched", code="CHARGED-LATE", reason=said)
    assert video_of(job).status_detail == said
    add_settled_charge(job, 42)
    (_, *_, late, _) = video_of(job).history_steps
    assert (late.state, late.quote) == ("late", said)


def test_a_failure_says_reason_cost_and_the_price_of_again(make_video_job, add_settled_charge):
    job = make_video_job("failed")
    add_settled_charge(job)
    video = video_of(job)
    assert video.status_detail == (
        "“Image for scene 7 could not be made.” 96 cr were charged; no refund has been seen "
        "in the ledger. A retry costs about 96 cr."
    )
    assert video.error_code == "SCENE-IMAGE"
    assert video.card.status_text == "“Image for scene 7 could not be made.” No refund seen."


def test_what_is_spent_is_exact_and_what_is_held_is_said(
    make_video_job, add_settled_charge, add_open_charge
):
    job = make_video_job("failed")
    add_settled_charge(job, 4, "faceless.scripts")
    add_settled_charge(job, 96)
    assert (video_of(job).spent.value, video_of(job).spent.kind) == (100, "exact")
    add_open_charge(job, "held", operation="faceless.retry")
    assert (video_of(job).spent.value, video_of(job).spent.kind) == (146, "held")


def test_the_history_has_every_step_with_its_cost(make_video_job, add_settled_charge):
    job = make_video_job("completed")
    add_settled_charge(job, 4, "faceless.scripts", sent_at=ago(900), body={"duration": 60})
    add_settled_charge(job, 96, sent_at=ago(800))
    add_settled_charge(job, 97, "faceless.retry", sent_at=ago(400))
    nodes = video_of(job).history_steps
    assert [(node.name, node.state, node.amount.value) for node in nodes] == [
        ("Draft", "completed", 0),
        ("Script, 1 min, 11 words", "completed", 4),
        ("Render", "failed", 96),
        ("Retry", "completed", 97),
    ]
    assert nodes[-1].current
    assert nodes[-1].meta.endswith("done in 5 min")


def test_a_failed_run_quotes_its_reason_in_the_lineage(make_video_job, add_settled_charge):
    job = make_video_job("failed")
    add_settled_charge(job)
    node = video_of(job).history_steps[-1]
    assert (node.quote, node.code) == ("“Image for scene 7 could not be made.”", "SCENE-IMAGE")
    assert "The last run cost 96 cr" in node.note
