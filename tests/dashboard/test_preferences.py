"""A person's own choices: light or dark, and which team they look at."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import Membership
from tests.factories import MembershipFactory, TeamFactory

ClientOf = Callable[[Membership], Client]


def test_the_theme_is_kept_and_the_page_comes_back(vera: Membership, client_of: ClientOf) -> None:
    browser = client_of(vera)
    response = browser.post(reverse("theme"), {"theme": "dark", "next": "/members/"})
    assert response["Location"] == "/members/"
    assert '<html lang="en" data-theme="dark">' in browser.get("/members/").content.decode()


@pytest.mark.parametrize("wanted", ["", "sepia", '"><script>'])
def test_any_other_theme_is_the_one_of_the_system(
    wanted: str, vera: Membership, client_of: ClientOf
) -> None:
    browser = client_of(vera)
    browser.post(reverse("theme"), {"theme": wanted})
    assert '<html lang="en">' in browser.get("/members/").content.decode()


@pytest.mark.parametrize("next_", ["https://elsewhere.example/", "//elsewhere.example", ""])
def test_choosing_a_theme_leads_nowhere_else(
    next_: str, vera: Membership, client_of: ClientOf
) -> None:
    response = client_of(vera).post(reverse("theme"), {"theme": "dark", "next": next_})
    assert response["Location"] == "/"


def test_with_one_team_there_is_nothing_to_choose(vera: Membership, client_of: ClientOf) -> None:
    assert "team-menu" not in client_of(vera).get("/members/").content.decode()


def test_with_two_teams_the_chosen_one_is_shown(vera: Membership, client_of: ClientOf) -> None:
    other = MembershipFactory.create(
        user=vera.user, team=TeamFactory.create(name="Southbank"), role="owner"
    )
    browser = client_of(vera)
    assert "team-menu" in browser.get("/members/").content.decode()
    assert browser.post(reverse("team"), {"team": str(other.team_id)}).status_code == 302
    assert "Members of Southbank" in browser.get("/members/").content.decode()


@pytest.mark.parametrize("wanted", ["", "nonsense", "otto's"])
def test_another_persons_team_does_not_exist(
    wanted: str, vera: Membership, otto: Membership, client_of: ClientOf
) -> None:
    team = str(otto.team_id) if wanted == "otto's" else wanted
    assert client_of(vera).post(reverse("team"), {"team": team}).status_code == 404


def test_choices_are_made_by_a_press(vera: Membership, client_of: ClientOf) -> None:
    assert client_of(vera).get(reverse("theme")).status_code == 405
    assert client_of(vera).get(reverse("team")).status_code == 405
