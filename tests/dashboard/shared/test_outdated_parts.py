"""A part that is asked for after its page has become another one loads that page: the other page
is not inserted in place of the part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from django.db import connection
from django.utils import timezone

from dashboard.models import Membership
from proxyapi.models import ChargeState, Job, JobKind, JobState
from tests.factories import ChargeFactory, JobFactory, TokenFactory

Browser = Callable[[Membership], Any]
HTMX = {"HX-Request": "true"}
NEW_CLIP = "/studio/clips/?draft=new"
VIDEO, VOICE, CHARACTER = "/videos/{}/", "/voices/{}/", "/characters/{}/"


class SentDraft(NamedTuple):
    """Its parts are those of a page that edits it; `page` is the one that it has once it was
    sent."""

    kind: JobKind
    operation: str
    parts: tuple[str, ...]
    page: str


SENT_DRAFTS = (
    SentDraft(
        JobKind.FACELESS,
        "faceless.render",
        tuple(
            f"/studio/{{}}/{part}"
            for part in ("price/", "price/?part=act", "scripts/", "type/", "renders/")
        ),
        VIDEO,
    ),
    SentDraft(JobKind.CLIP, "text_to_video.create", ("/studio/clips/{}/price/",), NEW_CLIP),
    SentDraft(JobKind.CLONE, "voice_clones.create", ("/voices/{}/?part=price",), VOICE),
    SentDraft(
        JobKind.CHARACTER,
        "characters.train",
        ("/characters/{}/steps/genre/", "/characters/{}/steps/preview/"),
        CHARACTER,
    ),
)
each_draft = pytest.mark.parametrize("draft", SENT_DRAFTS, ids=lambda draft: draft.kind)


@pytest.fixture
def job(priya: Membership, draft: SentDraft) -> Job:
    token = TokenFactory.create(account__tenant=priya.team.tenant, owner=priya.user)
    return JobFactory.create(account=token.account, token=token, kind=draft.kind)


def pages_of_parts(browser: Any, job: Job, draft: SentDraft) -> set[str]:
    """Where the page goes for each of its parts; empty where it stays."""
    answers = [browser.get(part.format(job.pk), headers=HTMX) for part in draft.parts]
    return {answer.headers.get("HX-Redirect", "") for answer in answers}


@each_draft
def test_a_part_of_a_draft_that_was_sent_leads_to_the_page_that_it_has_now(
    job: Job, draft: SentDraft, priya: Membership, client_of: Browser
) -> None:
    browser = client_of(priya)
    assert draft.page.format(job.pk) not in pages_of_parts(browser, job, draft)
    ChargeFactory.create(job=job, operation=draft.operation)
    assert pages_of_parts(browser, job, draft) == {draft.page.format(job.pk)}


@each_draft
def test_a_draft_whose_job_starts_while_its_page_is_read_is_not_shown_as_a_draft(
    job: Job, draft: SentDraft, priya: Membership, client_of: Browser
) -> None:
    """The job is read before its charges: it starts, and its charge ends, in between."""
    ChargeFactory.create(job=job, operation=draft.operation)

    def start_job(execute: Any, sql: str, *arguments: Any) -> Any:
        if sql.startswith("SELECT") and 'FROM "proxyapi_charge"' in sql:
            start(job)
        return execute(sql, *arguments)

    with connection.execute_wrapper(start_job):
        shown = pages_of_parts(client_of(priya), job, draft)
    assert shown == {draft.page.format(job.pk)}


RUNNING = {"state": JobState.RUNNING, "remote_id": "501"}


def start(job: Job) -> None:
    """As a dispatched charge that was answered."""
    now = timezone.now()
    charged = {"state": ChargeState.CONFIRMED, "cost": 1, "settled_at": now, "applied_at": now}
    Job.objects.filter(pk=job.pk).update(**RUNNING, started_at=now, next_poll_at=now)
    job.charges.update(**charged, sent_at=now)
