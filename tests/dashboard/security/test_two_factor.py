"""A team requires two-factor: what the switch does to whom, and who may press it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import AlertEvent, AuditEvent, Membership, TeamSecurity
from dashboard.security.actions.two_factor import OWN_FACTOR_FIRST
from dashboard.shared.live.stream_sessions import StreamSession, expired_sessions
from tests.dashboard.members.conftest import PASSWORD
from tests.dashboard.security.people import give_second_factor, require_two_factor
from tests.factories import MembershipFactory, TeamFactory

ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}
URL = "/security/two-factor/"


def switch(browser: Client, *, on: bool, **more: Any) -> Any:
    return browser.post(URL, {**({"is_required": "on"} if on else {}), **more}, follow=True)


def is_required(member: Membership) -> bool:
    return TeamSecurity.objects.filter(team=member.team, require_two_factor=True).exists()


def test_the_switch_names_who_lacks_it_and_acts_at_once(
    mira: Membership,
    jonas: Membership,
    priya: Membership,
    vera: Membership,
    confirmed_client_of: ClientOf,
) -> None:
    give_second_factor(mira, jonas)
    browser = confirmed_client_of(mira)
    page = browser.get("/security/").content.decode()
    assert "2 of 4 members have it on" in page
    assert "Priya and Vera get an e-mail, and from the next click on" in page
    page = switch(browser, on=True).content.decode()
    assert "Two-factor is required of every member now." in page
    assert "Priya and Vera lack it, and see nothing of the team" in page
    assert is_required(mira)
    noticed = AlertEvent.objects.filter(title="Set up two-factor").values_list("member", flat=True)
    assert set(noticed) == {priya.user_id, vera.user_id}
    (entry,) = AuditEvent.objects.filter(action="team.two_factor")
    assert (entry.before, entry.after) == (
        {"require_two_factor": False},
        {"require_two_factor": True},
    )
    switch(browser, on=False)
    assert not is_required(mira)


def test_who_lacks_it_cannot_require_it_and_is_led_to_set_it_up(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    browser = confirmed_client_of(mira)
    page = browser.get("/security/").content.decode()
    assert "You have not set it up yourself" in page
    assert "/account/#two-factor" in page
    assert OWN_FACTOR_FIRST in switch(browser, on=True).content.decode()
    assert not is_required(mira)
    assert not AuditEvent.objects.filter(action="team.two_factor").exists()


def test_pressing_twice_changes_it_once(mira: Membership, confirmed_client_of: ClientOf) -> None:
    give_second_factor(mira)
    for _ in range(2):
        switch(confirmed_client_of(mira), on=True)
    assert AuditEvent.objects.filter(action="team.two_factor").count() == 1


@pytest.mark.parametrize("on", [True, False])
def test_both_ways_ask_for_a_password_that_was_not_given_recently(
    on: bool, mira_has_password: Membership, client_of: ClientOf
) -> None:
    mira = mira_has_password
    give_second_factor(mira)
    if not on:
        require_two_factor(mira.team)
    browser = client_of(mira)
    page = switch(browser, on=on)
    assert "Confirm that it is you." in page.content.decode()
    assert is_required(mira) is not on
    wrong = switch(browser, on=on, password="not the lantern")
    assert wrong.status_code == 422
    assert is_required(mira) is not on
    switch(browser, on=on, password=PASSWORD)
    assert is_required(mira) is on


def test_a_member_is_reminded_by_a_notice_and_twice_an_hour_at_most(
    mira: Membership, priya: Membership, confirmed_client_of: ClientOf
) -> None:
    browser, url = confirmed_client_of(mira), reverse("two-factor-reminders", args=[priya.pk])
    assert "Priya Raman gets a notice" in browser.post(url, follow=True).content.decode()
    assert "Reminded" in browser.get("/security/").content.decode()
    browser.post(url)
    assert "was reminded a moment ago" in browser.post(url, follow=True).content.decode()
    assert AlertEvent.objects.filter(member=priya.user, title="Set up two-factor").count() == 2


def test_who_has_it_is_not_reminded(
    mira: Membership, priya: Membership, confirmed_client_of: ClientOf
) -> None:
    give_second_factor(priya)
    url = reverse("two-factor-reminders", args=[priya.pk])
    page = confirmed_client_of(mira).post(url, follow=True).content.decode()
    assert "Priya Raman has set up two-factor already." in page
    assert not AlertEvent.objects.exists()


def test_who_lacks_it_sees_why_and_nothing_of_the_team(
    priya: Membership, client_of: ClientOf
) -> None:
    require_two_factor(priya.team)
    browser = client_of(priya)
    response = browser.get("/library/?q=whales")
    assert (response.status_code, response["Location"]) == (302, "/two-factor-required/")
    page = browser.get("/two-factor-required/").content.decode()
    assert "requires it of every member" in page
    assert 'href="/account/#two-factor"' in page
    assert reverse("account_logout") in page
    unknown = browser.get("/nowhere/").content.decode()
    assert "Free to spend" not in unknown
    assert "Northlight" not in unknown


def test_a_part_of_an_open_page_takes_the_whole_window_there(
    priya: Membership, client_of: ClientOf
) -> None:
    browser = client_of(priya)
    require_two_factor(priya.team)
    response = browser.get("/members/", headers=HTMX)
    assert (response.status_code, response["HX-Redirect"]) == (200, "/two-factor-required/")
    assert not response.content


def test_with_a_second_factor_everything_opens_again(
    priya: Membership, client_of: ClientOf
) -> None:
    require_two_factor(priya.team)
    browser = client_of(priya)
    give_second_factor(priya)
    assert browser.get("/library/").status_code == 200
    assert browser.get("/two-factor-required/")["Location"] == "/"


def test_another_team_that_does_not_require_it_opens(
    priya: Membership, confirmed_client_of: ClientOf
) -> None:
    other = MembershipFactory(team=TeamFactory(name="Brightcut"), user=priya.user)
    require_two_factor(priya.team)
    browser = confirmed_client_of(priya)
    page = browser.get("/two-factor-required/").content.decode()
    assert "Brightcut" in page
    browser.post("/preferences/team/", {"team": str(other.team_id)})
    assert browser.get("/library/").status_code == 200


def test_open_streams_of_who_lacks_it_end(
    mira: Membership, priya: Membership, client_of: ClientOf
) -> None:
    give_second_factor(mira)
    tickets = [
        StreamSession(
            row.team.tenant_id, row.team_id, row.user_id, client_of(row).session.session_key or ""
        )
        for row in (mira, priya)
    ]
    assert not expired_sessions(tickets)
    require_two_factor(mira.team)
    assert expired_sessions(tickets) == {tickets[1]}


def test_a_stream_does_not_open_without_it(priya: Membership, client_of: ClientOf) -> None:
    require_two_factor(priya.team)
    assert client_of(priya).get("/live/").status_code == 204
