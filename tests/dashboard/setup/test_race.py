"""Two strangers with the same code at the same moment: one becomes the owner."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from dashboard.models import Membership, User
from dashboard.setup.actions import ALREADY_SET_UP, FirstOwner, create_first_owner
from proxyapi.refusals import StaleData

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_second_of_two_strangers_is_refused(code):
    start = Barrier(2)

    def become_owner(name):
        start.wait(120)
        try:
            entered = FirstOwner(code, f"Team of {name}", "UTC", name, f"{name}@race.example")
            create_first_owner(entered, "four words in a row")
        except StaleData as refusal:
            return refusal.sentence
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(2) as pool:
        sentences = sorted(pool.map(become_owner, ("ada", "bob")))
    assert sentences == ["", ALREADY_SET_UP]
    assert User.objects.count() == Membership.objects.count() == 1
