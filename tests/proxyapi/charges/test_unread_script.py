"""A script that a person settled while the draft could not be read is fetched when it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi import drafts
from proxyapi.charges import dispatch_charge, settle_with_entry, write_off_charge
from proxyapi.models import Charge, Job
from proxyapi.polling import due_work
from tests.factories import EntryFactory, UserFactory
from tests.proxyapi.upstream_script import Upstream, answer, charged, refused

Held = Callable[..., Charge]
Decided = Callable[..., Job]
GET = ("GET", "/faceless/7")
PATCH = ("PATCH", "/faceless/7")
ESTIMATE = ("GET", "/faceless/7/estimate")


@pytest.fixture(params=["written off", "claimed"])
def decided(request: pytest.FixtureRequest, held: Held, job: Job, upstream: Upstream) -> Decided:
    """A lost script that a person ended; `page` is the script of the page before it, `then` what
    somebody wrote after it was sent."""

    def decide(page: str | None = "Ice moves.", then: str = "") -> Job:
        wanted = {name: value for name, value in job.wanted.items() if name != "script"}
        if page is not None:
            wanted["script"] = page
        Job.objects.filter(pk=job.pk).update(wanted=wanted, sent=wanted)
        upstream.on(*GET, answer(record(page or "")))
        upstream.on("PUT", "/faceless/7/scripts", httpx.ReadTimeout)
        charge = held("faceless.scripts", hold=4)
        dispatch_charge(charge.pk)
        charge.refresh_from_db()
        if then:
            Job.objects.update(wanted={**wanted, "script": then}, edited_at=timezone.now())
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
    drafts.quote_draft(job)
    job.refresh_from_db()
    return job


@pytest.mark.parametrize("page", [None, "", "Ice moves."])
def test_it_comes_to_the_page_and_its_price_is_asked(
    page: str | None, decided: Decided, upstream: Upstream
) -> None:
    job = decided(page)
    upstream.on(*GET, answer(record("Ice flows.")))
    upstream.on(*ESTIMATE, charged({"credits": 120}, 0))
    assert asked(job).wanted["script"] == "Ice flows."
    assert job.unsent_settings() == {}
    assert asked(job).estimate == 120
    assert not upstream.asked(*PATCH)


@pytest.mark.parametrize("unreadable", [httpx.Response(500), httpx.ReadTimeout, answer({"id": 7})])
@pytest.mark.parametrize("page", [None, "Ice moves."])
def test_while_the_draft_cannot_be_read_it_is_asked_for_again(
    page: str | None, unreadable: Any, decided: Decided, upstream: Upstream
) -> None:
    job = decided(page)
    upstream.on(*GET, unreadable)
    assert asked(job).quote_error
    due_work.reschedule_after_clock_rollback()
    job.refresh_from_db()
    assert job.quote_due_at is not None
    assert 200 < (job.quote_due_at - timezone.now()).total_seconds() < 300
    assert not upstream.asked(*PATCH)
    upstream.on(*GET, answer(record("Ice flows.")))
    assert asked(job).wanted["script"] == "Ice flows."
    assert job.quote_error == ""


def test_what_is_refused_for_good_is_asked_for_by_a_person_alone(
    decided: Decided, upstream: Upstream
) -> None:
    job = decided(None)
    upstream.on(*GET, refused(403, "GEN-FORBIDDEN"))
    assert asked(job).quote_error
    assert job.quote_due_at is None
    assert drafts.has_unread_script(job)


@pytest.mark.parametrize("there", [httpx.Response(404), answer(record(""))])
def test_where_there_is_none_nothing_more_is_asked(
    there: httpx.Response, decided: Decided, upstream: Upstream
) -> None:
    job = decided(None)
    upstream.on(*GET, there)
    asked(job)
    assert asked(job).quote_due_at is None
    assert "script" not in job.wanted


@pytest.mark.parametrize("before_the_decision", [True, False])
def test_what_somebody_wrote_meanwhile_is_told_the_service(
    before_the_decision: bool, decided: Decided, upstream: Upstream
) -> None:
    job = decided(then="Mine." if before_the_decision else "")
    Job.objects.update(wanted={**job.wanted, "script": "Mine."})
    job.refresh_from_db()
    upstream.on(*GET, answer(record("Ice flows.")))
    upstream.on(*PATCH, answer(record("Mine.")))
    upstream.on(*ESTIMATE, charged({"credits": 96}, 0))
    assert asked(job).wanted["script"] == "Mine."
    assert upstream.asked(*PATCH) == [{"script": "Mine."}]


def test_another_setting_is_told_without_the_pages_old_script(
    decided: Decided, upstream: Upstream
) -> None:
    job = decided()
    Job.objects.update(wanted={**job.wanted, "voice_id": 4})
    job.refresh_from_db()
    upstream.on(*PATCH, answer(record("Ice flows.")))
    drafts.sync_draft(job)
    assert upstream.asked(*PATCH) == [{"voice_id": 4}]
