"""Two first sign-ins of one person at the same moment make one account and one member."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

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
