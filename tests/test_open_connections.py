"""A connection that a thread leaves open is named, and closed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from dashboard.models import Team
from tests.open_connections import close_connections_of_threads


@pytest.mark.django_db(transaction=True)
def test_a_thread_that_leaves_its_connection_open_is_named() -> None:
    with ThreadPoolExecutor(1, "forgetful") as pool:
        pool.submit(Team.objects.count).result()
        assert close_connections_of_threads() == ["forgetful_0"]
    assert close_connections_of_threads() == []
