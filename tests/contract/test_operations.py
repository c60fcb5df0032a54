"""The table of operations is the endpoint tables of the spec: each row of one is in the other."""

from __future__ import annotations

import pytest

from proxyapi.operations import (
    CHARGED_CREATE_OPERATIONS,
    FACELESS_RENDER_OPERATIONS,
    OPERATIONS,
    REFUNDABLE_OPERATIONS,
    RENDER_OPERATIONS,
    ExecutionEvidence,
    Operation,
    PriceRule,
    RatePool,
    get_operation,
)
from proxyapi.upstream.endpoint import RetryPolicy
from tests.cases import each_case
from tests.contract import spec
from tests.contract.spec import NOT_SHOWN


def operation_routes() -> set[tuple[str, str]]:
    return {
        (row.method if row.method_documented else NOT_SHOWN, row.path)
        for row in OPERATIONS.values()
    }


def test_the_spec_has_61_endpoints():
    assert len(spec.endpoints()) == 61


def test_every_endpoint_of_the_spec_is_an_operation():
    assert spec.endpoints() - operation_routes() == set()


def test_nothing_is_in_the_table_that_is_not_in_the_spec():
    assert operation_routes() - spec.endpoints() == set()


def test_no_two_rows_are_the_same_endpoint():
    assert len(operation_routes()) == len(OPERATIONS)


def test_a_row_is_found_by_the_name_it_bears():
    assert all(get_operation(name).name == name for name in OPERATIONS)
    with pytest.raises(KeyError):
        get_operation("faceless.delete")


@each_case("row", OPERATIONS.values())
def test_only_reads_and_free_scraping_may_be_repeated(row: Operation):
    """pitfall_37, pitfall_38: a PUT is not idempotent here."""
    safe = row.method == "GET" or row.name.endswith(".scrape_images")
    assert (row.retry is RetryPolicy.SAFE) == safe
    assert not (row.charging and safe)


@each_case("row", OPERATIONS.values())
def test_every_charging_row_names_its_evidence_and_a_free_read_of_it(row: Operation):
    if row.charging:
        assert row.evidence is not ExecutionEvidence.NONE
    if row.evidence_operation is not None:
        assert get_operation(row.evidence_operation).method == "GET"
    else:
        assert row.evidence is ExecutionEvidence.NONE


def test_just_three_reads_go_without_a_subscription():
    exempt = {row.name for row in OPERATIONS.values() if not row.needs_subscription}
    assert exempt == {"me.get", "credits.costs", "credits.history"}


@pytest.mark.parametrize(
    "name",
    [
        "text_to_scene.clips",
        "text_to_scene.prompt",
        "ai_visuals.regenerate",
        "ai_visuals.upload",
    ],
)
def test_what_the_charge_table_leaves_out_counts_as_charging(name: str):
    """pitfall_51: clips, prompt, regenerate and upload are not called free anywhere."""
    assert get_operation(name).charging


@pytest.mark.parametrize(("name", "least"), [("ideas.discover", 150), ("characters.preview", 120)])
def test_the_long_synchronous_calls_have_the_time_they_need(name: str, least: int):
    """pitfall_34."""
    assert get_operation(name).timeout >= least


@each_case("row", OPERATIONS.values())
def test_what_charges_has_a_price_rule_and_a_label_and_nothing_else_has(row: Operation):
    assert row.charging == (row.price.rule is not PriceRule.FREE) == bool(row.label)
    assert (row.price.rule is PriceRule.COST_MAP) == bool(row.price.cost_map_key)
    assert (row.price.rule is PriceRule.ESTIMATE) == bool(row.price.estimate_operation)
    if row.price.estimate_operation:
        assert get_operation(row.price.estimate_operation).method == "GET"


def test_the_groups_that_queries_filter_by():
    """By the spec: what returns an id for credits, what a resource is polled after, refunds."""
    assert CHARGED_CREATE_OPERATIONS == ("text_to_video.create", "voice_clones.create")
    assert REFUNDABLE_OPERATIONS == ("text_to_video.create",)
    starts = {name for name in OPERATIONS if name.endswith((".render", ".retry", ".train"))}
    assert set(RENDER_OPERATIONS) == starts
    assert set(FACELESS_RENDER_OPERATIONS) == starts - {"text_to_scene.render", "characters.train"}


def test_the_limits_beside_the_tokens_are_those_of_previews_and_scraping():
    pooled = {row.name: row.rate_pool for row in OPERATIONS.values() if row.rate_pool}
    assert pooled.pop("characters.preview") is RatePool.PREVIEWS
    assert pooled == {name: RatePool.SCRAPING for name in OPERATIONS if ".scrape_" in name}
