"""The numbers of events: each once, without a gap, whoever asks and however late one commits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from dashboard.models import Team
from proxyapi.models import ApiEvent, ApiEventType, Tenant

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]
THREADS, EVENTS = 4, 5


def record(tenant_id: UUID, subject: UUID | None = None, occurrence: str = "") -> None:
    ApiEvent.objects.record(
        ApiEventType.VIDEO_COMPLETED,
        subject or uuid4(),
        {"url": "/"},
        tenant_id=tenant_id,
        occurrence=occurrence,
    )


def positions(tenant_id: UUID) -> list[int | None]:
    rows = ApiEvent.objects.filter(tenant=tenant_id).order_by("position")
    return list(rows.values_list("position", flat=True))


def test_many_that_write_and_number_at_once_give_each_number_once(northlight: Team) -> None:
    tenant_id, start = northlight.tenant_id, Barrier(THREADS)

    def work() -> None:
        try:
            start.wait()
            for _ in range(EVENTS):
                record(tenant_id)
                ApiEvent.objects.number_new(tenant_id)
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(work) for _ in range(THREADS)]:
            done.result()
    assert positions(tenant_id) == list(range(1, THREADS * EVENTS + 1))
    assert Tenant.objects.get(pk=tenant_id).last_event == THREADS * EVENTS


@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="One writes at a time.")
def test_an_event_that_commits_after_a_later_one_was_numbered_comes_after_it(
    northlight: Team,
) -> None:
    tenant_id, written, may_commit = northlight.tenant_id, Event(), Event()

    def write_slowly() -> None:
        try:
            with transaction.atomic():
                record(tenant_id)
                written.set()
                may_commit.wait()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(write_slowly)
        written.wait()
        record(tenant_id)
        assert ApiEvent.objects.number_new(tenant_id) == 1
        may_commit.set()
        slow.result()
    ApiEvent.objects.number_new(tenant_id)
    first, late = ApiEvent.objects.order_by("position")
    assert first.happened_at > late.happened_at


def test_the_same_change_is_one_event_and_another_occurrence_another(northlight: Team) -> None:
    job = uuid4()
    for occurrence in ("first run", "first run", "second run"):
        record(northlight.tenant_id, job, occurrence)
    assert ApiEvent.objects.count() == 2


def test_each_team_has_numbers_of_its_own(northlight: Team, otto: object) -> None:
    elsewhere = Team.objects.exclude(pk=northlight.pk).get()
    for team in (northlight, elsewhere, northlight):
        record(team.tenant_id)
        ApiEvent.objects.number_new(team.tenant_id)
    assert positions(northlight.tenant_id) == [1, 2]
    assert positions(elsewhere.tenant_id) == [1]
