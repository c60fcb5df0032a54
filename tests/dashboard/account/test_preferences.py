"""A user's own choices: theme and current team."""

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


@pytest.fixture
def second_team_member(vera: Membership) -> Membership:
    """Vera in a second team, whose name and credits are its own."""
    return MembershipFactory.create(
        user=vera.user, team=TeamFactory.create(name="Southbank"), role="owner"
    )


def test_a_page_of_another_team_is_asked_to_reload_and_gets_nothing_of_this_one(
    vera: Membership, second_team_member: Membership, client_of: ClientOf
) -> None:
    """The other team was chosen in another tab."""
    browser = client_of(vera)
    page = browser.get("/members/").content.decode()
    assert f'"X-Team": "{vera.team_id}"' in page
    browser.post(reverse("team"), {"team": str(second_team_member.team_id)})
    for drawn_for, is_ours in ((vera, False), (second_team_member, True)):
        headers = {"HX-Request": "true", "X-Team": str(drawn_for.team_id)}
        part = browser.get("/members/", headers=headers)
        assert (part.headers.get("HX-Refresh") is None) is is_ours
        assert bool(part.content) is is_ours


def test_a_form_of_another_team_is_not_sent_to_this_one(
    vera: Membership, second_team_member: Membership
) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(vera.user)

    def form() -> dict[str, str]:
        browser.get("/members/")
        return {"csrfmiddlewaretoken": browser.cookies["csrftoken"].value}

    first, zone = form(), {"time_zone": "Asia/Tokyo"}
    chosen = browser.post(reverse("team"), {"team": str(second_team_member.team_id), **first})
    assert chosen.status_code == 302
    assert browser.post("/members/time-zone/", {**zone, **first}).status_code == 403
    assert browser.post("/members/time-zone/", {**zone, **form()}).status_code == 302


def test_another_csrf_token_is_for_a_page_of_the_same_person_in_the_same_team(
    vera: Membership, second_team_member: Membership, client_of: ClientOf
) -> None:
    browser, address = client_of(vera), reverse("session")

    def token(user: int | str, member: Membership) -> str:
        headers = {"HX-Request": "true", "X-Team": str(member.team_id)}
        return str(browser.get(address, {"user": user}, headers=headers).content.decode())

    assert len(token(vera.user_id, vera)) == 64
    assert token(vera.user_id, second_team_member) == ""
    assert token(vera.user_id + 1, vera) == ""
    assert token("", vera) == ""
    answer = Client(enforce_csrf_checks=True).post(reverse("account_login"))
    assert answer.headers["X-CSRF-Failed"] == "1"
