"""What a charge does to its job: once, on the job as it is then, and never undone by a poll."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import dispatch_charge, reconcile_charge
from proxyapi.kinds import faceless_draft
from proxyapi.models import Charge, ChargeState, Draft, Job, JobState
from proxyapi.polling import due_work
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    history_page,
    make_response,
)

Held = Callable[..., Charge]
RENDER = ("POST", "/faceless/7/render")
SCRIPTS = ("PUT", "/faceless/7/scripts")
GET = ("GET", "/faceless/7")
LEDGER = ("GET", "/credits/history")


def settled(charge: Charge, *, late: bool = False) -> Charge:
    """Read back; `late` is when all that is booked has been booked."""
    if late:
        long_ago = timezone.now() - timedelta(seconds=200)
        Charge.objects.filter(pk=charge.pk).update(sent_at=long_ago, lost_at=long_ago)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def meanwhile(
    reply: httpx.Response, chosen: dict[str, Any] | None = None, **fields: Any
) -> Callable[[httpx.Request], httpx.Response]:
    """Somebody changes the job or its draft while the service works."""

    def handle(request: httpx.Request) -> httpx.Response:
        if chosen:
            Draft.objects.update(settings=chosen)
        if fields:
            Job.objects.update(**fields)
        return reply

    return handle


def test_what_happened_to_the_job_while_it_was_sent_stays(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    hidden = timezone.now()
    upstream.respond(
        *RENDER, meanwhile(charged_response({"id": 7}, 92), hidden_at=hidden, title="Snow")
    )
    dispatch_charge(make_held_charge().pk)
    job.refresh_from_db()
    assert (job.state, job.title, job.hidden_at) == (JobState.RUNNING, "Snow", hidden)


def test_a_script_that_arrives_keeps_the_choices_that_were_made_meanwhile(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    chosen = {**job.draft.settings, "voice_id": 9}
    upstream.respond(*SCRIPTS, meanwhile(charged_response({"script": "Ice flows."}, 4), chosen))
    dispatch_charge(make_held_charge("faceless.scripts").pk)
    job.refresh_from_db()
    assert job.draft.settings == {**chosen, "script": "Ice flows."}
    assert job.draft.unsent_settings() == {"voice_id": 9}


@pytest.mark.parametrize("end", [JobState.COMPLETED, JobState.FAILED])
def test_a_render_that_ended_before_its_debit_is_seen_does_not_start_again(
    end: str, job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, make_response({"id": 7}, 202))
    upstream.respond(*LEDGER, history_page())
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    Job.objects.update(state=end, media_url="http://127.0.0.1:8001/media/a.mp4")
    upstream.respond(*GET, make_response(video_response(end)))
    assert settled(charge, late=True).state == ChargeState.UNKNOWN
    job.refresh_from_db()
    assert (job.state, job.media_url) == (end, "http://127.0.0.1:8001/media/a.mp4")


def test_a_script_does_not_overwrite_a_persons_words_at_each_poll(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*SCRIPTS, httpx.ReadTimeout)
    upstream.respond(*LEDGER, history_page())
    charge = make_held_charge("faceless.scripts")
    dispatch_charge(charge.pk)
    upstream.respond(*GET, make_response({"id": 7, "script": "Ice flows."}))
    settled(charge)
    job.refresh_from_db()
    assert job.draft.settings["script"] == "Ice flows."
    Draft.objects.update(settings={**job.draft.settings, "script": "Mine."})
    settled(charge)
    job.refresh_from_db()
    assert job.draft.settings["script"] == "Mine."


def test_a_retry_that_was_seen_running_is_not_called_never_charged_when_it_fails(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    failed, rendering = (
        make_response(video_response("failed")),
        make_response(video_response("rendering")),
    )
    upstream.respond(*GET, failed, rendering, failed)
    upstream.respond("POST", "/faceless/7/retry", httpx.ReadTimeout)
    upstream.respond(*LEDGER, history_page())
    charge = make_held_charge("faceless.retry")
    dispatch_charge(charge.pk)
    assert settled(charge).state == ChargeState.UNKNOWN
    assert settled(charge, late=True).state == ChargeState.UNKNOWN
    assert charge.account.held_credits() == 106


def test_a_long_wait_for_an_answer_is_no_part_of_the_half_minute(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """The service may still be at it: the answer was given up a moment ago."""
    upstream.respond(*RENDER, httpx.ReadTimeout)
    upstream.respond(*LEDGER, history_page())
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    Charge.objects.update(sent_at=timezone.now() - timedelta(seconds=65))
    assert settled(charge).state == ChargeState.UNKNOWN


def test_a_lost_free_use_leaves_no_debit_and_is_settled_at_nothing(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """pitfall_57: free uses come first and are in no ledger."""
    job.account.costs = {"CONTENT_PROMPT_REQUESTED": {"credits": 4, "free": 3}}
    job.account.save(update_fields=["costs"])
    upstream.respond(*SCRIPTS, httpx.ReadTimeout)
    upstream.respond(*LEDGER, history_page())
    charge = make_held_charge("faceless.scripts")
    dispatch_charge(charge.pk)
    upstream.respond(*GET, make_response({"id": 7, "script": "Ice flows."}))
    assert settled(charge).state == ChargeState.UNKNOWN
    assert settled(charge, late=True).state == ChargeState.MATCHED
    assert charge.cost == 0


def test_the_draft_is_not_changed_upstream_while_a_charge_of_it_is_open(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """Else our own patch is taken for the script that the charge was for."""
    Draft.objects.update(
        settings={**job.draft.settings, "script": "Mine."}, quote_due_at=timezone.now()
    )
    make_held_charge("faceless.scripts")
    faceless_draft.quote_draft(Job.objects.get())
    job.refresh_from_db()
    assert upstream.requests == []
    assert job.draft.quote_due_at is not None
    assert job.draft.quote_due_at > timezone.now()


def test_credits_that_the_ledger_found_leave_the_balance_that_did_not_know_of_them(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, httpx.ReadTimeout)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    booked = {"credit_spend": "-94", "created_at": timezone.now().isoformat()}
    upstream.respond(*GET, make_response(video_response("rendering")))
    upstream.respond(*LEDGER, history_page(booked))
    assert settled(charge).cost == 94
    job.account.refresh_from_db()
    assert job.account.available_balance() == Decimal(906)


def test_an_abandoned_charge_is_enqueued_once_and_not_at_every_tick(make_held_charge: Held) -> None:
    charge, then = make_held_charge(), timezone.now() - timedelta(minutes=3)
    Charge.objects.update(state=ChargeState.SENDING, sent_at=then, due_at=then)
    assert list(due_work.lease_due_charges()) == [(charge.pk, ChargeState.SENDING)]
    assert list(due_work.lease_due_charges()) == []
