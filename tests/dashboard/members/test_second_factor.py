"""The two-factor column of the members, and its reset for somebody who lost their device."""

from __future__ import annotations

from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.hashers import make_password
from django.core.management import CommandError, call_command
from django.urls import reverse

from dashboard.models import AuditEvent, Role
from dashboard.shared.second_factor import has_second_factor
from tests.dashboard.account.conftest import PASSWORD, pop_queued_tasks
from tests.factories import MembershipFactory, TeamFactory
from tests.passkeys import store_second_factors

pytestmark = pytest.mark.postgresql


@pytest.fixture
def lost_priya(priya):
    """Priya, who has a second factor and lost it."""
    store_second_factors(priya.user)
    return priya


def reset(browser, member, **form):
    return browser.post(reverse("member-second-factor-resets", args=[member.pk]), form)


@pytest.fixture
def browser(jonas, confirmed_client_of):
    """Jonas's, an admin, who has just signed in."""
    return confirmed_client_of(jonas)


def test_an_owner_and_an_admin_see_who_has_a_second_factor(
    lost_priya, mira, jonas, luca, client_of
) -> None:
    for manager in (mira, jonas):
        page = client_of(manager).get(reverse("members")).content.decode()
        assert "Two-factor" in page
        assert ">Passkey<" in page
        assert 'data-state="late"' in page, "those who have none are amber"
    assert "Two-factor" not in client_of(luca).get(reverse("members")).content.decode()


def test_the_reset_is_offered_only_where_there_is_something_to_reset(
    lost_priya, luca, browser
) -> None:
    page = browser.get(reverse("members")).content.decode()
    assert reverse("member-second-factor-resets", args=[lost_priya.pk]) in page
    assert reverse("member-second-factor-resets", args=[luca.pk]) not in page
    refused = reset(browser, luca)
    assert (refused.status_code, b"has no two-factor sign-in" in refused.content) == (422, True)


def test_a_reset_removes_all_factors_signs_out_mails_and_is_audited(
    lost_priya, jonas, browser, client_of, django_capture_on_commit_callbacks
) -> None:
    hers = client_of(lost_priya)
    with django_capture_on_commit_callbacks(execute=True):
        assert reset(browser, lost_priya)["Location"] == reverse("members")
    assert not has_second_factor(lost_priya.user)
    assert not Authenticator.objects.exists()
    assert hers.get(reverse("overview")).status_code == 302
    event = AuditEvent.objects.get(action="second_factor.reset")
    assert (event.actor_id, event.target) == (str(jonas.user_id), str(lost_priya.user_id))
    assert event.details["sessions"] == 1
    ((task, arguments),) = pop_queued_tasks()
    assert task == "dashboard.tasks.send_account_change"
    assert arguments[:3] == [lost_priya.user_id, "second_factor_reset", "Jonas Weber"]


def test_a_reset_needs_the_password(lost_priya, mira, client_of) -> None:
    mira.user.password = make_password(PASSWORD)
    mira.user.save()
    browser = client_of(mira)  # signed in without it
    page = browser.get(reverse("member-second-factor-resets", args=[lost_priya.pk]))
    assert "Make sure it is Priya who asks." in page.content.decode()
    assert reset(browser, lost_priya).status_code == 422
    assert reset(browser, lost_priya, password="wrong").status_code == 422
    assert has_second_factor(lost_priya.user)
    assert reset(browser, lost_priya, password=PASSWORD).status_code == 302
    assert not has_second_factor(lost_priya.user)


def test_an_admin_does_not_reset_an_owner(mira, browser) -> None:
    store_second_factors(mira.user)
    assert reset(browser, mira).status_code == 403
    assert has_second_factor(mira.user)


def test_nobody_else_resets_and_not_even_oneself(lost_priya, luca, client_of) -> None:
    for member in (luca, lost_priya):
        assert reset(client_of(member), lost_priya).status_code == 403
    assert has_second_factor(lost_priya.user)


def test_one_team_does_not_weaken_a_member_of_another_one(lost_priya, browser) -> None:
    MembershipFactory(team=TeamFactory(name="Otherwhere"), user=lost_priya.user, role=Role.OWNER)
    refused = reset(browser, lost_priya)
    assert (refused.status_code, b"is also in another team" in refused.content) == (422, True)
    assert has_second_factor(lost_priya.user)


def test_the_operator_resets_it_by_command_and_each_team_reads_it(lost_priya) -> None:
    team = TeamFactory(name="Otherwhere")
    MembershipFactory(team=team, user=lost_priya.user, role=Role.OWNER)
    out = StringIO()
    call_command("reset_second_factor", lost_priya.user.email.upper(), stdout=out)
    assert "signs in with the password alone now" in out.getvalue()
    assert not has_second_factor(lost_priya.user)
    events = AuditEvent.objects.filter(action="second_factor.reset", source="command")
    assert {event.team_id for event in events} == {lost_priya.team_id, team.pk}
    for address in (lost_priya.user.email, "nobody@northlight.example"):
        with pytest.raises(CommandError):
            call_command("reset_second_factor", address)
