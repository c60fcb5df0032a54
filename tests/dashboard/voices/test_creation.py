"""A voice from its draft to the studio, and everything that can go wrong on the way."""

from __future__ import annotations

import hashlib
import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.utils import timezone

from dashboard.library.actions import quote_retry
from dashboard.models import AuditEvent, Membership, VoiceConsent
from dashboard.parts.actions import quote_new_render
from dashboard.shared.video_options import account_options
from dashboard.studio.actions import quote_render
from dashboard.voices import actions
from dashboard.voices.queries.voice_page import VoicePage, load_voice_page
from proxyapi import cloned_voices
from proxyapi.charges import dispatch_charge, reconcile_charge
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    ClonedVoice,
    Job,
    JobState,
    StoredFile,
    VoiceSlots,
)
from proxyapi.polling.poller import poll_job
from proxyapi.refusals import NotReady, StaleData
from tests.dashboard.voices.conftest import CHOSEN, WAV, create, options_of, slots_response
from tests.factories import JobFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    history_page,
    make_response,
)

CREATE = ("POST", "/voice-clones")
MADE = {"id": 640, "status": "pending"}


def sent(charge: Charge) -> Charge:
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def page_of(job: Job, reader: Membership) -> VoicePage:
    return load_voice_page(Job.objects.get(pk=job.pk), reader)


def complete(job: Job, upstream: ScriptedUpstream, **more: Any) -> None:
    """Poll the voice, which the service has completed, and read what follows."""
    record = {"id": 640, "status": "completed", "preview_url": "http://127.0.0.1:8001/a.wav"}
    upstream.respond("GET", "/voice-clones/640", make_response({**record, **more}))
    Job.objects.filter(pk=job.pk).update(
        polled_at=timezone.now() - timedelta(seconds=9), next_poll_at=timezone.now()
    )
    poll_job(job.pk)
    upstream.respond("GET", "/me", make_response({"subscription": {}}))
    upstream.respond("GET", "/credits/costs", make_response({}))
    own = {"id": 90_001, "name": "Priya, bright", "language": "English", "gender": "female"}
    upstream.respond("GET", "/faceless/options", make_response(options_of(own)))
    cloned_voices.read_voice_slots(job.account_id)


def test_a_voice_goes_with_its_samples_and_its_consent_is_kept(
    voice: Job, priya: Membership, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*CREATE, charged_response(MADE, 0, status=201))
    charge = sent(create(priya, voice))
    voice.refresh_from_db()
    form = next(one for one in upstream.requests if one.method == "POST").content
    assert (charge.state, voice.remote_id, voice.state) == ("confirmed", "640", "running")
    assert b'name="samples[]"; filename="1.wav"' in form
    assert WAV in form
    assert b"lake" not in form
    assert b"purchase_addon" not in form
    consent = VoiceConsent.objects.get()
    assert (consent.speaker, consent.confirmed_by) == ("Priya Raman", priya.user)
    assert consent.samples[0]["sha256"] == hashlib.sha256(WAV).hexdigest()
    assert AuditEvent.objects.filter(action="voice.consent", target=str(consent.pk)).exists()


def test_a_completed_voice_is_offered_by_its_own_id_and_its_samples_are_gone(
    voice: Job, priya: Membership, upstream: ScriptedUpstream
) -> None:
    """Pitfall 105: the voice has another id than the clone."""
    upstream.respond(*CREATE, charged_response(MADE, 0, status=201))
    sent(create(priya, voice))
    complete(voice, upstream)
    page = page_of(voice, priya)
    assert (page.voice_id, page.status.label) == ("90001", "Ready")
    assert page.preview_url
    assert not StoredFile.objects.exists()
    assert len(VoiceConsent.objects.get().samples) == 1


@pytest.mark.parametrize(
    ("named", "listed", "expected"),
    [
        ("90001", ["90001"], "90001"),
        ("90001", ["90002"], ""),
        ("", ["90002"], "90002"),
        ("", ["90002", "90003"], ""),
        ("", [], ""),
    ],
)
def test_which_voice_a_clone_became_is_not_guessed(
    named: str, listed: list[str], expected: str, voice: Job
) -> None:
    clone = ClonedVoice(job=voice, voice_id=named, known_voice_ids=["3", "7", "11"])
    voices = {"3": "Priya, bright", **dict.fromkeys(listed, "Priya, bright")}
    assert cloned_voices.find_voice_id(clone, voices) == expected


def test_the_slot_taken_since_it_was_read_is_said_and_nothing_is_sent(
    voice: Job, priya: Membership, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/voice-clones/slots", slots_response(0))
    charge = sent(create(priya, voice))
    assert (charge.state, charge.reason) == (
        ChargeState.REFUSED,
        "The free slot was used meanwhile. Nothing was sent. Another costs 50 cr.",
    )
    assert not any(one.method == "POST" for one in upstream.requests)
    page = page_of(voice, priya)
    assert page.status.refusal == charge.reason
    assert len(page.samples) == 1


@pytest.mark.parametrize(
    ("slot", "sentence"),
    [
        (slots_response(0, can_buy=False), "sells no more"),
        (slots_response(0, cost=60), "A slot costs 60 cr now"),
    ],
)
def test_a_slot_that_is_not_sold_at_the_shown_price_is_not_bought(
    slot: httpx.Response,
    sentence: str,
    voice: Job,
    priya: Membership,
    slots: VoiceSlots,
    upstream: ScriptedUpstream,
) -> None:
    buy_slot(priya, voice, slots)
    upstream.respond("GET", "/voice-clones/slots", slot)
    charge = sent(create(priya, voice, 50))
    assert charge.state == ChargeState.REFUSED
    assert sentence in charge.reason


def buy_slot(by: Membership, job: Job, slots: VoiceSlots) -> None:
    VoiceSlots.objects.filter(pk=slots.pk).update(available=0)
    actions.save_voice(by=by, job=job, chosen={**CHOSEN, "purchase_addon": True})


def test_a_slot_is_bought_only_where_it_was_chosen_and_its_price_is_held(
    voice: Job, priya: Membership, slots: VoiceSlots, upstream: ScriptedUpstream
) -> None:
    """Pitfall 49."""
    VoiceSlots.objects.filter(pk=slots.pk).update(available=0)
    with pytest.raises(NotReady):
        create(priya, voice)
    buy_slot(priya, voice, slots)
    upstream.respond("GET", "/voice-clones/slots", slots_response(0))
    upstream.respond(*CREATE, charged_response(MADE, 50, status=201))
    charge = create(priya, voice, 50)
    assert (charge.hold, charge.body["purchase_addon"]) == (50, True)
    assert sent(charge).cost == 50
    assert page_of(voice, priya).cost.value == 50


def test_a_lost_answer_is_said_and_the_slots_decide(
    voice: Job, priya: Membership, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*CREATE, httpx.ReadTimeout)
    charge = sent(create(priya, voice))
    status = page_of(voice, priya).status
    assert status.is_unknown
    assert status.text.startswith("We do not know whether the voice was made. It was sent at")
    upstream.respond("GET", "/voice-clones/slots", slots_response(0))
    upstream.respond("GET", "/credits/history", history_page())
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.unidentified_at is not None
    assert page_of(voice, priya).status.label == "Made"
    assert sum(one.method == "POST" for one in upstream.requests) == 1


def test_a_voice_whose_id_was_lost_is_known_by_its_name_once_it_is_listed(
    voice: Job, priya: Membership, upstream: ScriptedUpstream, account: Account
) -> None:
    upstream.respond(*CREATE, httpx.ReadTimeout)
    charge = sent(create(priya, voice))
    Charge.objects.filter(pk=charge.pk).update(unidentified_at=timezone.now())
    account.options = options_of({"id": 90_001, "name": "Priya, bright"})
    account.save()
    assert page_of(voice, priya).voice_id == "90001"
    assert set(cloned_voices.cloned_voice_ids(account, {"90001": "Priya, bright"})) == {"90001"}


def test_a_refused_voice_keeps_its_samples_and_says_why(
    voice: Job, priya: Membership, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*CREATE, error_response(422, "VALIDATION", "The name is taken."))
    charge = sent(create(priya, voice))
    page = page_of(voice, priya)
    assert charge.state == ChargeState.REFUSED
    assert page.status.refusal == charge.reason
    assert page.is_editable
    assert len(page.samples) == 1


def test_a_failed_voice_keeps_its_samples_and_can_be_created_again(
    voice: Job, priya: Membership, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*CREATE, charged_response(MADE, 0, status=201))
    sent(create(priya, voice))
    failure = {"code": "CLONE-FAILED", "message": "Background music in sample 2."}
    failed = {"id": 640, "status": "failed", "failure": failure}
    upstream.respond("GET", "/voice-clones/640", make_response(failed))
    Job.objects.update(polled_at=timezone.now() - timedelta(seconds=9), next_poll_at=timezone.now())
    poll_job(voice.pk)
    page = page_of(voice, priya)
    assert page.status.quote == "“Background music in sample 2.”"
    assert page.is_editable
    upstream.respond(*CREATE, charged_response({"id": 641, "status": "pending"}, 0, status=201))
    sent(create(priya, voice))
    voice.refresh_from_db()
    assert (voice.state, voice.remote_id) == (JobState.RUNNING, "641")
    assert VoiceConsent.objects.count() == 2


def test_a_voice_that_takes_long_stays_in_progress_with_the_services_word(
    voice: Job, priya: Membership
) -> None:
    Job.objects.filter(pk=voice.pk).update(
        state=JobState.RUNNING,
        remote_id="640",
        raw_status="warming up",
        started_at=timezone.now() - timedelta(hours=2),
        polled_at=timezone.now(),
        next_poll_at=timezone.now(),
    )
    page = page_of(voice, priya)
    assert page.status.label == "In progress: warming up"
    assert page.bar is not None


def test_a_form_that_is_submitted_twice_sends_and_consents_once(
    voice: Job, priya: Membership
) -> None:
    nonce = uuid.uuid4()
    job = Job.objects.get(pk=voice.pk)
    edited_at = job.draft.edited_at.isoformat()
    first = create(priya, voice, nonce=nonce, edited_at=edited_at)
    assert create(priya, voice, nonce=nonce, edited_at=edited_at) == first
    assert VoiceConsent.objects.count() == 1


def test_a_voice_that_changed_since_its_question_is_not_sent(voice: Job, priya: Membership) -> None:
    with pytest.raises(StaleData, match="Nothing was sent"):
        create(priya, voice, edited_at="2026-11-01T00:00:00+00:00")
    assert not VoiceConsent.objects.exists()


@pytest.mark.parametrize("missing", ["name", "gender", "speaker", "agreed_on", "terms"])
def test_nothing_is_sent_without_all_that_is_needed(
    missing: str, voice: Job, priya: Membership
) -> None:
    chosen = {**CHOSEN, missing: False if missing == "terms" else ""}
    actions.save_voice(by=priya, job=voice, chosen=chosen)
    with pytest.raises(NotReady, match="missing"):
        create(priya, voice)
    assert not Charge.objects.exists()
    assert not VoiceConsent.objects.exists()


def test_a_withdrawn_consent_stays_and_the_voice_is_offered_no_more(
    voice: Job, priya: Membership, account: Account, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*CREATE, charged_response(MADE, 0, status=201))
    sent(create(priya, voice))
    complete(voice, upstream)
    actions.withdraw_consent(by=priya, job=voice)
    account.refresh_from_db()
    assert "90001" not in {one.value for one in account_options(account).voices()}
    consent = VoiceConsent.objects.get()
    assert (consent.withdrawn_by, len(consent.samples)) == (priya.user, 1)
    page = page_of(voice, priya)
    assert (page.status.label, page.voice_id, page.preview_url) == ("Consent withdrawn", "", "")
    with pytest.raises(NotReady):
        actions.withdraw_consent(by=priya, job=voice)


def test_a_draft_with_a_voice_whose_consent_was_withdrawn_is_not_rendered(
    voice: Job, priya: Membership, account: Account
) -> None:
    """The service would still take it."""
    account.withdrawn_voice_ids = ["7"]
    account.save()
    ready = {"type": "b-roll", "script": "Ice moves.", "voice_id": 7}
    draft = JobFactory(account=account, token=voice.token, draft__settings=ready)
    with pytest.raises(NotReady, match="The consent to this voice was withdrawn"):
        quote_render(draft, Decimal(9))


@pytest.mark.parametrize(
    ("state", "quote"),
    [
        (JobState.FAILED, lambda job: quote_retry(job, Decimal(9), job.finished_at.isoformat())),
        (JobState.COMPLETED, lambda job: quote_new_render(job, Decimal(9))),
    ],
)
def test_a_video_with_such_a_voice_is_not_rendered_again(
    state: JobState, quote: Any, voice: Job, account: Account
) -> None:
    account.withdrawn_voice_ids = ["7"]
    account.save()
    ended = {"state": state, "remote_id": "5", "finished_at": timezone.now()}
    job = JobFactory(account=account, token=voice.token, draft__settings={"voice_id": 7}, **ended)
    with pytest.raises(NotReady, match="The consent to the voice of this video was withdrawn"):
        quote(job)
