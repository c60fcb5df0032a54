"""Rows of the pitfalls about the client that no other test here names."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from proxyapi import calls, checks, drafts, ledger
from proxyapi.models import Account, Job, JobKind, JobState
from proxyapi.upstream.catalog import CATALOG
from proxyapi.watching.states import WAYS, read
from tests.factories import AccountFactory, JobFactory, TokenFactory
from tests.proxyapi.upstream_script import BASE, Upstream, answer

READY = {"type": "ai-visuals", "title": "Ice", "script": "It moves.", "voice_id": 3, "genre_id": 2}
TYPED = ("ai_visuals", "b_roll", "url_to_video")


@pytest.fixture
def account(db: None) -> Account:
    account: Account = AccountFactory()
    TokenFactory(account=account)
    return account


@pytest.mark.parametrize("kind", JobKind.values)
def test_pitfall_6_one_kinds_last_word_is_under_way_in_another(kind: str) -> None:
    words = {word for way in WAYS.values() for word in way.completed}
    assert words == {"completed", "success", "ready"}
    for word in words:
        record = {"status": word, WAYS[kind].media: "https://files.example/a"}
        shown = {WAYS[kind].inner: record} if WAYS[kind].inner else record
        wanted = JobState.COMPLETED if word in WAYS[kind].completed else JobState.RUNNING
        assert read(kind, shown).state == wanted


@pytest.mark.parametrize("beside", [{}, {"status": 200}, {"status": "completed"}])
def test_pitfall_12_only_the_status_inside_the_resource_counts(beside: dict[str, Any]) -> None:
    sight = read(JobKind.FACELESS, {**beside, "video": {"status": "rendering"}})
    assert (sight.state, sight.raw) == (JobState.RUNNING, "rendering")
    assert read(JobKind.FACELESS, beside).state is None


@pytest.mark.parametrize("told", [4.76, "4.76"])
def test_pitfall_55_a_price_of_a_fraction_is_exact(
    told: object, db: None, upstream: Upstream
) -> None:
    job: Job = JobFactory(wanted=READY)
    upstream.on("POST", "/faceless", answer({"id": 7}, 201))
    upstream.on("PATCH", "/faceless/7", answer({"id": 7}))
    upstream.on("GET", "/faceless/7/estimate", answer({"credits": told}))
    drafts.quote(job)
    job.refresh_from_db()
    assert job.estimate == Decimal("4.76")


def test_pitfall_94_the_links_of_an_answer_are_not_followed(
    account: Account, upstream: Upstream
) -> None:
    """Pages are asked for by their numbers, at the address that the token is for."""
    rows = [
        {"credit_spend": "-4", "transaction_type": "Debit", "created_at": f"2026-11-02T09:{at}:00Z"}
        for at in range(10, 60)
    ]
    elsewhere = {"next": "https://elsewhere.example/history?page=2", "last": "//elsewhere.example"}
    pages: dict[str, Any] = {"links": elsewhere, "next": elsewhere["next"]}
    upstream.on("GET", "/me", answer({"id": 5, "credits": {"remaining": "10"}}))
    upstream.on("GET", "/credits/history", answer(rows, total=50, **pages))
    ledger.mirror(account)
    assert upstream.requests
    assert all(str(request.url).startswith(f"{BASE}/") for request in upstream.requests)


@pytest.mark.parametrize("kind", JobKind.values)
def test_pitfall_97_what_was_added_to_an_answer_changes_nothing(kind: str) -> None:
    way = WAYS[kind]
    word, file = next(iter(way.completed)), "https://files.example/a"
    record: dict[str, Any] = {"status": word, way.media: file}
    more = {**record, "capabilities": {"new": [1]}, "progress": None, "stage": 7}
    shown, added = (({way.inner: it} if way.inner else it) for it in (record, more))
    assert read(kind, {**added, "brand_new": {"status": "failed"}}) == read(kind, shown)


def test_pitfall_98_no_call_of_ours_has_a_place_for_include() -> None:
    assert not any("include" in f"{row.path} {row.parameters}" for row in CATALOG.values())


def test_pitfalls_100_101_what_the_spec_lists_only_for_all_types_goes_the_general_way() -> None:
    """No typed path for ai-clips, nor for a retry or an export; url-to-video has no estimate."""
    typed = {name for name in CATALOG if name.startswith(TYPED)}
    assert typed
    assert not {name for name in typed if name.endswith((".retry", ".export"))}
    assert "url_to_video.estimate" not in CATALOG
    assert {"faceless.create", "faceless.retry", "faceless.export"} <= CATALOG.keys()


def test_pitfall_91_a_method_that_the_api_does_not_show_is_a_setting(settings: Any) -> None:
    settings.VIDEO_API_METHODS = {"text_to_scene.sort": "PATCH"}
    calls.client.cache_clear()
    try:
        assert checks.methods_can_be_set() == []
        assert calls.client().row("text_to_scene.sort").method == "PATCH"
    finally:
        calls.client.cache_clear()


@pytest.mark.parametrize(
    "wrong", [{"faceless.render": "PUT"}, {"nothing.sort": "PUT"}, {"text_to_scene.sort": "DELETE"}]
)
def test_pitfall_91_any_other_method_keeps_the_process_from_starting(
    wrong: dict[str, str], settings: Any
) -> None:
    settings.VIDEO_API_METHODS = wrong
    assert [one.id for one in checks.methods_can_be_set()] == ["proxyapi.E005"]
