"""What two people, or two tabs, do to one draft at the same time."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.library.actions import retry_video
from dashboard.models import Membership
from dashboard.studio import actions
from proxyapi.models import Charge, ChargeState, Draft, Job, JobState
from proxyapi.refusals import AlreadyInProgress, NotReady, StaleData
from tests.factories import JobFactory

pytestmark = pytest.mark.postgresql

PRICE = Decimal(96)  # of the fixture `ready`
WORDS: dict[str, Any] = {
    "seen": Decimal(4),
    "chosen": {"topic": "ice", "duration": 60},
}


def test_settings_do_not_change_between_the_price_and_the_render(
    priya: Membership, luca: Membership, ready: Job
) -> None:
    actions.render_video(by=priya, job=ready, nonce=uuid.uuid4(), seen=PRICE)
    with pytest.raises(NotReady, match="was sent"):
        actions.save_draft_step(by=luca, job=ready, changes={"voice_id": 7})
    ready.refresh_from_db()
    assert ready.draft.settings["voice_id"] == 3


def test_a_choice_may_change_while_the_script_is_written(priya: Membership, ready: Job) -> None:
    actions.write_script(by=priya, job=ready, nonce=uuid.uuid4(), **WORDS)
    ready.refresh_from_db()
    actions.save_draft_step(by=priya, job=ready, changes={"voice_id": 7})
    ready.refresh_from_db()
    assert ready.draft.settings["voice_id"] == 7


def test_a_render_is_not_sent_at_a_price_that_is_not_its_own_any_more(
    priya: Membership, luca: Membership, ready: Job
) -> None:
    """Luca saves after Priya's page was read and before her render is recorded."""
    seen = Job.objects.select_related("draft").get()
    actions.save_draft_step(by=luca, job=ready, changes={"voice_id": 7})
    with pytest.raises(StaleData):
        actions.render_video(by=priya, job=seen, nonce=uuid.uuid4(), seen=PRICE)
    assert not Charge.objects.exists()


def test_a_form_of_one_video_does_not_pass_for_that_of_another(
    priya: Membership, ready: Job
) -> None:
    nonce = uuid.uuid4()
    first = actions.render_video(by=priya, job=ready, nonce=nonce, seen=PRICE)
    assert actions.render_video(by=priya, job=ready, nonce=nonce, seen=PRICE) == first
    other = JobFactory(account=ready.account, token=ready.token, tenant=ready.tenant)
    with pytest.raises(AlreadyInProgress):
        actions.render_video(by=priya, job=other, nonce=nonce, seen=PRICE)
    with pytest.raises(AlreadyInProgress):
        actions.write_script(by=priya, job=ready, nonce=nonce, **WORDS)


def test_a_form_that_is_sent_again_when_all_is_done_is_still_one_charge(
    priya: Membership, ready: Job
) -> None:
    nonce = uuid.uuid4()
    first = actions.render_video(by=priya, job=ready, nonce=nonce, seen=PRICE)
    now = timezone.now()
    Charge.objects.update(state=ChargeState.CONFIRMED, cost=92, sent_at=now, settled_at=now)
    Job.objects.update(state=JobState.RUNNING, next_poll_at=now)
    ready.refresh_from_db()
    assert actions.render_video(by=priya, job=ready, nonce=nonce, seen=PRICE) == first


def test_a_retry_of_changed_settings_is_held_for_at_their_own_price(
    priya: Membership, ready: Job
) -> None:
    now = timezone.now()

    def retry(seen: int) -> Charge:
        nonce, price, failed_at = uuid.uuid4(), Decimal(seen), now.isoformat()
        return retry_video(by=priya, job=ready, nonce=nonce, seen=price, failed_at=failed_at)

    charge = actions.render_video(by=priya, job=ready, nonce=uuid.uuid4(), seen=PRICE)
    Charge.objects.update(state=ChargeState.CONFIRMED, cost=92, sent_at=now, settled_at=now)
    Job.objects.update(state=JobState.FAILED, finished_at=now)
    ready.refresh_from_db()
    assert retry(92).quote == 92
    Charge.objects.exclude(pk=charge.pk).delete()
    Draft.objects.update(estimate=Decimal(400), estimate_as_of=timezone.now())
    ready.refresh_from_db()
    with pytest.raises(StaleData, match="The price was 92 cr and is 400 cr now"):
        retry(92)
    assert retry(400).quote == 400
    Charge.objects.exclude(pk=charge.pk).delete()
    Draft.objects.update(settings={**ready.draft.settings, "voice_id": 7})
    ready.refresh_from_db()
    with pytest.raises(NotReady):
        retry(400)
