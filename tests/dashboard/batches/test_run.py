"""A batch that runs: each row is sent once, within its limits, or the batch pauses with a
sentence."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.batches import actions
from dashboard.batches.dry_run import load_dry_run
from dashboard.batches.runner import load_facts, reserved_credits
from dashboard.models import BatchRow, BatchState
from dashboard.studio.planned_renders import continue_planned_render
from proxyapi.calls import priority_of
from proxyapi.models import Account, Charge, Job
from proxyapi.rate_limiter import Priority
from tests.dashboard.batches.conftest import (
    active_plans,
    advance,
    charges_of,
    dry_run,
    end_render,
    end_script,
    jobs_of,
    render_all,
    start,
    states,
    topics,
)
from tests.dashboard.studio.conftest import OPTIONS, SCRIPT
from tests.dashboard.studio.planned import price_draft
from tests.factories import ChargeFactory

pytestmark = pytest.mark.postgresql


def test_no_more_rows_than_allowed_are_in_progress(make_batch, priya):
    batch = advance(start(priya, make_batch(*topics(5), at_once=2)))
    assert states(batch) == ["begun", "begun", "waiting", "waiting", "waiting"]
    assert [charge.hold for charge in charges_of(batch, "faceless.scripts")] == [4, 4]
    assert active_plans(batch) == 2
    assert [job.title for job in jobs_of(batch)] == ["Lake 1", "Lake 2"]


def test_requests_for_a_row_go_behind_people_until_it_has_ended(make_batch, priya):
    batch = advance(start(priya, make_batch(*topics(1))))
    assert priority_of(*jobs_of(batch)) is Priority.BATCH
    render_all(batch)
    assert priority_of(*jobs_of(batch)) is Priority.PERSON


def test_an_empty_cell_takes_what_the_dry_run_showed_and_not_the_row_before(make_batch, priya):
    """The member's last settings, as they were when the batch was started."""
    headers = "title,topic,voice\n"
    batch = make_batch("Fog,Why,Theo", "Ice,How,", headers=headers, at_once=1)
    shown = [check.settings["voice_id"] for check in dry_run(priya, batch).checks]
    batch = start(priya, batch)
    render_all(batch)
    assert [job.draft.settings["voice_id"] for job in jobs_of(batch)] == shown
    assert shown[0] != shown[1]


def test_a_row_that_fails_costs_few_queries_in_a_long_batch(
    make_batch, priya, django_assert_max_num_queries
):
    """Of 200 rows, twenty fail in one run: rows, charges and rules are not loaded for each."""
    Account.objects.update(balance=100_000)
    lines = ["Fog,Why,,Theo,,,"] * 20 + topics(180)
    lines = [line.replace("Fog", f"Fog {at}") for at, line in enumerate(lines)]
    batch = start(priya, make_batch(*lines, at_once=1, max_failures=0))
    voices = [one for one in OPTIONS["mandatory"]["voices"] if one["name"] != "Theo"]
    options = {**OPTIONS, "mandatory": {**OPTIONS["mandatory"], "voices": voices}}
    Account.objects.update(options=options)
    with django_assert_max_num_queries(20 * 13 + 100):
        advance(batch)
    assert states(batch) == ["failed"] * 20 + ["begun"] + ["waiting"] * 179


def test_looking_again_sends_nothing_twice(make_batch, priya):
    batch = start(priya, make_batch(*topics(3), at_once=2))
    for _ in range(3):
        advance(batch)
    assert Charge.objects.filter(job__batch_row__batch=batch).count() == 2
    assert Job.objects.filter(batch_row__batch=batch).count() == 2


def test_a_batch_ends_when_all_its_rows_have_ended(make_batch, priya):
    batch = start(priya, make_batch(*topics(5)))
    render_all(batch)
    batch.refresh_from_db()
    assert states(batch) == ["done"] * 5
    assert batch.state == BatchState.FINISHED
    assert [charge.cost for charge in charges_of(batch)] == [96] * 5


def test_a_row_with_a_script_is_rendered_when_it_is_priced(make_batch, priya):
    batch = advance(start(priya, make_batch(f"Ice,,{SCRIPT},,,,")))
    assert states(batch) == ["begun"]
    assert not Charge.objects.filter(job__batch_row__batch=batch).exists()
    price_draft(jobs_of(batch)[0], 97)
    for _ in range(2):
        advance(batch)
    (render,) = charges_of(batch)
    assert (render.quote, render.member) == (97, priya.user)


def test_a_row_that_is_dearer_than_confirmed_fails_and_is_not_sent(make_batch, priya):
    batch = advance(start(priya, make_batch(f"Ice,,{SCRIPT},,,,")))
    price_draft(jobs_of(batch)[0], 400)
    advance(batch)
    assert not charges_of(batch)
    row = BatchRow.objects.get(batch=batch)
    assert row.state == "failed"
    assert "440 cr would be held" in row.reason


def test_failures_stop_it(make_batch, priya):
    batch = advance(start(priya, make_batch(*topics(4), at_once=2, max_failures=2)))
    for job in jobs_of(batch):
        end_script(job)
    for job in jobs_of(batch):
        continue_planned_render(job.pk)
    for charge in charges_of(batch):
        end_render(charge, failed=True)
    batch = advance(batch)
    assert batch.state == BatchState.PAUSED
    assert batch.pause_reason == "2 videos failed, as many as this batch allows."
    assert states(batch) == ["failed", "failed", "waiting", "waiting"]


def test_the_credit_limit_stops_it(make_batch, priya):
    """A row may cost 4 for its script and 127 for its render: a second one does not fit 200."""
    batch = start(priya, make_batch(*topics(3), at_once=2, max_credits=Decimal(200)))
    render_all(batch)
    batch.refresh_from_db()
    assert states(batch) == ["done", "waiting", "waiting"]
    assert batch.state == BatchState.PAUSED
    assert "more than the 200 cr that were confirmed" in batch.pause_reason


def test_failed_rows_are_sent_again_with_the_script_that_was_paid(make_batch, priya):
    batch = advance(start(priya, make_batch(*topics(1))))
    (job,) = jobs_of(batch)
    end_script(job)
    continue_planned_render(job.pk)
    end_render(charges_of(batch)[0], failed=True)
    batch = advance(batch)
    assert batch.state == BatchState.FINISHED
    rows = actions.load_failed_rows(batch)
    run = load_dry_run(priya, batch, rows)
    assert run.total.low == 88  # without a script
    actions.retry_failed_rows(
        by=priya, batch=batch, seen=run.total.usual, version=actions.dry_run_version(run)
    )
    batch = advance(batch)
    assert states(batch) == ["begun"]
    (facts,) = load_facts(batch)
    assert (facts.earlier, facts.committed) == (100, 100 + facts.limit)
    assert reserved_credits([facts]) == facts.limit
    assert not charges_of(batch, "faceless.scripts")
    price_draft(jobs_of(batch)[0], 96)
    advance(batch)
    end_render(charges_of(batch)[0])
    batch = advance(batch)
    assert states(batch) == ["done"]
    assert batch.state == BatchState.FINISHED


def test_a_script_to_be_written_is_priced_as_those_of_the_same_request(make_batch, history, priya):
    """A script that was asked for with 60 s came out longer, so its render is of the next class."""
    dear = Job.objects.get(title__startswith="Earlier 120")
    fields = {"state": "confirmed", "sent_at": timezone.now(), "settled_at": timezone.now()}
    ChargeFactory(job=dear, operation="faceless.scripts", cost=4, body={"duration": 60}, **fields)
    run = dry_run(priya, make_batch("Ice,Why,,,,60,", "Fog,Why,,,,30,"))
    assert (run.prices[1].usual, run.prices[2].is_guess) == (134, True)
