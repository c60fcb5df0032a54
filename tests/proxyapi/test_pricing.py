"""Prices that are known before asking."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from proxyapi import pricing
from proxyapi.models import ChargeState
from proxyapi.operations import DEFAULT_SCRIPT_PRICE, OPERATIONS
from tests.factories import AccountFactory, ChargeFactory, JobFactory


@pytest.mark.parametrize(
    ("quote", "hold"), [("96", 106), ("0.5", 1), ("12.16", 14), ("100", 110), ("0", 0)]
)
def test_pitfall_43_a_hold_is_a_little_above_an_approximate_price(quote: str, hold: int) -> None:
    assert pricing.hold_for_estimate(Decimal(quote)) == hold


@pytest.mark.parametrize("key", ["CONTENT_PROMPT_REQUESTED", "content_prompt_requested"])
def test_pitfall_59_a_key_of_the_cost_map_is_found_in_any_case(key: str) -> None:
    account = AccountFactory.build(costs={key: {"credits": 7, "free": 2}})
    assert pricing.script_credits(account) == 7
    assert pricing.free_script_uses(account) == 2


@pytest.mark.parametrize(
    ("operation", "key"),
    [
        ("faceless.export", "export_videos"),
        ("ai_visuals.regenerate", "image_regenerations"),
        ("faceless.scripts", "ai_scripts"),
        ("ideas.discover", "Idea-Discoveries"),
    ],
)
def test_a_key_that_looks_like_ours_is_a_guess(operation: str, key: str) -> None:
    others = {"avatar": {"credits": 9}, "thumbnail_generation": {"credits": 8}, "faceless": 7}
    account = AccountFactory.build(costs={**others, key: {"credits": "2", "free": 3}})
    known = OPERATIONS[operation].price
    assert pricing.cost_map_credits(account, known) == 2
    assert pricing.guessed_cost_map_key(account, operation) == key
    exact = AccountFactory.build(costs={**account.costs, known.cost_map_key: {"credits": 5}})
    assert pricing.cost_map_credits(exact, known) == 5
    assert pricing.guessed_cost_map_key(exact, operation) == ""


@pytest.mark.django_db
def test_a_price_that_no_list_has_is_what_it_cost_last() -> None:
    job = JobFactory(account__costs={})
    assert pricing.fixed_price(job.account, "faceless.export") is None
    for cost, minute in ((7, 1), (0, 2)):
        ChargeFactory(
            job=job,
            operation="faceless.export",
            state=ChargeState.MATCHED,
            cost=cost,
            sent_at=timezone.now() + timedelta(minutes=minute),
        )
    assert pricing.fixed_price(job.account, "faceless.export") == 7


@pytest.mark.django_db
def test_pitfall_50_a_training_has_its_own_price_and_a_preview_none_that_is_known() -> None:
    """A preview holds what somebody allows, and the ledger tells what it took."""
    account = AccountFactory.build(costs={})
    assert pricing.fixed_price(account, "characters.train") == 10
    assert pricing.fixed_price(account, "characters.preview") is None
    assert OPERATIONS["characters.preview"].price.may_be_free
    assert {"characters.train", "characters.preview"} <= {
        name for name, row in OPERATIONS.items() if row.charging
    }


def test_an_account_whose_costs_were_never_read_has_the_usual_price() -> None:
    assert pricing.script_credits(AccountFactory.build(costs={})) == DEFAULT_SCRIPT_PRICE


@pytest.mark.django_db
@pytest.mark.parametrize(("took", "price"), [([0], 96), ([92, 0], 92), ([0, 92], 92)])
def test_a_render_that_was_free_predicts_nothing_about_the_price_of_a_retry(
    took: list[int], price: int
) -> None:
    wanted, hour_ago = {"type": "ai-visuals"}, timezone.now() - timedelta(hours=1)
    job = JobFactory(
        draft__settings=wanted,
        draft__sent_settings=wanted,
        draft__estimate=96,
        draft__estimate_as_of=hour_ago,
    )
    for minute, cost in enumerate(took):
        sent_at = hour_ago + timedelta(minutes=1 + minute)
        ChargeFactory(job=job, state=ChargeState.CONFIRMED, cost=cost, sent_at=sent_at)
    assert pricing.estimate_retry_price(job) == price
