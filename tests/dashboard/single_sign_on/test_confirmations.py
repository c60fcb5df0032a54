"""A member without a password confirms a dangerous action by a new sign-in at the provider."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import AuditEvent, Membership, Role, SingleSignOn
from tests.dashboard.single_sign_on.conftest import come_back, provider_url
from tests.openid_provider import OpenIDProvider

HTMX = {"HX-Request": "true"}
NIA = "nia.berg@northlight.example"
CONFIRMED = "You confirmed with 127.0.0.1 that it is you."
AGAIN = "Nothing was changed yet; now do it again."


@pytest.fixture
def nia(sign_in_at_provider: Any, client: Client, northlight: Any) -> Membership:
    """An admin who joined by single sign-on in `client`; the provider had asked her an hour
    before."""
    said = {"groups": ["video-admins"], "name": "Nia Berg", "auth_time": int(time.time()) - 3600}
    sign_in_at_provider(client, NIA, **said)
    return Membership.objects.get(team=northlight, user__email=NIA)


def confirm(
    client: Client, provider: OpenIDProvider, page: Any, subject: str = NIA, **claims: Any
) -> Any:
    """Sign in at the provider, which the answer `page` leads to, and come back."""
    said = {"email": subject, "email_verified": True, "auth_time": int(time.time()), **claims}
    provider.add_person(subject, **said)
    return come_back(client, provider.approve(provider_url(page), subject))


def ask(client: Client, member: Membership, name: str = "member-deactivations", **form: str) -> Any:
    """Press “Confirm with …” in a dialog about this member."""
    url = reverse(name, args=[member.pk])
    return client.post(url, {"credential": "", "confirm_at_provider": "1", **form})


def is_deactivated(member: Membership) -> bool:
    return not Membership.objects.filter(pk=member.pk).exists()


def reasons() -> list[str]:
    rows = AuditEvent.objects.filter(action="confirmation.refuse")
    return [row.details["reason"] for row in rows]


def test_a_member_without_a_password_confirms_and_then_presses_again(
    nia, client, provider, priya
) -> None:
    url = reverse("member-deactivations", args=[priya.pk])
    assert "Confirm with 127.0.0.1" in client.get(url, headers=HTMX).content.decode()
    refused = client.post(url, {"credential": ""})
    assert "Confirm with 127.0.0.1." in refused.content.decode()
    back = confirm(client, provider, ask(client, priya))
    assert (back.status_code, back.url) == (302, url)
    assert not is_deactivated(priya)
    page = client.get(url).content.decode()
    assert CONFIRMED in page
    assert AGAIN in page
    assert client.post(url).status_code == 302
    assert is_deactivated(priya)
    assert reasons() == []


def test_the_provider_is_told_to_ask(nia, client, priya) -> None:
    query = parse_qs(urlsplit(provider_url(ask(client, priya))).query)
    assert (query["prompt"], query["max_age"]) == (["login"], ["0"])


@pytest.mark.parametrize("asked", [None, -120, "now", True])
def test_a_provider_that_did_not_ask_again_confirms_nothing(
    nia, client, provider, priya, asked
) -> None:
    said = int(time.time()) + asked if asked.__class__ is int else asked
    back = confirm(client, provider, ask(client, priya), auth_time=said)
    page = client.get(back.url).content.decode()
    assert "does not say that it asked you to sign in just now" in page
    assert client.post(back.url).status_code == 422
    assert reasons() == ["not confirmed by the provider"]


def test_half_a_minute_between_the_clocks_does_not_matter(nia, client, provider, priya) -> None:
    back = confirm(client, provider, ask(client, priya), auth_time=int(time.time()) - 30)
    assert CONFIRMED in client.get(back.url).content.decode()


def test_somebody_else_confirms_nothing(nia, client, provider, priya, mira) -> None:
    back = confirm(client, provider, ask(client, priya), mira.user.email)
    page = client.get(back.url).content.decode()
    assert "as mira@northlight.example, which is not you here." in page
    assert client.post(back.url).status_code == 422
    assert client.session["_auth_user_id"] == str(nia.user_id)
    assert reasons() == ["not confirmed by the provider"]


def test_who_cancels_at_the_provider_finds_the_dialog_again(nia, client, provider, priya) -> None:
    url = provider_url(ask(client, priya))
    state = parse_qs(urlsplit(url).query)["state"][0]
    back = come_back(client, f"{provider.deny(url)}&state={state}")
    page = client.get(back.url).content.decode()
    assert "“access_denied”." in page
    assert "Deactivate <bdi>Priya Raman</bdi>?" in page


def test_a_confirmation_counts_for_ten_minutes(nia, client, provider, priya) -> None:
    back = confirm(client, provider, ask(client, priya))
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        assert client.post(back.url, {"credential": ""}).status_code == 422
    assert not is_deactivated(priya)


def test_the_confirm_button_alone_never_acts(nia, client, provider, priya) -> None:
    """It is pressed in an old dialog, after a confirmation in another tab."""
    confirm(client, provider, ask(client, priya))
    page = ask(client, priya)
    assert "You have confirmed already that it is you." in page.content.decode()
    assert not is_deactivated(priya)


def test_an_answer_without_the_session_that_asked_signs_nobody_in(
    nia, client, provider, priya, northlight
) -> None:
    page = ask(client, priya)
    client.post(reverse("account_logout"))
    answer = confirm(client, provider, page)
    assert answer.status_code == 422
    assert "_auth_user_id" not in client.session


def test_what_was_entered_is_there_again_but_no_secret(
    nia, client, provider, single_sign_on
) -> None:
    Membership.objects.filter(pk=nia.pk).update(role=Role.OWNER)
    form = {"client_secret": "hush", "credential": "", "confirm_at_provider": "1"}
    confirm(client, provider, client.post(reverse("sso-secrets"), form))
    assert "hush" not in str(dict(client.session))
    settings = {"issuer": single_sign_on.issuer, "client_id": "new-client", "group_0": "editors"}
    expire(client)
    form = {**settings, "groups_claim": "groups", "role_0": "viewer"}
    asked = client.post(reverse("sso-settings"), form)
    assert "Confirm with 127.0.0.1" in asked.content.decode()
    page = client.post(
        reverse("sso-settings"), {**form, "credential": "", "confirm_at_provider": "1"}
    )
    back = confirm(client, provider, page)
    assert back.url == reverse("security")
    page = client.get(back.url).content.decode()
    assert 'value="new-client"' in page
    assert 'value="editors"' in page
    assert 'value="new-client"' not in client.get(back.url).content.decode()
    assert SingleSignOn.objects.get().client_id == "reelroom"


def expire(client: Client) -> None:
    """As if what confirmed the person had happened long ago."""
    session = client.session
    for record in session["account_authentication_methods"]:
        record["at"] = 0
    session.save()


def test_the_way_to_a_page_leads_there(nia, client, provider) -> None:
    form = {"next": reverse("security"), "credential": "", "confirm_at_provider": "1"}
    back = confirm(client, provider, client.post(reverse("confirmations"), form))
    assert back.url == reverse("security")
    page = client.get(back.url).content.decode()
    assert AGAIN not in page


@pytest.mark.parametrize("next_page", ["https://elsewhere.example/", "//elsewhere.example"])
def test_it_comes_back_to_no_other_site(nia, client, provider, next_page) -> None:
    form = {"next": next_page, "credential": "", "confirm_at_provider": "1"}
    back = confirm(client, provider, client.post(reverse("confirmations"), form))
    assert back.url.startswith("/")
    assert "//" not in back.url


def test_after_five_attempts_without_success_the_next_waits(nia, client, priya) -> None:
    for _ in range(5):
        assert ask(client, priya).status_code == 200
    page = ask(client, priya)
    assert "Too many attempts failed." in page.content.decode()


def test_a_provider_that_is_away_is_said_in_the_dialog(nia, client, priya, single_sign_on) -> None:
    SingleSignOn.objects.update(issuer="http://127.0.0.1:9")
    page = ask(client, priya)
    assert page.status_code == 422
    assert "The provider did not answer." in page.content.decode()


def test_a_sign_in_for_which_the_provider_asked_just_now_is_recent(
    sign_in_at_provider, client, priya
) -> None:
    now = int(time.time())
    sign_in_at_provider(client, NIA, groups=["video-admins"], auth_time=now)
    assert client.post(reverse("member-deactivations", args=[priya.pk])).status_code == 302
    other = Client()
    sign_in_at_provider(other, NIA, groups=["video-admins"], auth_time=now - 3600)
    assert other.get(reverse("account-app")).content.decode().count("qr__ink") == 0
