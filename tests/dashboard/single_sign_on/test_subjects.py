"""A person is known by the provider's name for their account (`sub`), not by their address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from dashboard.members.actions.provider_link import remove_provider_link
from dashboard.models import AuditEvent, Membership, SingleSignOn, SingleSignOnLink, User
from dashboard.security.actions.single_sign_on import (
    current_settings,
    remove_single_sign_on,
    save_single_sign_on,
)
from dashboard.shared.openid.code_exchange import ProviderIdentity
from dashboard.shared.openid.errors import SignInRefused
from dashboard.single_sign_on.actions import admit_person, link_person
from proxyapi.refusals import StaleData
from tests.dashboard.members.conftest import record_proof
from tests.dashboard.single_sign_on.conftest import come_back, create_single_sign_on, start

pytestmark = pytest.mark.postgresql

SAM, NEW = "sam.okafor@northlight.example", "sam.berg@northlight.example"


@pytest.fixture
def enter(provider: Any, single_sign_on: SingleSignOn) -> Callable[..., Any]:
    """Sign in as the account `subject`, whose address the provider gives as this one; the page."""

    def sign_in(subject: str, address: str, browser: Client | None = None, **claims: Any) -> Any:
        said = {"email": address, "email_verified": True, "groups": ["studio"], "name": "Sam"}
        provider.add_person(subject, **{**said, **claims})
        client = browser or Client()
        location = provider.approve(start(client, single_sign_on), subject)
        return come_back(client, location, follow=True)

    return sign_in


def links() -> list[tuple[str, str]]:
    rows = SingleSignOnLink.objects.order_by("subject", "pk")
    return [(row.subject, row.user.email) for row in rows.select_related("user")]


def test_the_first_sign_in_keeps_the_subject_and_later_ones_find_the_person(enter) -> None:
    enter("sam-1", SAM)
    assert links() == [("sam-1", SAM)]
    enter("sam-1", SAM)
    assert links() == [("sam-1", SAM)]
    assert User.objects.filter(name="Sam").count() == 1


def test_a_member_of_before_is_linked_by_the_verified_address(enter, priya, mira) -> None:
    enter("priya-1", priya.user.email)
    enter("mira-1", mira.user.email)
    assert links() == [("mira-1", mira.user.email), ("priya-1", priya.user.email)]


def test_a_changed_address_at_the_provider_still_finds_the_person(enter, northlight) -> None:
    enter("sam-1", SAM)
    browser = Client()
    enter("sam-1", NEW, browser)
    member = northlight.memberships.get(user__name="Sam")
    assert member.user.email == SAM, "the address here stays as it is"
    assert browser.session["_auth_user_id"] == str(member.user_id)
    assert not User.objects.filter(email=NEW).exists()


def test_a_mailbox_that_was_given_to_somebody_else_opens_no_account(enter) -> None:
    enter("sam-1", SAM)
    browser = Client()
    page = enter("sam-2", SAM, browser)
    html = page.content.decode()
    assert (page.status_code, "_auth_user_id" in browser.session) == (422, False)
    assert "who signs in with another account at the provider" in html
    assert links() == [("sam-1", SAM)]
    entry = AuditEvent.objects.get(action="sign_in.refuse")
    assert entry.actor_name == SAM
    assert entry.details["reason"] == "another account at the provider"


def test_an_address_of_another_member_does_not_change_who_it_is(enter, priya) -> None:
    enter("sam-1", SAM)
    browser = Client()
    enter("sam-1", priya.user.email, browser)
    assert browser.session["_auth_user_id"] == str(User.objects.get(email=SAM).pk)


def test_who_is_refused_is_not_linked(enter, priya, otto) -> None:
    enter("priya-1", priya.user.email, groups=["nothing"])
    enter("otto-1", otto.user.email)
    assert links() == []


def test_a_subject_that_cannot_be_kept_is_refused(enter) -> None:
    page = enter("s" * 256, SAM)
    assert "“sub”) cannot be read" in page.content.decode()
    assert links() == []


def test_two_accounts_at_once_do_not_both_get_the_person(single_sign_on, priya) -> None:
    """The other one was linked after this one looked."""
    late = ProviderIdentity("priya-2", priya.user.email, "Priya", ("studio",))
    admit_person(single_sign_on, ProviderIdentity("priya-1", priya.user.email, "", ("studio",)))
    with pytest.raises(SignInRefused):
        link_person(single_sign_on, late, priya.user)
    assert links() == [("priya-1", priya.user.email)]


def test_another_issuer_forgets_the_links_and_other_settings_do_not(
    enter, single_sign_on, mira
) -> None:
    enter("sam-1", SAM)
    settings = current_settings(single_sign_on)
    save_single_sign_on(by=mira, new=replace(settings, client_id="other"))
    assert links() == [("sam-1", SAM)]
    save_single_sign_on(by=mira, new=replace(settings, issuer="https://other.example"))
    assert links() == []


def test_the_links_go_with_the_single_sign_on_and_with_the_person(enter, mira) -> None:
    enter("sam-1", SAM)
    User.objects.get(email=SAM).delete()
    assert links() == []
    enter("sam-1", SAM)
    remove_single_sign_on(by=mira)
    assert links() == []


def test_the_same_subject_at_another_team_is_somebody_else(single_sign_on, otto, priya) -> None:
    other = create_single_sign_on(otto.team, single_sign_on.issuer)
    same = ProviderIdentity("1", priya.user.email, "Priya", ("studio",))
    admit_person(single_sign_on, same)
    admit_person(other, ProviderIdentity("1", otto.user.email, "Otto", ()))
    assert links() == [("1", priya.user.email), ("1", otto.user.email)]


@pytest.mark.parametrize("field", ["subject", "user", "empty"])
def test_the_database_keeps_a_subject_and_a_person_once(field, single_sign_on, priya, luca) -> None:
    issuer = single_sign_on.issuer
    single_sign_on.links.create(issuer=issuer, subject="1", user=priya.user)
    second = {
        "subject": {"subject": "1", "user": luca.user},
        "user": {"subject": "2", "user": priya.user},
        "empty": {"subject": "", "user": luca.user},
    }
    with pytest.raises(IntegrityError), transaction.atomic():
        single_sign_on.links.create(issuer=issuer, **second[field])


def unlink_url(member: Membership) -> str:
    return reverse("member-provider-link-removals", args=[member.pk])


def test_an_owner_removes_the_link_and_the_new_account_signs_in(
    enter, mira, client_of, northlight
) -> None:
    enter("sam-1", SAM)
    sam = northlight.memberships.get(user__email=SAM)
    browser = client_of(mira)
    assert unlink_url(sam) in browser.get(reverse("members")).content.decode()
    assert browser.post(unlink_url(sam)).status_code == 422
    record_proof(browser, mira)
    dialog = browser.get(unlink_url(sam)).content.decode()
    assert f"signs in next at the provider as {SAM} gets this" in " ".join(dialog.split())
    assert browser.post(unlink_url(sam)).status_code == 302
    entry = AuditEvent.objects.get(action="single_sign_on.unlink")
    assert (entry.actor_name, entry.target) == ("Mira Sandvik", str(sam.user_id))
    assert entry.before == {"sub": "sam-1"}
    enter("sam-2", SAM)
    assert links() == [("sam-2", SAM)]


def test_an_admin_and_who_has_no_link_find_no_such_button(enter, mira, jonas, client_of) -> None:
    enter("jonas-1", jonas.user.email, groups=["video-admins"])
    page = client_of(mira).get(reverse("members")).content.decode()
    assert (unlink_url(jonas) in page, unlink_url(mira) in page) == (True, False)
    assert unlink_url(jonas) not in client_of(jonas).get(reverse("members")).content.decode()
    with pytest.raises(PermissionDenied):
        remove_provider_link(by=jonas, member=jonas)
    with pytest.raises(StaleData):
        remove_provider_link(by=mira, member=mira)
