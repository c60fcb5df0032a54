"""The price shown is the price booked: random legal combinations against the sandbox."""

from __future__ import annotations

import random
import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.shared.clip_models import ClipModel, account_clip_models, fit_settings
from proxyapi import calls
from proxyapi.charges import ChargeIntent, dispatch_charge
from proxyapi.kinds import CREATE_CLIP_OPERATION, clip_body
from proxyapi.models import Draft, Job, JobKind, JobState
from proxyapi.rate_limiter import Priority
from proxyapi.tasks import quote_draft_task
from tests.admission import admit_charge
from tests.examples import examples
from tests.factories import JobFactory
from tests.proxyapi.money.sandbox_account import SandboxAccount

PROMPT = "A paper boat crosses a flooded city square at dawn"
PICTURE = "https://media.example/frame.png"
COMBINATIONS = examples(10, 200)
pytestmark = pytest.mark.django_db


def random_settings(dice: random.Random, model: ClipModel) -> dict[str, Any]:
    """A combination that the composer can produce, with the references that the model needs."""
    wanted = {menu.name: dice.choice(menu.values) for menu in model.menus}
    references = {
        slot.name: {"address": PICTURE}
        for slot in model.slots
        if slot.is_required or dice.random() < 0.3
    }
    return {**fit_settings(model, wanted).settings, **references, "prompt": PROMPT}


def draft_of(stage: SandboxAccount, chosen: dict[str, Any]) -> Job:
    token = stage.token
    return JobFactory.create(
        account=token.account,
        token=token,
        member=token.owner,
        kind=JobKind.CLIP,
        draft__settings=chosen,
        draft__quote_due_at=timezone.now(),
    )


def quote(job: Job) -> Draft:
    quote_draft_task(str(job.pk))
    job.draft.refresh_from_db()
    return job.draft


@pytest.mark.slow
def test_random_legal_combinations_cost_what_was_shown(paying: SandboxAccount) -> None:
    """Two requests to the sandbox each."""
    dice = random.Random(29)  # noqa: S311 - a sample, no secret
    models = account_clip_models(paying.token.account)
    assert len(models) == 8
    job, token = draft_of(paying, {"model": models[0].slug}), paying.token
    for _ in range(COMBINATIONS):
        chosen = random_settings(dice, dice.choice(models))
        Draft.objects.filter(pk=job.pk).update(
            settings=chosen, sent_settings={}, estimate=None, quote_due_at=timezone.now()
        )
        job.draft.refresh_from_db()
        draft = quote(job)
        assert draft.has_current_estimate, (chosen, draft.quote_error)
        reply = calls.call_upstream(
            token, CREATE_CLIP_OPERATION, Priority.PERSON, json=clip_body(chosen)
        )
        assert reply.credits is not None
        assert reply.credits.cost == draft.estimate, chosen


@pytest.mark.parametrize("slug", ["brook", "marlow-02", "kestrel-voice", "tessera", "halden-max"])
def test_a_clip_of_each_family_is_booked_at_the_price_that_was_confirmed(
    slug: str, paying: SandboxAccount
) -> None:
    models = {model.slug: model for model in account_clip_models(paying.token.account)}
    dice = random.Random(slug)  # noqa: S311 - a sample, no secret
    chosen = random_settings(dice, models[slug])
    job = draft_of(paying, chosen)
    price = quote(job).estimate
    assert price is not None
    before = paying.control.get(f"accounts/{paying.account_id}/money").json()["balance"]
    charge = admit_charge(
        ChargeIntent(job, CREATE_CLIP_OPERATION, uuid.uuid4(), price, price, clip_body(chosen))
    )
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    after = paying.control.get(f"accounts/{paying.account_id}/money").json()["balance"]
    assert (charge.cost, Decimal(str(before)) - Decimal(str(after))) == (price, price)
    assert (job.state, job.raw_status) == (JobState.RUNNING, "draft")
