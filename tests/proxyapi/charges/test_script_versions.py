"""Every script that was paid for is kept, and so is the text that it replaces."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import httpx
import pytest
from django.db import IntegrityError
from django.utils import timezone

from proxyapi import redis_client
from proxyapi.charges import dispatch_charge, reconcile_charge, transitions
from proxyapi.charges.manual_settlement import write_off_charge
from proxyapi.kinds import faceless_draft
from proxyapi.models import Charge, Draft, Job, ScriptOrigin, ScriptVersion
from proxyapi.operations import RatePool
from tests.factories import ChargeFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    history_page,
    make_response,
    rate_limited_response,
)

Held = Callable[..., Charge]
SCRIPTS = ("PUT", "/faceless/7/scripts")
FROM_PAGE = ("POST", "/faceless/7/scrape-script")
GET = ("GET", "/faceless/7")


def kept_texts(job: Job) -> list[tuple[str, str]]:
    """Origin and text of each version, oldest first."""
    return list(job.script_versions.order_by("pk").values_list("origin", "text"))


@pytest.mark.parametrize(
    ("operation", "request_line", "origin"),
    [
        ("faceless.scripts", SCRIPTS, ScriptOrigin.SERVICE),
        ("faceless.scrape_script", FROM_PAGE, ScriptOrigin.PAGE),
    ],
)
def test_an_answered_script_and_the_text_that_it_replaces_are_kept(
    job: Job,
    make_held_charge: Held,
    upstream: ScriptedUpstream,
    operation: str,
    request_line: tuple[str, str],
    origin: str,
) -> None:
    upstream.respond(*request_line, charged_response({"script": "Ice flows."}, 4))
    charge = make_held_charge(operation)
    dispatch_charge(charge.pk)
    assert kept_texts(job) == [("member", "Ice moves."), (origin, "Ice flows.")]
    paid = ScriptVersion.objects.get(charge=charge)
    assert paid.member == charge.member


def test_pitfall_27_a_script_waits_for_the_scraping_pool_by_itself(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """It says so, is sent again once neither draft nor ledger shows it, and is charged once."""
    answer = charged_response({"script": "Ice flows."}, 4)
    upstream.respond(*FROM_PAGE, rate_limited_response(left=12, seconds=30), answer)
    upstream.respond("GET", "/credits/history", history_page())
    charge = make_held_charge("faceless.scrape_script", hold=4, quote=Decimal(4))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.attempts) == ("unknown", 1)
    assert charge.reason.startswith("The service is reading pages for others right now")
    assert charge.held_at
    assert f"until {charge.held_at + transitions.GIVE_UP_AFTER:%H:%M} UTC" in charge.reason
    Charge.objects.update(lost_at=timezone.now() - timedelta(seconds=31))
    reconcile_charge(charge.pk)
    dispatch_charge(charge.pk)  # the pause of the pool that the 429 told
    charge.refresh_from_db()
    assert (charge.state, len(upstream.request_bodies(*FROM_PAGE))) == ("held", 1)
    pool = RatePool.SCRAPING.bucket_name(job.account.bucket)
    redis_client.connect_redis().delete(f"rate-limit:{pool}")
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.cost, charge.attempts) == ("confirmed", 4, 2)
    assert job.script_versions.filter(text="Ice flows.").count() == 1


def test_the_first_script_of_a_draft_replaces_nothing(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    empty = {**job.draft.settings, "script": ""}
    Draft.objects.update(settings=empty, sent_settings=empty)
    upstream.respond(*GET, make_response({"id": 7, "script": "", "video": {"status": "draft"}}))
    upstream.respond(*SCRIPTS, charged_response({"script": "Ice flows."}, 4))
    dispatch_charge(make_held_charge("faceless.scripts", hold=4, quote=Decimal(4)).pk)
    assert kept_texts(job) == [("service", "Ice flows.")]


def test_two_paid_scripts_are_two_versions(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    for text in ("Ice flows.", "Ice flows.", "Ice breaks."):
        upstream.respond(*SCRIPTS, charged_response({"script": text}, 4))
        dispatch_charge(make_held_charge("faceless.scripts", hold=4, quote=Decimal(4)).pk)
    assert [text for _, text in kept_texts(job)] == [
        "Ice moves.",
        "Ice flows.",
        "Ice flows.",
        "Ice breaks.",
    ]


def test_a_script_whose_answer_was_lost_is_kept_when_it_is_read_back(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*SCRIPTS, httpx.ReadTimeout)
    upstream.respond("GET", "/credits/history", history_page())
    charge = make_held_charge("faceless.scripts", hold=4, quote=Decimal(4))
    dispatch_charge(charge.pk)
    upstream.respond(*GET, make_response({"id": 7, "script": "Ice flows."}))
    for _ in range(2):
        reconcile_charge(charge.pk)
    assert kept_texts(job) == [("member", "Ice moves."), ("service", "Ice flows.")]


@pytest.mark.parametrize("mine", ["", "Mine."], ids=["untouched", "changed meanwhile"])
def test_a_script_of_a_charge_that_was_given_up_is_kept_when_it_turns_up(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream, mine: str
) -> None:
    """Also if a member changes the draft while it is being read."""
    upstream.respond(*SCRIPTS, httpx.ReadTimeout)
    charge = make_held_charge("faceless.scripts", hold=4, quote=Decimal(4))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    write_off_charge(charge, charge.member_id, "Given up.")
    job.refresh_from_db()

    def answer(request: httpx.Request) -> httpx.Response:
        if mine:
            changed = {**job.draft.settings, "script": mine}
            Draft.objects.update(settings=changed, edited_at=timezone.now())
        return make_response({"id": 7, "script": "Ice flows."})

    upstream.respond(*GET, answer)
    faceless_draft.fetch_script(job)
    assert ScriptVersion.objects.get(charge=charge).text == "Ice flows."
    job.refresh_from_db()
    assert job.draft.settings["script"] == (mine or "Ice flows.")


def test_a_script_that_stood_there_before_the_charge_is_not_taken_for_a_paid_one(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*SCRIPTS, httpx.ReadTimeout)
    charge = make_held_charge("faceless.scripts", hold=4, quote=Decimal(4))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    write_off_charge(charge, charge.member_id, "Given up.")
    job.refresh_from_db()
    upstream.respond(*GET, make_response({"id": 7, "script": "Ice moves."}))
    faceless_draft.fetch_script(job)
    assert kept_texts(job) == []


@pytest.mark.parametrize(
    "wrong",
    [{"origin": "dream"}, {"text": ""}, {"origin": "member"}],
    ids=["unknown origin", "no text", "a member's text with a charge"],
)
def test_the_database_refuses_a_version_that_cannot_be(job: Job, wrong: dict[str, str]) -> None:
    fields = {"origin": "service", "text": "Ice flows.", **wrong}
    with pytest.raises(IntegrityError):
        ScriptVersion.objects.create(job=job, charge=ChargeFactory.create(job=job), **fields)


def test_a_charge_pays_for_one_version(job: Job) -> None:
    charge = ChargeFactory.create(job=job)
    ScriptVersion.objects.create(job=job, charge=charge, origin="service", text="Ice flows.")
    with pytest.raises(IntegrityError):
        ScriptVersion.objects.create(job=job, charge=charge, origin="service", text="Ice breaks.")
