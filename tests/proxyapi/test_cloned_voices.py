"""Slots are read by a worker where somebody asked; a completed clone has its voice found."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from proxyapi import cloned_voices, tasks
from proxyapi.charges import dispatch_charge
from proxyapi.models import Account, ChargeState, JobKind, StoredFile, Token, VoiceSlots
from proxyapi.polling import due_work
from proxyapi.stored_files import store_file
from tests.factories import ChargeFactory, JobFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, error_response, make_response

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]
SLOTS = ("GET", "/voice-clones/slots")


@pytest.fixture
def token() -> Token:
    return TokenFactory.create()


@pytest.fixture
def account(token: Token) -> Account:
    cloned_voices.request_slot_read(token.account)
    return token.account


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"available": 2, "can_buy": True, "cost": 50}, (2, True, Decimal(50))),
        ({"available": True, "can_buy": False, "cost": "50"}, (1, False, Decimal(50))),
        ({"available": False}, (0, None, None)),
        ({"available": "many", "can_buy": "yes", "cost": -1}, (None, None, None)),
        ([], (None, None, None)),
    ],
)
def test_slots_are_read_in_whatever_form_they_come(
    answer: object, expected: tuple[object, ...], account: Account, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*SLOTS, make_response(answer))
    tasks.read_voice_slots_task(str(account.pk))
    row = VoiceSlots.objects.get()
    assert (row.available, row.can_buy, row.cost) == expected
    assert row.due_at is None
    assert row.read_at


def test_a_silent_service_leaves_the_slots_as_they_were_and_says_so(
    account: Account, upstream: ScriptedUpstream
) -> None:
    VoiceSlots.objects.update(available=1, read_at=timezone.now())
    upstream.respond(*SLOTS, error_response(503, "GEN-API-ERROR"))
    cloned_voices.read_voice_slots(account.pk)
    row = VoiceSlots.objects.get()
    assert (row.available, row.due_at) == (1, None)
    assert row.read_error


def test_the_tick_finds_a_read_that_no_worker_picked_up_once(account: Account) -> None:
    assert list(due_work.lease_due_account_reads(VoiceSlots)) == [account.pk]
    assert list(due_work.lease_due_account_reads(VoiceSlots)) == []
    VoiceSlots.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    assert list(due_work.lease_due_account_reads(VoiceSlots)) == [account.pk]


def test_slots_that_are_not_due_are_not_read(account: Account, upstream: ScriptedUpstream) -> None:
    VoiceSlots.objects.update(due_at=None)
    cloned_voices.read_voice_slots(account.pk)
    assert upstream.requests == []


def test_a_sample_that_does_not_decrypt_is_said_and_nothing_is_sent(
    token: Token, upstream: ScriptedUpstream
) -> None:
    job = JobFactory(account=token.account, token=token, kind=JobKind.CLONE)
    store_file(job, name="a.wav", content_type="audio/wav", content=b"RIFF")
    StoredFile.objects.update(ciphertext=b"\x01\x03old" + bytes(60))
    charge = ChargeFactory(job=job, operation="voice_clones.create", hold=0, quote=0)
    upstream.respond(*SLOTS, make_response({"available": 1}))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert "can no longer be decrypted" in charge.reason
    assert [one.method for one in upstream.requests] == ["GET"]
