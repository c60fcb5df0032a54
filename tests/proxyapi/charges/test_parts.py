"""Charges of a video's parts: several at once, one for each part; what they add is linked."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from proxyapi.charges import ChargeIntent, dispatch_charge, reconcile_charge
from proxyapi.models import Charge, ChargeState, Job, JobPart
from proxyapi.refusals import AlreadyInProgress
from tests.admission import admit_charge
from tests.factories import ChargeFactory, EntryFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    history_page,
    make_response,
)

pytestmark = pytest.mark.postgresql

REGENERATE, EXPORT, UPLOAD = "ai_visuals.regenerate", "faceless.export", "ai_visuals.upload"


@pytest.fixture
def video(job: Job) -> Job:
    Job.objects.filter(pk=job.pk).update(state="completed", finished_at=timezone.now())
    job.refresh_from_db()
    return job


def part_intent(
    job: Job, operation: str = REGENERATE, asset: str = "", **more: Any
) -> ChargeIntent:
    path = {"asset": asset} if asset else {}
    two = Decimal(2)
    return ChargeIntent(job, operation, uuid.uuid4(), two, two, path=path, **more)


def record(*exports: int, assets: Any = ()) -> dict[str, Any]:
    rows = [{"id": id, "status": "rendering"} for id in exports]
    return {"id": 7, "video": {"status": "completed"}, "exports": rows, "assets": list(assets)}


def test_several_scenes_may_be_drawn_at_once_each_by_one_charge(video: Job) -> None:
    admit_charge(part_intent(video, asset="61"))
    admit_charge(part_intent(video, asset="62"))
    with pytest.raises(AlreadyInProgress):
        admit_charge(part_intent(video, asset="61"))
    assert video.account.held_credits() == 4


def test_what_was_carried_out_delays_no_other_while_its_cost_is_unknown(video: Job) -> None:
    unknown = {"state": ChargeState.UNKNOWN, "sent_at": timezone.now()}
    charge = ChargeFactory.create(job=video, operation=UPLOAD, **unknown)
    with pytest.raises(AlreadyInProgress):
        admit_charge(part_intent(video, UPLOAD))
    Charge.objects.filter(pk=charge.pk).update(applied_at=timezone.now())
    admit_charge(part_intent(video, UPLOAD))


def test_a_render_waits_for_parts_and_parts_for_a_render(video: Job) -> None:
    admit_charge(part_intent(video, asset="61"))
    admit_charge(part_intent(video, EXPORT))
    with pytest.raises(AlreadyInProgress):
        admit_charge(part_intent(video, "faceless.render"))
    Charge.objects.all().delete()
    admit_charge(part_intent(video, "faceless.render"))
    for operation in (REGENERATE, EXPORT, UPLOAD):
        with pytest.raises(AlreadyInProgress):
            admit_charge(part_intent(video, operation, asset="61"))


def test_the_database_refuses_a_second_open_charge_of_a_part(video: Job) -> None:
    same = {"job": video, "operation": REGENERATE, "path": {"asset": "61"}}
    ChargeFactory.create(**same)
    ChargeFactory.create(**same | {"path": {"asset": "62"}})
    with pytest.raises(IntegrityError), transaction.atomic():
        ChargeFactory.create(**same)


def test_an_export_is_linked_to_the_charge_that_paid_for_it(
    video: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", make_response(record(4)))
    upstream.respond("POST", "/faceless/7/export", charged_response(record(4, 9), 2))
    charge = admit_charge(part_intent(video, EXPORT, body={"font": "mono"}))
    dispatch_charge(charge.pk)
    linked = {part.remote_id: part.charge_id for part in JobPart.objects.all()}
    assert linked == {"4": None, "9": charge.pk}
    video.refresh_from_db()
    assert video.parts_due_at is not None, "it is read until it is finished"


def test_a_lost_export_is_found_by_its_part_and_paid_once(
    video: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", make_response(record(4)))
    charge = admit_charge(part_intent(video, EXPORT))
    lose_answer(charge, upstream, "/faceless/7/export")
    upstream.respond("GET", "/faceless/7", make_response(record(4, 9)))
    upstream.respond("GET", "/credits/history", history_page())
    reconcile_charge(charge.pk)
    assert video.parts.get(remote_id="9").charge_id == charge.pk
    charge.refresh_from_db()
    assert charge.applied_at is not None
    assert sent_posts(upstream) == 1


def test_lost_new_images_of_two_scenes_take_one_debit_each(
    video: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", make_response(record()))
    charges = [admit_charge(part_intent(video, asset=asset)) for asset in ("61", "62")]
    for charge in charges:
        lose_answer(charge, upstream, f"/ai-visuals/7/assets/{charge.path['asset']}/regenerate")
    for _ in charges:
        EntryFactory.create(account=video.account, label="Scene image", credit_spend="-2")
    upstream.respond("GET", "/credits/history", history_page())
    for charge in charges:
        reconcile_charge(charge.pk)
    matched = Charge.objects.filter(state=ChargeState.MATCHED, entries__amount=-2)
    assert set(matched) == set(charges)
    assert sent_posts(upstream) == 2


def lose_answer(charge: Charge, upstream: ScriptedUpstream, path: str) -> None:
    upstream.respond("POST", path, httpx.ReadTimeout)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN


def sent_posts(upstream: ScriptedUpstream) -> int:
    return sum(request.method == "POST" for request in upstream.requests)
