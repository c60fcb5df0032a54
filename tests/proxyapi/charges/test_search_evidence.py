"""What is read, for nothing, before and after a search for ideas or a clone that may cost."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import ChargeIntent, dispatch_charge, evidence, reconcile_charge
from proxyapi.models import Charge, ChargeState, Job, JobKind, Upload
from tests.admission import admit_charge
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    history_page,
    make_response,
)

IDEAS, DISCOVER = ("GET", "/ideas"), ("POST", "/ideas/discover")
SLOTS, CLONES = ("GET", "/voice-clones/slots"), ("POST", "/voice-clones")


@pytest.fixture
def search_intent(job: Job) -> Charge:
    body, fifteen = {"keyword": "tides", "network": "youtube"}, Decimal(15)
    nonce = uuid.uuid4()
    return admit_charge(
        ChargeIntent(None, "ideas.discover", nonce, fifteen, fifteen, body, token=job.token)
    )


def sent(charge: Charge) -> Charge:
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def asked(upstream: ScriptedUpstream) -> list[tuple[str, str]]:
    return [(one.method, one.url.path.removeprefix("/v2")) for one in upstream.requests]


@pytest.mark.parametrize("status", [403, 404])
def test_a_list_refused_for_a_keyword_that_nobody_searched_for_is_empty(
    status: int, search_intent: Charge, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*IDEAS, error_response(status, "GEN-FORBIDDEN" if status == 403 else ""))
    upstream.respond(*DISCOVER, charged_response([{"id": 3, "title": "Tides"}], 15))
    assert sent(search_intent).state == ChargeState.CONFIRMED
    assert asked(upstream) == [IDEAS, DISCOVER]


def test_pitfall_33_a_search_whose_answer_got_lost_is_reconciled_and_not_repeated(
    search_intent: Charge, upstream: ScriptedUpstream
) -> None:
    """GET /ideas is free; a search charges each time."""
    upstream.respond(*IDEAS, make_response([]), make_response([{"id": 3, "title": "Tides"}]))
    upstream.respond(*DISCOVER, httpx.ReadTimeout)
    assert sent(search_intent).state == ChargeState.UNKNOWN
    assert asked(upstream) == [IDEAS, DISCOVER]
    booked = {"credit_spend": "-15", "created_at": timezone.now().isoformat()}
    upstream.respond("GET", "/credits/history", history_page(booked))
    sent(search_intent)
    reconcile_charge(search_intent.pk)
    search_intent.refresh_from_db()
    assert (search_intent.state, search_intent.cost) == (ChargeState.MATCHED, 15)
    assert asked(upstream).count(DISCOVER) == 1
    assert asked(upstream)[2] == IDEAS


@pytest.mark.parametrize("addon", [False, True])
def test_pitfall_49_the_slots_are_read_first_and_one_is_bought_only_if_somebody_said_so(
    addon: bool, job: Job, upstream: ScriptedUpstream
) -> None:
    draft = JobFactory(account=job.account, token=job.token, kind=JobKind.CLONE)
    sample = Upload(field="samples[]", name="a.wav", content_type="audio/wav", content=b"RIFF")
    body = {"terms": True, "name": "Thea", "gender": "female", "purchase_addon": addon}
    cost = 50 if addon else 0
    price = Decimal(cost)
    create = ChargeIntent(
        draft, "voice_clones.create", uuid.uuid4(), price, price, body=body,
        uploads=(sample,),
    )  # fmt: skip
    upstream.respond(
        *SLOTS, make_response({"available": int(not addon), "can_buy": True, "cost": 50})
    )
    upstream.respond(*CLONES, charged_response({"id": 5, "status": "pending"}, cost))
    charge = sent(admit_charge(create))
    assert asked(upstream) == [SLOTS, CLONES]
    assert charge.before["available"] == int(not addon)
    assert (b'name="purchase_addon"' in upstream.requests[-1].content) is addon


@pytest.mark.parametrize("theirs", [{"keyword": "tides"}, {"keyword": "trains"}, None])
def test_ideas_that_another_teams_search_may_have_found_prove_nothing(
    theirs: dict[str, str] | None, job: Job, other_teams_job: Job, upstream: ScriptedUpstream
) -> None:
    now, body = timezone.now(), {"keyword": "tides", "network": "youtube"}
    common = {"operation": "ideas.discover", "sent_at": now, "before": {"ideas": []}}
    charge = ChargeFactory(job=job, state=ChargeState.UNKNOWN, body=body, **common)
    if theirs:
        spent = {"state": ChargeState.CONFIRMED, "cost": 15, "settled_at": now}
        ChargeFactory(job=other_teams_job, body=theirs, **common, **spent)
    proved = evidence.proves_executed(charge, {"ideas": [{"id": 3}]})
    assert proved is (theirs != {"keyword": "tides"})


@pytest.mark.parametrize(("sent", "proved"), [(-60, True), (5, False)])
def test_a_slot_that_another_teams_clone_may_have_taken_proves_nothing(
    sent: int, proved: bool, job: Job, other_teams_job: Job
) -> None:
    """One that was done before this one was sent had its slot by then."""
    now = timezone.now()
    common = {"operation": "voice_clones.create", "before": {"available": 2}}
    charge = ChargeFactory(job=job, state=ChargeState.UNKNOWN, sent_at=now, **common)
    times = {"sent_at": now + timedelta(seconds=sent), "settled_at": now + timedelta(seconds=sent)}
    ChargeFactory(job=other_teams_job, state=ChargeState.CONFIRMED, cost=0, **common, **times)
    assert evidence.proves_executed(charge, {"available": 1}) is proved


def test_an_answer_that_names_what_another_team_made_is_a_mistake(
    job: Job, other_teams_job: Job
) -> None:
    assert job.is_remote_id_taken(other_teams_job.remote_id or "")
