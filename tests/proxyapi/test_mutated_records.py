"""No record, however mutated, raises or makes a false state (rule 6, pitfalls 5 to 12, 60, 97).

What a state is, the specification says: in `spec_oracle`, not in the tables under test.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from dashboard.shared.video_options import parse_faceless_options
from proxyapi.kinds import KINDS, faceless_draft
from proxyapi.ledger.row_parser import parse_row
from proxyapi.models import Account, AccountPlan, JobKind
from proxyapi.models.account import parse_timestamp
from proxyapi.top_up.setting import TopUpSetting
from tests.proxyapi import spec_oracle
from tests.proxyapi.mutated_responses import EXAMPLES, mutated_records
from tests.proxyapi.upstream.test_mutated_answers import leaves

VIDEO = {"status": "completed", "url": "https://films.example/1.mp4", "failure": None}
RECORDS: dict[str, Any] = {
    JobKind.FACELESS: {"id": 1, "video_id": 2, "script": "Ice.", "video": VIDEO},
    JobKind.CLIP: {
        "asset": {"id": 1, "status": "success", "url": "https://f.example", "failure": ""}
    },
    JobKind.STORYBOARD: {"id": 1, "scenes": [], "video": VIDEO},
    JobKind.CLONE: {"id": 1, "status": "completed", "preview_url": "https://f.example/1.mp3"},
    JobKind.CHARACTER: {"id": 1, "status": "ready"},
    "entry": {
        "label": "Render",
        "content_type": "video",
        "credit_spend": "-12.50",
        "transaction_type": "Debit",
        "created_at": "2026-11-20T12:00:00Z",
    },
    "options": {
        "mandatory": {
            "voices": [{"id": 1, "name": "Ada", "language": "English", "gender": "female"}],
            "genres": [{"id": 2, "name": "Noir", "slug": "noir"}],
            "image_engines": [{"id": 3, "name": "Sketch", "slug": "sketch", "cost": 2}],
            "aspect_ratios": [{"slug": "16:9", "label": "Landscape"}],
        },
        "optional": {"fonts": [{"name": "Serif", "slug": "serif"}]},
    },
    "profile": {
        "id": 5,
        "email_verified": True,
        "credits": {"remaining": 800, "total": 1200, "extra": 0},
        "subscription": {
            "exists": True,
            "active": True,
            "trial": False,
            "plan": "Studio",
            "ends_at": "2026-12-20T12:00:00Z",
        },
    },
    "estimate": {"credits": {"cost": 96}, "available": 400},
    "top-up": {"enabled": True, "type": "dynamic-credits", "units": 10, "plan_id": None},
}


def test_the_specification_is_asked_about_every_kind():
    assert set(spec_oracle.STATE_READERS) == set(spec_oracle.STATUS_PATHS) == set(JobKind.values)


@pytest.mark.parametrize("kind", JobKind.values)
def test_a_record_as_the_specification_shows_it_is_completed(kind):
    assert spec_oracle.STATE_READERS[kind](RECORDS[kind]) == "completed"
    assert KINDS[kind].read_status(RECORDS[kind]).state == "completed"


@pytest.mark.parametrize("kind", JobKind.values)
def test_a_mutated_job_is_what_the_specification_says_or_in_progress(kind):
    @settings(max_examples=EXAMPLES)
    @given(mutated_records(RECORDS[kind]))
    def each(record):
        sight = KINDS[kind].read_status(record)
        assert (sight.state or "running") == spec_oracle.STATE_READERS[kind](record)
        assert sight.raw_status == spec_oracle.status_of(kind, record)[:60]
        assert len(sight.failure_message) <= 2000

    each()


@pytest.mark.parametrize("kind", JobKind.values)
def test_a_record_that_stands_elsewhere_ends_nothing_that_it_does_not_end(kind):
    """Below one to three names, beside others, or with what is inside it one level up."""

    @settings(max_examples=EXAMPLES)
    @given(mutated_records(RECORDS[kind]), some.data())
    def each(record, data):
        moved = record
        for name in data.draw(some.lists(some.text(max_size=6), min_size=1, max_size=3)):
            beside = data.draw(some.dictionaries(some.text(max_size=6), leaves, max_size=2))
            moved = {**beside, name: moved}
        if isinstance(record, dict) and data.draw(some.booleans()):
            inside = [value for value in record.values() if isinstance(value, dict)]
            moved = {**record, **(inside[0] if inside else {})}
        said = {spec_oracle.STATE_READERS[kind](shown) for shown in (record, moved)}
        assert (KINDS[kind].read_status(moved).state or "running") in {"running", *said}

    each()


@settings(max_examples=EXAMPLES)
@given(mutated_records(RECORDS["entry"]))
def test_a_mutated_ledger_row_is_a_row_that_says_what_is_wrong(raw):
    made = parse_row(raw)
    assert made.amount.is_finite()
    assert made.trouble or made.happened_at is not None


@settings(max_examples=EXAMPLES)
@given(
    mutated_records(RECORDS["options"]),
    mutated_records(RECORDS["estimate"]),
    mutated_records(RECORDS["top-up"]),
)
def test_mutated_menus_prices_and_settings_are_read_as_far_as_they_go(menus, price, top_up):
    parse_faceless_options(menus)
    found = faceless_draft.parse_estimate_credits(price)
    assert found is None or found >= Decimal(0)
    faceless_draft.faceless_record(price)
    if isinstance(top_up, dict):
        assert TopUpSetting.from_mapping(top_up).enabled in (True, False)
    parse_timestamp(price)


@settings(max_examples=EXAMPLES)
@given(mutated_records(RECORDS["profile"]))
def test_a_mutated_profile_takes_no_plan_away_that_it_does_not_deny(profile):
    account = Account(plan=AccountPlan.PAID, email_verified=True)
    me = profile if isinstance(profile, dict) else {}
    account.apply_profile(me)
    told = me.get("subscription")
    said = told if isinstance(told, dict) else {}
    denied = said.get("active") is False or said.get("exists") is False
    trial = said.get("active") is True and said.get("trial") is True
    assert account.plan == (
        AccountPlan.NONE if denied else AccountPlan.TRIAL if trial else AccountPlan.PAID
    )
    assert account.email_verified is (me.get("email_verified") is not False)
    assert account.monthly_credits.is_finite()
