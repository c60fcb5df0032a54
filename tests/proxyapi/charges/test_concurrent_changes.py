"""What else happens while a worker reads or sends: another worker, an end, a power failure."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from proxyapi import calls
from proxyapi.charges import ChargeIntent, dispatch_charge, settle_with_entry, write_off_charge
from proxyapi.kinds import faceless_draft
from proxyapi.models import Charge, ChargeState, Draft, Job, JobKind, JobState
from proxyapi.polling import due_work
from proxyapi.rate_limiter import Permit
from tests.admission import admit_charge
from tests.factories import AccountFactory, EntryFactory, JobFactory, TokenFactory, UserFactory
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    make_response,
)

pytestmark = pytest.mark.postgresql

Held = Callable[..., Charge]
RENDER = ("POST", "/faceless/7/render")
SCRIPTS = ("PUT", "/faceless/7/scripts")


@pytest.mark.parametrize("state", [ChargeState.SENDING, ChargeState.UNKNOWN])
@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_is_refused_to_a_reader_says_nothing_of_what_another_worker_sends(
    state: ChargeState, status: int, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = make_held_charge()

    def read_beside(request: httpx.Request) -> httpx.Response:
        now = timezone.now()
        Charge.objects.filter(pk=charge.pk).update(state=state, sent_at=now, heartbeat_at=now)
        return error_response(status, "GEN-FORBIDDEN")

    upstream.respond("GET", "/faceless/7", read_beside)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == state
    assert charge.account.held_credits() == charge.hold


def test_a_token_that_took_it_over_meanwhile_has_its_own_turn(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """Rule 5: the request was counted for the other one."""
    charge = make_held_charge()
    heir = TokenFactory(account=charge.account, owner_id=charge.member_id)

    def taken_over(request: httpx.Request) -> httpx.Response:
        Charge.objects.filter(pk=charge.pk).update(token=heir)
        return make_response(video_response("draft"))

    upstream.respond("GET", "/faceless/7", taken_over)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, upstream.request_bodies(*RENDER)) == (ChargeState.HELD, [])
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.CONFIRMED


@pytest.mark.parametrize("state", [ChargeState.UNKNOWN, ChargeState.REFUSED])
def test_a_worker_that_was_frozen_since_its_claim_sends_nothing(
    state: ChargeState,
    make_held_charge: Held,
    upstream: ScriptedUpstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextmanager
    def frozen(charge: Charge) -> Iterator[None]:
        Charge.objects.filter(pk=charge.pk).update(state=state)
        yield

    monkeypatch.setattr(import_module("proxyapi.charges.dispatch"), "sender_heartbeat", frozen)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == state
    assert not upstream.request_bodies(*RENDER)


@pytest.mark.parametrize("state", [ChargeState.REFUSED, ChargeState.WRITTEN_OFF])
def test_an_answer_after_the_end_still_takes_effect_and_is_shown(
    state: ChargeState, make_held_charge: Held, job: Job, upstream: ScriptedUpstream
) -> None:
    charge, member = make_held_charge(), UserFactory()

    def ended(request: httpx.Request) -> httpx.Response:
        fields = {"state": state, "settled_at": timezone.now(), "decided_by": member}
        Charge.objects.filter(pk=charge.pk).update(**fields)
        return charged_response({"id": 7}, 92, remaining=908)

    upstream.respond(*RENDER, ended)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.state, job.state) == (state, JobState.RUNNING)
    assert "it was done. It cost 92 cr" in charge.reason


@pytest.mark.parametrize(
    "state", [ChargeState.REFUSED, ChargeState.WRITTEN_OFF, ChargeState.MATCHED]
)
def test_a_refusal_after_the_end_changes_nothing(
    state: ChargeState, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge, member = make_held_charge(), UserFactory()

    def ended(request: httpx.Request) -> httpx.Response:
        fields = {"state": state, "cost": 96, "settled_at": timezone.now(), "reason": "Ended."}
        Charge.objects.filter(pk=charge.pk).update(**fields, decided_by=member)
        return error_response(403, "GEN-FORBIDDEN")

    upstream.respond(*RENDER, ended)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.reason, charge.code) == (state, "Ended.", "")


@pytest.fixture
def clip(db: None) -> Job:
    account = AccountFactory(balance=Decimal(1000))
    job: Job = JobFactory(account=account, kind=JobKind.CLIP, draft__settings={"model": "brook"})
    return job


def paid(clip: Job) -> Charge:
    price = Decimal(20)
    intent = ChargeIntent(
        clip, "text_to_video.create", uuid.uuid4(), price, price, {"model": "brook"}
    )
    return admit_charge(intent)


def clip_made(number: int) -> httpx.Response:
    return charged_response({"asset": {"id": number, "status": "draft"}}, 20, remaining=980)


def matched(charge: Charge) -> None:
    """By its debit alone: its id was in the lost answer, so its resource is unidentified."""
    now = timezone.now() - timedelta(seconds=30)
    Charge.objects.filter(pk=charge.pk).update(
        state=ChargeState.MATCHED,
        cost=20,
        unidentified_at=now,
        settled_at=now,
        booked_at=now,
        sent_at=now,
    )


def test_a_late_answer_brings_an_orphans_id(clip: Job, upstream: ScriptedUpstream) -> None:
    charge = paid(clip)

    def late(request: httpx.Request) -> httpx.Response:
        matched(charge)
        return clip_made(55)

    upstream.respond("POST", "/text-to-video", late)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    clip.refresh_from_db()
    assert (charge.state, charge.unidentified_at, clip.remote_id) == (
        ChargeState.MATCHED,
        None,
        "55",
    )


def test_a_late_answer_leaves_the_draft_to_what_was_paid_again(
    clip: Job, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        calls, "acquire_permit", lambda *_: Permit(True, 0)
    )  # requests are not counted here
    first = paid(clip)

    def late(request: httpx.Request) -> httpx.Response:
        matched(first)
        upstream.respond("POST", "/text-to-video", clip_made(56))
        dispatch_charge(paid(clip).pk)
        return clip_made(55)

    upstream.respond("POST", "/text-to-video", late)
    dispatch_charge(first.pk)
    clip.refresh_from_db()
    assert clip.remote_id == "56"


@pytest.mark.parametrize("end", ["written off", "claimed"])
def test_after_a_lost_script_nothing_is_priced_before_the_services_one_was_read(
    end: str, make_held_charge: Held, job: Job, upstream: ScriptedUpstream
) -> None:
    """Else it would render another script than the page shows, at the price of that one, or be told
    the page's and lose the one that was paid."""
    Draft.objects.filter(pk=job.pk).update(estimate=96, estimate_as_of=timezone.now())
    charge = make_held_charge("faceless.scripts", hold=4)
    upstream.respond(*SCRIPTS, httpx.ReadTimeout)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    if end == "written off":
        write_off_charge(charge, UserFactory().pk, "The service was away.")
    else:
        row = EntryFactory(account=charge.account, credit_spend="-4", position=0)
        settle_with_entry(charge, row, UserFactory().pk)
    job.refresh_from_db()
    assert not job.draft.has_current_estimate
    assert faceless_draft.has_unread_script(job)
    assert job.draft.quote_due_at is not None
    upstream.respond("GET", "/faceless/7", make_response({"id": 7, "script": "Ice flows."}))
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert job.draft.settings["script"] == "Ice flows."
    assert not upstream.request_bodies("PATCH", "/faceless/7")


def test_a_2xx_that_names_an_error_is_a_lost_answer(
    make_held_charge: Held, job: Job, upstream: ScriptedUpstream
) -> None:
    error = {"status": 402, "error": {"code": "INSUFFICIENT-CREDITS", "message": "No."}}
    upstream.respond(*RENDER, httpx.Response(200, json=error))
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.state, job.state) == (ChargeState.UNKNOWN, JobState.DRAFT)
    assert charge.applied_at is None


def test_however_long_the_service_says_to_wait_it_is_given_up_in_time(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    limited = httpx.Response(429, json={"message": "slow"}, headers={"retry-after": "3600"})
    upstream.respond("GET", "/faceless/7", limited)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.HELD
    assert charge.held_at
    assert charge.due_at <= charge.held_at + timedelta(minutes=15, seconds=1)


@pytest.mark.django_db(transaction=True)
def test_a_claim_is_on_the_disk_before_the_request_leaves(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """A power failure after it must not find the charge held."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL writes every commit out")
    upstream.respond(*RENDER, charged_response({"id": 7}, 92, remaining=908))
    charge = make_held_charge()
    with CaptureQueriesContext(connection) as asked:
        dispatch_charge(charge.pk)
    said: list[Any] = [query["sql"] for query in asked]
    on, off = (said.index(f"PRAGMA synchronous = {how}") for how in ("FULL", "NORMAL"))
    within = said[on + 1 : off]
    assert any("UPDATE" in sql and "'sending'" in sql for sql in within)
    with connection.cursor() as cursor:
        (level,) = cursor.execute("PRAGMA synchronous").fetchone()
    assert level == 1


def test_after_a_clock_was_put_back_open_charges_are_due(make_held_charge: Held) -> None:
    ahead = timezone.now() + timedelta(hours=5)
    charge = make_held_charge()
    Charge.objects.filter(pk=charge.pk).update(
        state=ChargeState.SENDING, sent_at=ahead, heartbeat_at=ahead, due_at=ahead
    )
    assert list(due_work.lease_due_charges()) == []
    due_work.reschedule_after_clock_rollback()
    charge.refresh_from_db()
    assert charge.heartbeat_at and charge.heartbeat_at <= timezone.now()
    assert [id for id, _ in due_work.lease_due_charges()] == [charge.pk]


def test_an_envelope_may_repeat_its_status_and_name_no_error(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    body = {"status": 202, "error": None, "data": {"id": 7}}
    upstream.respond(*RENDER, httpx.Response(202, json=body))
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.applied_at is not None
