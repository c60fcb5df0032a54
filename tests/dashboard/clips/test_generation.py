"""Generating a clip: once, at exactly the price that was confirmed, or a sentence and nothing
lost."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.clips.queries.recent import load_recent_clips
from dashboard.models import ApprovalRequest, Budget, Membership
from proxyapi.models import Account, Charge, ChargeState, Draft, Job, JobState, Token, TokenState
from proxyapi.operations import REFUNDABLE_OPERATIONS
from tests.dashboard.clips.conftest import (
    HTMX,
    MODELS,
    PROMPT,
    SETTINGS,
    Browser,
    form_of,
    make_clip_draft,
    save,
)
from tests.dashboard.clips.test_composer import PAGE, text_of
from tests.factories import ChargeFactory


def question_url(job: Job) -> str:
    return reverse("clip-generations", args=[job.pk])


def answer(job: Job, **changes: Any) -> dict[str, Any]:
    """What the dialog posts."""
    job.draft.refresh_from_db()
    edited_at = job.draft.edited_at.isoformat()
    return {"nonce": uuid.uuid4(), "price": job.draft.estimate, "edited_at": edited_at, **changes}


def confirm(browser: Any, job: Job, **changes: Any) -> Any:
    return browser.post(question_url(job), answer(job, **changes), headers=HTMX)


def test_the_question_names_the_clip_its_exact_price_and_the_refund(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    html = text_of(client_of(priya).get(question_url(priced), headers=HTMX))
    assert "Generate this clip?" in html
    assert "Kestrel Voice, 8 s, 720p, 16:9, with sound." in html
    assert PROMPT in html
    assert "Exact, quoted by the service at" in html
    assert "Held while it is sent" in html
    assert "the service refunds 33 cr by itself" in html
    assert '<span class="btn__price">33 cr</span>' in html


def test_a_confirmed_clip_is_held_at_its_price_and_the_composer_is_empty_again(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    response = confirm(client_of(priya), priced)
    assert response["HX-Redirect"] == f"{PAGE}?draft=new"
    charge = Charge.objects.get()
    assert (charge.state, charge.quote, charge.hold) == (ChargeState.HELD, 33, 33)
    assert charge.body == SETTINGS
    html = text_of(client_of(priya).get(f"{PAGE}?draft=new"))
    assert PROMPT not in html
    assert [card.title for card, _ in load_recent_clips(priya).cards] == [PROMPT]


def test_a_form_that_is_sent_twice_charges_once(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    data, client = answer(priced), client_of(priya)
    for _ in range(2):
        response = client.post(question_url(priced), data, headers=HTMX)
        assert response["HX-Redirect"] == f"{PAGE}?draft=new"
    assert Charge.objects.count() == 1


def test_a_moved_price_is_named_and_shown_again(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    data = answer(priced)
    Draft.objects.filter(pk=priced.pk).update(estimate=Decimal(35))
    html = text_of(client_of(priya).post(question_url(priced), data, headers=HTMX))
    assert "The price is now 35 cr, it was 33 cr when you opened this. Nothing was sent." in html
    assert '<span class="btn__price">35 cr</span>' in html
    assert not Charge.objects.exists()


def test_what_was_changed_after_the_question_is_not_sent(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    data, client = answer(priced), client_of(priya)
    save(client, form_of(priced, prompt=f"{PROMPT} in another window"), **HTMX)
    html = text_of(client.post(question_url(priced), data, headers=HTMX))
    assert "The clip was changed since this was shown. Nothing was sent." in html
    assert not Charge.objects.exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"prompt": "A paper boat drifts"}, "Write at least 5 words. One is missing."),
        ({"prompt": " ".join(["boat"] * 1501)}, "The prompt is 1 word too long."),
        ({"model": "gone"}, "The chosen model is not in your plan now."),
        ({"duration": 9}, "Kestrel Voice does not offer 9 s now."),
        ({"resolution": "720P"}, "Kestrel Voice does not offer 720P now."),
        ({"model": "tessera"}, "Tessera does not offer"),
    ],
)
def test_a_draft_that_the_service_would_refuse_is_not_sent(
    changes: dict[str, Any], sentence: str, priya: Membership, token: Token, client_of: Browser
) -> None:
    job = make_clip_draft(token, {**SETTINGS, **changes}, Decimal(33))
    assert sentence in text_of(confirm(client_of(priya), job))
    assert not Charge.objects.exists()


def test_a_model_that_leaves_the_plan_after_the_question_is_named(
    priya: Membership, priced: Job, account: Account, client_of: Browser
) -> None:
    data = answer(priced)
    account.clip_models = MODELS[:1]
    account.save()
    html = text_of(client_of(priya).post(question_url(priced), data, headers=HTMX))
    assert "The chosen model is not in your plan now. Choose another one. Nothing was sent." in html
    assert not Charge.objects.exists()


def test_over_budget_an_approval_is_requested_with_the_price(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    Budget.objects.create(team=priya.team, member=priya.user, hard=20)
    html = text_of(client_of(priya).get(PAGE))
    assert "Ask for 33 cr" in html
    assert "Request approval" in text_of(client_of(priya).get(question_url(priced), headers=HTMX))
    confirm(client_of(priya), priced, ask="1", note="For the opening.")
    request = ApprovalRequest.objects.select_related("charge").get()
    assert (request.charge.state, request.charge.price) == (ChargeState.DRAFT, 33)
    card = load_recent_clips(priya).cards[0][0]
    assert card.state.name == "waiting"
    save_response = save(client_of(priya), form_of(priced, duration=5), **HTMX)
    assert "This clip was sent, or waits for an approval." in text_of(save_response)


def test_without_enough_credits_the_card_says_what_is_missing(
    priya: Membership, priced: Job, account: Account, client_of: Browser
) -> None:
    Account.objects.filter(pk=account.pk).update(balance=Decimal(12))
    html = text_of(client_of(priya).get(PAGE))
    assert "12 cr free; 33 would be held" in html
    assert 'id="clip-generate-card" type="button" disabled' in html
    assert "33 cr" in text_of(confirm(client_of(priya), priced))
    assert not Charge.objects.exists()


def test_a_stopped_token_is_named_and_the_words_stay(
    priya: Membership, priced: Job, token: Token, client_of: Browser
) -> None:
    Token.objects.filter(pk=token.pk).update(state=TokenState.REVOKED)
    html = text_of(client_of(priya).get(PAGE))
    assert "Your token stopped working." in html
    assert "The token of this draft does not work" in html
    assert PROMPT in html


def test_a_refund_that_is_owed_says_since_when_and_costs_nothing_once_it_came(
    priya: Membership, priced: Job
) -> None:
    failed_at = timezone.now() - timedelta(minutes=42)
    Job.objects.filter(pk=priced.pk).update(
        state=JobState.FAILED, remote_id="88", failure_message="Provider timed out."
    )
    charge = ChargeFactory.create(
        job=priced,
        operation=REFUNDABLE_OPERATIONS[0],
        state=ChargeState.CONFIRMED,
        cost=Decimal(33),
        sent_at=failed_at,
        refund_owed_at=failed_at,
    )
    card = load_recent_clips(priya).cards[0][0]
    assert card.status_text == (
        "“Provider timed out.” Refund owed 33 cr, not seen in the ledger yet, 42 min."
    )
    assert card.cost.value == 33
    Charge.objects.filter(pk=charge.pk).update(refunded_at=timezone.now())
    card = load_recent_clips(priya).cards[0][0]
    assert card.status_text.startswith("“Provider timed out.” All 33 cr came back at")
    assert card.cost.value == 0


def test_a_clip_whose_id_never_reached_us_shows_cost_and_time_and_is_not_sent_again(
    priya: Membership, priced: Job, client_of: Browser
) -> None:
    now = timezone.now()
    ChargeFactory.create(
        job=priced,
        operation=REFUNDABLE_OPERATIONS[0],
        state=ChargeState.MATCHED,
        cost=Decimal(33),
        sent_at=now,
        unidentified_at=now,
    )
    card, actions = load_recent_clips(priya).cards[0]
    assert card.state.label == "Lost"
    assert "33 cr were charged at" in card.status_text
    assert [button.label for button in actions] == ["Change and generate"]
    assert PROMPT not in text_of(client_of(priya).get(PAGE))  # a new draft is open
    assert "Nothing was sent twice." in text_of(confirm(client_of(priya), priced))
    assert Charge.objects.count() == 1
