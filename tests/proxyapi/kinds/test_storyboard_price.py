"""The price of a storyboard's render right before it is sent: never another one than confirmed."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from proxyapi.charges import ChargeIntent, dispatch_charge
from proxyapi.models import Charge, ChargeState, Draft, Job, JobKind, JobState
from tests.admission import admit_charge
from tests.factories import JobFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    make_response,
)

pytestmark = pytest.mark.django_db
READ, ESTIMATE = ("GET", "/text-to-scene/41"), ("GET", "/text-to-scene/41/estimate")
RENDER = ("POST", "/text-to-scene/41/render")
SCENE = {"scene": str(uuid.uuid4()), "prompt": "A boat", "duration": 5}
FIELDS = {"is_chained": False, "first_frame": {}, "last_frame": {}}
CONTENT = {"mode": "manual", "scenes": [{**SCENE, **FIELDS}], "unready": {}}
SENT = {**CONTENT, "scenes": [{**SCENE, **FIELDS, "remote_id": 501}]}
RECORD = {"id": 41, "scenes": [{"id": 501}], "video": {"status": "draft"}}


@pytest.fixture
def film(upstream: ScriptedUpstream) -> Job:
    upstream.respond(*READ, make_response(RECORD))
    upstream.respond(*RENDER, charged_response({"video": {"status": "rendering"}}, 24))
    return JobFactory.create(
        kind=JobKind.STORYBOARD, remote_id="41", draft__settings=CONTENT, draft__sent_settings=SENT
    )


def confirmed(job: Job, age: timedelta) -> Charge:
    """A render at 24 credits that a person confirmed, so long after it was quoted."""
    price = Decimal(24)
    Draft.objects.filter(pk=job.pk).update(estimate=price, estimate_as_of=timezone.now() - age)
    job.refresh_from_db()
    intent = ChargeIntent(job, "text_to_scene.render", uuid.uuid4(), price, price)
    charge = admit_charge(intent)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def estimates(upstream: ScriptedUpstream) -> int:
    return len(upstream.request_bodies(*ESTIMATE))


def test_a_fresh_price_is_not_requested_again(film: Job, upstream: ScriptedUpstream) -> None:
    charge = confirmed(film, timedelta(seconds=5))

    assert (charge.state, charge.cost, estimates(upstream)) == (ChargeState.CONFIRMED, 24, 0)


def test_an_older_price_is_requested_once_more(film: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*ESTIMATE, make_response({"credits": 24}))

    assert confirmed(film, timedelta(minutes=5)).state == ChargeState.CONFIRMED
    assert estimates(upstream) == 1


@pytest.mark.parametrize("now", [25, 23])
def test_another_price_is_refused_and_stored(
    film: Job, upstream: ScriptedUpstream, now: int
) -> None:
    upstream.respond(*ESTIMATE, make_response({"credits": now}))

    charge = confirmed(film, timedelta(minutes=5))

    film.refresh_from_db()
    draft = Draft.objects.get(pk=film.pk)
    assert (charge.state, film.state) == (ChargeState.REFUSED, JobState.DRAFT)
    assert charge.reason.startswith(f"The price is now {now} cr, it was 24 cr when this was")
    assert draft.estimate == now
    assert not upstream.request_bodies(*RENDER)


def test_a_price_that_cannot_be_asked_for_delays_the_render(
    film: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ESTIMATE, error_response(503, "SERVICE-DOWN"))

    assert confirmed(film, timedelta(minutes=5)).state == ChargeState.HELD
    assert not upstream.request_bodies(*RENDER)
