"""A script that a person settled while the draft could not be read is fetched when it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import dispatch_charge, settle_with_entry, write_off_charge
from proxyapi.kinds import faceless_draft
from proxyapi.models import Charge, Draft, Job
from proxyapi.polling import due_work
from tests.factories import EntryFactory, UserFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    make_response,
)

pytestmark = pytest.mark.postgresql

Held = Callable[..., Charge]
Decided = Callable[..., Job]
GET = ("GET", "/faceless/7")
PATCH = ("PATCH", "/faceless/7")
ESTIMATE = ("GET", "/faceless/7/estimate")


@pytest.fixture(params=["written off", "claimed"])
def settled_script_job(
    request: pytest.FixtureRequest, make_held_charge: Held, job: Job, upstream: ScriptedUpstream
) -> Decided:
    """A lost script that a person ended; `page` is the script of the page before it, `then` what
    somebody wrote after it was sent."""

    def decide(page: str | None = "Ice moves.", then: str = "") -> Job:
        wanted = {name: value for name, value in job.draft.settings.items() if name != "script"}
        if page is not None:
            wanted["script"] = page
        Draft.objects.filter(pk=job.pk).update(settings=wanted, sent_settings=wanted)
        upstream.respond(*GET, make_response(record(page or "")))
        upstream.respond("PUT", "/faceless/7/scripts", httpx.ReadTimeout)
        charge = make_held_charge("faceless.scripts", hold=4)
        dispatch_charge(charge.pk)
        charge.refresh_from_db()
        if then:
            Draft.objects.update(settings={**wanted, "script": then}, edited_at=timezone.now())
        if request.param == "written off":
            write_off_charge(charge, UserFactory().pk, "The service was away.")
        else:
            row = EntryFactory(account=charge.account, credit_spend="-4", position=0)
            settle_with_entry(charge, row, UserFactory().pk)
        job.refresh_from_db()
        return job

    return decide


def record(script: str) -> dict[str, Any]:
    return {"id": 7, "script": script, "video": {"status": "draft"}}


def asked(job: Job) -> Job:
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    return job


@pytest.mark.parametrize("page", [None, "", "Ice moves."])
def test_it_comes_to_the_page_and_its_price_is_asked(
    page: str | None, settled_script_job: Decided, upstream: ScriptedUpstream
) -> None:
    job = settled_script_job(page)
    upstream.respond(*GET, make_response(record("Ice flows.")))
    upstream.respond(*ESTIMATE, charged_response({"credits": 120}, 0))
    assert asked(job).draft.settings["script"] == "Ice flows."
    assert job.draft.unsent_settings() == {}
    assert asked(job).draft.estimate == 120
    assert not upstream.request_bodies(*PATCH)


@pytest.mark.parametrize(
    "unreadable", [httpx.Response(500), httpx.ReadTimeout, make_response({"id": 7})]
)
@pytest.mark.parametrize("page", [None, "Ice moves."])
def test_while_the_draft_cannot_be_read_it_is_asked_for_again(
    page: str | None, unreadable: Any, settled_script_job: Decided, upstream: ScriptedUpstream
) -> None:
    job = settled_script_job(page)
    upstream.respond(*GET, unreadable)
    assert asked(job).draft.quote_error
    due_work.reschedule_after_clock_rollback()
    job.refresh_from_db()
    assert job.draft.quote_due_at is not None
    assert 200 < (job.draft.quote_due_at - timezone.now()).total_seconds() < 300
    assert not upstream.request_bodies(*PATCH)
    upstream.respond(*GET, make_response(record("Ice flows.")))
    assert asked(job).draft.settings["script"] == "Ice flows."
    assert job.draft.quote_error == ""


def test_what_is_refused_for_good_is_asked_for_by_a_person_alone(
    settled_script_job: Decided, upstream: ScriptedUpstream
) -> None:
    job = settled_script_job(None)
    upstream.respond(*GET, error_response(403, "GEN-FORBIDDEN"))
    assert asked(job).draft.quote_error
    assert job.draft.quote_due_at is None
    assert faceless_draft.has_unread_script(job)


@pytest.mark.parametrize("there", [httpx.Response(404), make_response(record(""))])
def test_where_there_is_none_nothing_more_is_asked(
    there: httpx.Response, settled_script_job: Decided, upstream: ScriptedUpstream
) -> None:
    job = settled_script_job(None)
    upstream.respond(*GET, there)
    asked(job)
    assert asked(job).draft.quote_due_at is None
    assert "script" not in job.draft.settings


@pytest.mark.parametrize("before_the_decision", [True, False])
def test_what_a_member_wrote_meanwhile_is_sent_to_the_service(
    before_the_decision: bool, settled_script_job: Decided, upstream: ScriptedUpstream
) -> None:
    job = settled_script_job(then="Mine." if before_the_decision else "")
    Draft.objects.update(settings={**job.draft.settings, "script": "Mine."})
    job.refresh_from_db()
    upstream.respond(*GET, make_response(record("Ice flows.")))
    upstream.respond(*PATCH, make_response(record("Mine.")))
    upstream.respond(*ESTIMATE, charged_response({"credits": 96}, 0))
    assert asked(job).draft.settings["script"] == "Mine."
    assert upstream.request_bodies(*PATCH) == [{"script": "Mine."}]


def test_another_setting_is_sent_without_the_pages_old_script(
    settled_script_job: Decided, upstream: ScriptedUpstream
) -> None:
    job = settled_script_job()
    Draft.objects.update(settings={**job.draft.settings, "voice_id": 4})
    job.refresh_from_db()
    upstream.respond(*PATCH, make_response(record("Ice flows.")))
    faceless_draft.sync_draft(job)
    assert upstream.request_bodies(*PATCH) == [{"voice_id": 4}]
