"""No mutated answer breaks a look, gives its row a false state, or keeps a member from its page.

Through the real client and the database: the specification judges, in `spec_oracle`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from django.utils.html import escape
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from dashboard.models import Membership, Team
from dashboard.shared.job_pages import job_page_url
from proxyapi import redis_client
from proxyapi.models import Job, RenderDurations, Token
from proxyapi.polling.poller import poll_job
from tests.examples import WITHOUT_SHRINKING, examples
from tests.factories import TokenFactory
from tests.proxyapi import spec_oracle
from tests.proxyapi.mutated_responses import (
    EXAMPLES,
    NO_WORDS,
    MutatedResponse,
    count_poll_examples,
    mutated_responses,
    words,
)
from tests.proxyapi.polling.conftest import Running, ago
from tests.proxyapi.polling.test_stalled_jobs import PATHS, poll_when_due, record_with_status
from tests.proxyapi.scripted_upstream import ScriptedUpstream
from tests.proxyapi.test_mutated_records import RECORDS

pytestmark = pytest.mark.django_db
FIRST = "rendering"  # the word that the rows have before
MANY = settings(
    max_examples=count_poll_examples(EXAMPLES),
    phases=WITHOUT_SHRINKING,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def token(northlight: Team, luca: Membership) -> Token:
    return TokenFactory.create(account__tenant=northlight.tenant, owner=luca.user)


@pytest.fixture
def poll_job_of_kind(
    make_running_job: Running, upstream: ScriptedUpstream
) -> Callable[[str], Callable[[MutatedResponse], Job]]:
    """Makes a running job of a kind, and looks at it as often as asked; each look is its first."""

    def of(kind: str) -> Callable[[MutatedResponse], Job]:
        job = make_running_job(kind=kind, remote_id="1")

        def once(answer: MutatedResponse) -> Job:
            redis_client.connect_redis().flushall()
            upstream.requests.clear()
            upstream.respond("GET", PATHS[kind], answer.response)
            poll_job(job.pk)
            assert len(upstream.requests) == 1
            return Job.objects.get(pk=job.pk)

        return once

    return of


@pytest.mark.parametrize("kind", PATHS)
def test_a_mutated_answer_leaves_a_true_state_and_a_page_that_opens(
    kind: str, poll_job_of_kind: Any, vera: Membership, client_of: Callable[[Membership], Client]
) -> None:
    once, client = poll_job_of_kind(kind), client_of(vera)
    opened: set[object] = set()

    @MANY
    @given(mutated_responses(RECORDS[kind]))
    def each(answer: MutatedResponse) -> None:
        with transaction.atomic():
            job, data = once(answer), spec_oracle.value_at(answer.top, "data")
            says, word = spec_oracle.STATE_READERS[kind](data), spec_oracle.status_of(kind, data)
            id = spec_oracle.id_of(kind, data)
            if spec_oracle.is_id(id) and str(id) != "1":  # the record of another job
                assert job.state == "running"
            is_own = answer.is_plain and str(id) == "1"
            assert job.state in ({says} if is_own else {says, "running"})
            assert not is_own or job.raw_status == (word[:60] or FIRST)
            if (row := row_of(job)) not in opened:  # a page is asked for once for each row
                opened.add(row)
                check_page(client, job)
            transaction.set_rollback(True)

    each()


@settings(
    max_examples=examples(3, 150),
    phases=WITHOUT_SHRINKING,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(kind=some.sampled_from(sorted(PATHS)), data=some.data())
def test_a_job_that_no_longer_moves_is_polled_twice_a_minute_at_most_whatever_is_answered(
    kind: str,
    data: some.DataObject,
    make_running_job: Running,
    upstream: ScriptedUpstream,
    time_machine: Any,
) -> None:
    """Its record is the same for good, or one of a few in turn."""
    record = some.builds(record_with_status, some.just(kind), words() | some.sampled_from(NO_WORDS))
    answers = data.draw(some.lists(record.flatmap(mutated_responses), min_size=1, max_size=3))
    with transaction.atomic():
        job = make_running_job(kind=kind, age=170, remote_id="1", status_since=ago(170))
        RenderDurations.objects.add_duration(job, 60.0)
        upstream.respond("GET", PATHS[kind], *[answer.response for answer in answers * 100])
        start, polls = timezone.now(), Counter[int]()
        while job.state == "running" and (timezone.now() - start) < timedelta(minutes=12):
            poll_when_due(job, time_machine)
            polls[(timezone.now() - start) // timedelta(minutes=1)] += 1
        assert max([polls[minute] for minute in range(6, 12)]) <= 2, answers
        transaction.set_rollback(True)


def row_of(job: Job) -> object:
    """All that a look can change and a page tell."""
    told = (job.media_url, job.failure_code, job.failure_message, job.poll_error)
    return (job.state, job.raw_status, *told)


def check_page(client: Client, job: Job) -> None:
    """It opens, and shows a word that nobody knows as it came (pitfall 7)."""
    page = client.get(job_page_url(job))
    text = page.content.decode()
    assert page.status_code == 200
    assert "<b>failed</b>" not in text
    if job.state == "running" and job.raw_status != FIRST:
        assert escape(f"In progress: {job.raw_status}") in text
