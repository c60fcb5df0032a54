"""First sign-ins of one person at the same moment make one account and one member."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from dashboard.models import AuditEvent, Membership, SingleSignOn, User
from dashboard.shared.openid.code_exchange import ProviderIdentity
from dashboard.single_sign_on.actions import admit_person
from tests.dashboard.single_sign_on.conftest import create_single_sign_on

pytestmark = pytest.mark.django_db(transaction=True)
SAM = ProviderIdentity("sam", "sam@northlight.example", "Sam Okafor", ("studio",))


@pytest.fixture
def row(mira: Membership) -> Iterator[SingleSignOn]:
    yield create_single_sign_on(mira.team, "https://login.example")


def test_one_person_joins_once(row: SingleSignOn) -> None:
    start = Barrier(3)

    def sign_in() -> int:
        start.wait(120)
        try:
            return admit_person(row, SAM).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        members = {done.result() for done in [pool.submit(sign_in) for _ in range(3)]}
    assert len(members) == 1
    assert User.objects.filter(email=SAM.address).count() == 1
    assert AuditEvent.objects.filter(action="single_sign_on.join").count() == 1


def test_a_sign_in_that_ended_between_two_queries_of_another_one_is_no_refusal(
    row: SingleSignOn,
) -> None:
    """The other one has read that the account at the provider is not linked yet."""
    started: list[str] = []

    def sign_in_meanwhile(execute: Any, sql: str, *arguments: Any) -> Any:
        found = execute(sql, *arguments)
        if not started and 'FROM "dashboard_singlesignonlink"' in sql:
            started.append(sql)
            admit_person(row, SAM)
        return found

    with connection.execute_wrapper(sign_in_meanwhile):
        member = admit_person(row, SAM)
    assert started
    assert Membership.objects.get(user__email=SAM.address) == member
