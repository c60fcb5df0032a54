"""Pitfalls (docs/pitfalls.md) of the client that no other test names, and that none is forgotten.

A test names a pitfall in its name, its docstring or that of its file: pitfall_33, pitfalls 5 to 8.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from proxyapi import calls, checks, ledger, tokens
from proxyapi.kinds import KINDS, faceless_draft
from proxyapi.models import Account, Job, JobKind, JobState
from proxyapi.operations import OPERATIONS
from proxyapi.polling.poller import poll_job
from proxyapi.upstream.errors import ErrorDetails, MethodNotAllowed
from tests.factories import AccountFactory, JobFactory, TokenFactory
from tests.proxyapi.scripted_upstream import BASE, ScriptedUpstream, make_response

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "pitfalls.md"
ROWS = [int(number) for number in re.findall(r"^(\d+)\. ", PAGE.read_text(), re.MULTILINE)]
NAMED = re.compile(r"pitfalls?[ _](\d+(?:(?:_to_|_and_|_| to | and |, )\d+)*)")
# Whoever makes one of these screens names the row in a test, and takes it out here.
WITHOUT_A_SCREEN = {
    105: "voice clones: none is made here",
    110: "storyboards: none is made here",
    111: "clips: no duration is chosen",
    113: "clips: no prompt is typed",
    116: "voice clones: nobody is asked for a consent",
}
READY = {"type": "ai-visuals", "title": "Ice", "script": "It moves.", "voice_id": 3, "genre_id": 2}
TYPED = ("ai_visuals", "b_roll", "url_to_video")


@pytest.fixture
def account(db: None) -> Account:
    account: Account = AccountFactory()
    TokenFactory(account=account)
    return account


@pytest.mark.parametrize("kind", JobKind.values)
def test_pitfall_6_one_kinds_last_word_is_under_way_in_another(kind: str) -> None:
    words = {word for way in KINDS.values() for word in way.completed_statuses}
    assert words == {"completed", "success", "ready"}
    for word in words:
        record = {"status": word, KINDS[kind].media_url_key: "https://files.example/a"}
        shown = {KINDS[kind].status_key: record} if KINDS[kind].status_key else record
        wanted = JobState.COMPLETED if word in KINDS[kind].completed_statuses else JobState.RUNNING
        assert KINDS[kind].read_status(shown).state == wanted


@pytest.mark.parametrize("beside", [{}, {"status": 200}, {"status": "completed"}])
def test_pitfall_12_only_the_status_inside_the_resource_counts(beside: dict[str, Any]) -> None:
    sight = KINDS[JobKind.FACELESS].read_status({**beside, "video": {"status": "rendering"}})
    assert (sight.state, sight.raw_status) == (JobState.RUNNING, "rendering")
    assert KINDS[JobKind.FACELESS].read_status(beside).state is None


@pytest.mark.parametrize("told", [4.76, "4.76"])
def test_pitfall_55_a_price_of_a_fraction_is_exact(
    told: object, db: None, upstream: ScriptedUpstream
) -> None:
    job: Job = JobFactory(draft__settings=READY)
    upstream.respond("POST", "/faceless", make_response({"id": 7}, 201))
    upstream.respond("PATCH", "/faceless/7", make_response({"id": 7}))
    upstream.respond("GET", "/faceless/7/estimate", make_response({"credits": told}))
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert job.draft.estimate == Decimal("4.76")


def test_pitfall_94_the_links_of_an_answer_are_not_followed(
    account: Account, upstream: ScriptedUpstream
) -> None:
    """Pages are asked for by their numbers, at the address that the token is for."""
    rows = [
        {"credit_spend": "-4", "transaction_type": "Debit", "created_at": f"2026-11-02T09:{at}:00Z"}
        for at in range(10, 60)
    ]
    elsewhere = {"next": "https://elsewhere.example/history?page=2", "last": "//elsewhere.example"}
    pages: dict[str, Any] = {"links": elsewhere, "next": elsewhere["next"]}
    upstream.respond("GET", "/me", make_response({"id": 5, "credits": {"remaining": "10"}}))
    upstream.respond("GET", "/credits/history", make_response(rows, total=50, **pages))
    ledger.mirror_entries(account)
    assert upstream.requests
    assert all(str(request.url).startswith(f"{BASE}/") for request in upstream.requests)


@pytest.mark.parametrize("kind", JobKind.values)
def test_pitfall_97_what_was_added_to_an_answer_changes_nothing(kind: str) -> None:
    way = KINDS[kind]
    word, file = next(iter(way.completed_statuses)), "https://files.example/a"
    record: dict[str, Any] = {"status": word, way.media_url_key: file}
    more = {**record, "capabilities": {"new": [1]}, "progress": None, "stage": 7}
    shown, added = (({way.status_key: it} if way.status_key else it) for it in (record, more))
    assert KINDS[kind].read_status({**added, "brand_new": {"status": "failed"}}) == KINDS[
        kind
    ].read_status(shown)


def test_pitfall_98_nothing_that_is_read_asks_for_includes(
    account: Account, upstream: ScriptedUpstream
) -> None:
    """Of a whole way: profile, prices, options, ledger, a draft's price, a look at what runs."""
    assert not any("include" in f"{row.path} {row.path_parameters}" for row in OPERATIONS.values())
    paid = {"exists": True, "active": True, "trial": False}
    me = {"id": account.upstream_id, "subscription": paid, "credits": {"remaining": "10"}}
    upstream.respond("GET", "/me", make_response(me))
    row = {"credit_spend": "-4", "transaction_type": "Debit", "created_at": "2026-11-02T09:00:00Z"}
    upstream.respond("GET", "/credits/history", make_response([row], total=1))
    told: dict[str, Any] = {"/credits/costs": {}, "/faceless/options": {}}
    told |= {"/text-to-video/models": []}
    told |= {"/faceless/7": {"id": 7}, "/faceless/7/estimate": {"credits": 4}}
    for path, data in told.items():
        upstream.respond("GET", path, make_response(data))
    upstream.respond("POST", "/faceless", make_response({"id": 7}, 201))
    upstream.respond("PATCH", "/faceless/7", make_response({"id": 7}))
    tokens.refresh_account_profile(account)
    ledger.mirror_entries(account)
    job: Job = JobFactory(draft__settings=READY, account=account, token=account.tokens.get())
    faceless_draft.quote_draft(job)
    Job.objects.update(state=JobState.RUNNING, next_poll_at=timezone.now())
    poll_job(job.pk)
    assert {request.url.path.removeprefix("/v2") for request in upstream.requests} == {
        "/me", "/credits/history", "/faceless", *told
    }  # fmt: skip
    asked = {name for request in upstream.requests for name in request.url.params}
    assert asked <= {"page", "per_page", "order", "source"}


def test_pitfalls_100_101_what_the_spec_lists_only_for_all_types_goes_the_general_way() -> None:
    """No typed path for ai-clips, nor for a retry or an export; url-to-video has no estimate."""
    typed = {name for name in OPERATIONS if name.startswith(TYPED)}
    assert typed
    assert not {name for name in typed if name.endswith((".retry", ".export"))}
    assert "url_to_video.estimate" not in OPERATIONS
    assert {"faceless.create", "faceless.retry", "faceless.export"} <= OPERATIONS.keys()


def test_pitfall_91_a_method_that_the_api_does_not_show_is_a_setting(settings: Any) -> None:
    settings.VIDEO_API_METHODS = {"text_to_scene.sort": "PATCH"}
    calls.upstream_client.cache_clear()
    try:
        assert checks.check_method_overrides() == []
        assert calls.upstream_client().get_endpoint("text_to_scene.sort").method == "PATCH"
    finally:
        calls.upstream_client.cache_clear()


@pytest.mark.parametrize(
    "wrong", [{"faceless.render": "PUT"}, {"nothing.sort": "PUT"}, {"text_to_scene.sort": "DELETE"}]
)
def test_pitfall_91_any_other_method_keeps_the_process_from_starting(
    wrong: dict[str, str], settings: Any
) -> None:
    settings.VIDEO_API_METHODS = wrong
    assert [one.id for one in checks.check_method_overrides()] == ["proxyapi.E005"]


def test_pitfall_91_a_refused_guess_names_the_setting_and_the_next_method() -> None:
    details = ErrorDetails(status=405)
    guessed = MethodNotAllowed(OPERATIONS["text_to_scene.frames"], details).user_message
    assert "Set VIDEO_API_METHODS=text_to_scene.frames=POST" in guessed
    shown = MethodNotAllowed(OPERATIONS["faceless.render"], details).user_message
    assert "VIDEO_API_METHODS" not in shown


def collect_test_texts(tree: ast.Module) -> Iterator[str]:
    """What tests are called and say of themselves."""
    yield ast.get_docstring(tree) or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name
            yield ast.get_docstring(node) or ""


def pitfall_numbers(words: str) -> Iterator[int]:
    """`83, 85 to 87` are four rows."""
    for part in re.split(r", |_and_| and |(?<!to)_(?!to)", words):
        first, *last = [int(number) for number in re.findall(r"\d+", part)]
        yield from range(first, max([first, *last]) + 1)


def named_pitfalls(tests: Path) -> set[int]:
    files = [path for path in tests.rglob("test_*.py") if path != Path(__file__)]
    sources = (path.read_text() for path in files)
    trees = [ast.parse(source) for source in sources if NAMED.search(source)]
    own = ast.parse(Path(__file__).read_text())
    own.body = own.body[1:]  # its docstring shows how to name one
    texts = chain.from_iterable(collect_test_texts(tree) for tree in (*trees, own))
    return {
        row for text in texts for found in NAMED.findall(text) for row in pitfall_numbers(found)
    }


@pytest.mark.parametrize(
    ("words", "rows"),
    [("33", [33]), ("69_to_71", [69, 70, 71]), ("5 to 7, 60", [5, 6, 7, 60]), ("85_88", [85, 88])],
)
def test_several_rows_may_be_named_at_once(words: str, rows: list[int]) -> None:
    assert list(pitfall_numbers(words)) == rows


def test_every_row_is_named_by_a_test_or_has_no_screen_yet_and_never_both() -> None:
    known = named_pitfalls(TESTS)
    assert set(ROWS) - known - WITHOUT_A_SCREEN.keys() == set(), "nothing tests these"
    assert known & WITHOUT_A_SCREEN.keys() == set(), "these have a test now"
    assert known | WITHOUT_A_SCREEN.keys() == set(ROWS), "there are no such rows"
