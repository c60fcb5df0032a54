"""The overview: what the team has, what it spent, what runs, and that it is honest when empty."""

from __future__ import annotations

import pytest

from tests.dashboard.overview.conftest import ago, video


def page(client_of, reader, query=""):
    answer = client_of(reader).get(f"/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("role", ["mira", "jonas", "thea", "priya", "vera"])
def test_everybody_of_the_team_sees_it(role, request, client_of, account, token, book):
    book(-96)
    assert "4,318" in page(client_of, request.getfixturevalue(role))


def test_the_whole_page_takes_twelve_queries(
    client_of, vera, token, ledger, book, charged, django_assert_max_num_queries
):
    for _ in range(5):
        book(-96, charge=charged(96))
        video(
            token, state="running", raw_status="rendering", started_at=ago(minutes=2),
            looked_at=ago(seconds=3), next_look_at=ago(seconds=-5),
        )
        charged(42, state="unknown")
    browser = client_of(vera)
    browser.get("/")
    with django_assert_max_num_queries(12):
        browser.get("/")
