"""A job that was not composed here, as a script makes one, has no draft."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from decimal import Decimal

import httpx
import pytest
from django.db import IntegrityError
from django.utils import timezone

from proxyapi import pricing
from proxyapi.charges import ChargeIntent, dispatch_charge, recovery
from proxyapi.models import Charge, ChargeState, Draft, Job, JobKind, JobState
from proxyapi.refusals import StaleData
from tests.admission import admit_charge
from tests.factories import AccountFactory, ChargeFactory, DraftFactory, JobFactory
from tests.proxyapi.charges.conftest import SETTINGS
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response

pytestmark = pytest.mark.postgresql

Held = Callable[..., Charge]
RENDER = ("POST", "/faceless/7/render")
SCRIPTS = ("PUT", "/faceless/7/scripts")


@pytest.fixture
def job(db: None) -> Job:
    """A faceless video that a script made upstream."""
    account = AccountFactory(balance=Decimal(1000))
    return JobFactory(account=account, remote_id="7", origin="gateway", draft=None)


def test_nothing_is_written_over_what_a_script_set(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    dispatch_charge(make_held_charge().pk)
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    assert {request.method for request in upstream.requests} == {"GET", "POST"}
    assert not Draft.objects.exists()


def test_it_is_polled_as_one_of_what_its_charge_asks_for(
    job: Job, upstream: ScriptedUpstream
) -> None:
    clip = JobFactory(account=job.account, token=job.token, kind=JobKind.CLIP, draft=None)
    upstream.respond("POST", "/text-to-video", charged_response({"id": 55, "status": "draft"}, 6))
    body = {"model": "brook", "prompt": "A calm sea.", "duration": 5}
    price, nonce = Decimal(6), uuid.uuid4()
    dispatch_charge(
        admit_charge(ChargeIntent(clip, "text_to_video.create", nonce, price, price, body)).pk
    )
    clip.refresh_from_db()
    assert (clip.remote_id, clip.subtype, clip.length) == ("55", "brook", 5)


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_script_for_it_makes_no_draft(
    is_lost: bool, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    answer = httpx.ReadTimeout if is_lost else charged_response({"script": "Ice flows."}, 4)
    upstream.respond(*SCRIPTS, answer)
    charge = make_held_charge("faceless.scripts", hold=4, quote=Decimal(4))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == (ChargeState.UNKNOWN if is_lost else ChargeState.CONFIRMED)
    assert not Draft.objects.exists()


def test_a_retry_costs_what_the_last_render_took(job: Job) -> None:
    assert pricing.estimate_retry_price(job) is None
    ChargeFactory(job=job, state=ChargeState.CONFIRMED, cost=92, sent_at=timezone.now())
    assert pricing.estimate_retry_price(job) == 92


def test_a_run_that_was_not_seen_is_not_paid_for_again(job: Job, make_held_charge: Held) -> None:
    Job.objects.update(finished_at=timezone.now())
    with pytest.raises(StaleData):
        make_held_charge()


def test_it_is_restored_without_one(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    dispatch_charge(make_held_charge().pk)
    Charge.objects.all().delete()
    Job.objects.all().delete()
    recovery.recover_if_restored()
    assert (Job.objects.get().remote_id, Draft.objects.count()) == ("7", 0)


def test_a_job_has_one_draft_at_most(job: Job) -> None:
    DraftFactory(job=job, settings=SETTINGS)
    with pytest.raises(IntegrityError):
        Draft.objects.bulk_create([Draft(job=job)])


def test_an_origin_that_nobody_knows_is_refused(job: Job) -> None:
    with pytest.raises(IntegrityError):
        Job.objects.update(origin="other")
